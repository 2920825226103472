"""Solves in step, with engines that only count: each must end as it does alone."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from regretless.engines.contract import Evaluation
from regretless.errors import DeviceFailed, RegretlessError
from regretless.solving import loop, together
from regretless.solving.loop import Outcome, Stop, drive, steps
from regretless.solving.solve import Started
from regretless.solving.together import SharedSchedules, drive_together
from regretless.variants import PRESETS, Plus, PredictivePlus
from regretless.variants.variant import Schedule, predicts


@dataclass
class Clock:
    now: float = 1000.0
    tick: float = 0.0  # seconds from one look at it to the next

    def perf_counter(self) -> float:
        self.now += self.tick
        return self.now


@dataclass
class Counter:
    """An engine whose exploitability after t iterations is `start` / t."""

    start: float
    iteration: int = 0
    predicts: bool = False
    rows: list[tuple[float, ...]] = field(default_factory=list)  # of all iterations
    parked: bool = False

    def get_ready(self, schedule: Schedule) -> None:
        self.predicts = self.predicts or predicts(schedule)

    def advance(self, schedule: Schedule) -> None:
        self.get_ready(schedule)
        self.rows += schedule.tolist()
        self.iteration += len(schedule)

    def evaluate(self) -> Evaluation:
        gain = self.start / self.iteration
        return Evaluation((0.0, 0.0), (gain, gain))

    def park(self) -> None:
        self.parked = True


@dataclass
class Device:
    """A device that keeps count of what is asked of it; an iteration of a batch takes `seconds`."""

    clock: Clock
    seconds: float = 0.001
    fails_at: int = -1  # the number of the advance at which it fails
    engine: str = "counter"
    batches: list[Numbered] = field(default_factory=list)
    advances: list[set[int]] = field(default_factory=list)  # identities of the schedules of each

    def free_bytes(self) -> int:
        return 1

    @contextmanager
    def creating(self) -> Iterator[None]:
        yield

    def create(self, form: Any, *, storage: int) -> Counter:
        raise NotImplementedError

    def kind_of(self, engine: Counter) -> Hashable:
        return engine.predicts

    def batch(self, engines: Sequence[Counter]) -> Numbered:
        assert len({engine.predicts for engine in engines}) == 1
        self.batches.append(Numbered(self, tuple(engines)))
        return self.batches[-1]


@dataclass
class Numbered:
    """A batch of counters."""

    device: Device
    engines: tuple[Counter, ...]
    retired: set[int] = field(default_factory=set)

    def retire(self, numbers: Any) -> None:
        new = set(numbers)
        assert not new & self.retired
        self.retired |= new

    def advance(self, schedules: Sequence[Schedule | None]) -> None:
        if len(self.device.advances) == self.device.fails_at:
            raise DeviceFailed("the device failed")
        given = [rows for rows in schedules if rows is not None]
        assert {number for number, rows in enumerate(schedules) if rows is None} == self.retired
        assert len({len(rows) for rows in given}) == 1
        for engine, rows in zip(self.engines, schedules, strict=True):
            if rows is not None:
                assert predicts(rows) <= engine.predicts
                engine.advance(rows)
        self.device.clock.now += self.device.seconds * len(given[0])
        self.device.advances.append({id(rows) for rows in given})

    def evaluate(self, numbers: Sequence[int]) -> list[Evaluation]:
        assert not self.retired & set(numbers)
        return [self.engines[number].evaluate() for number in numbers]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    fake = Clock()
    monkeypatch.setattr(loop, "time", fake)
    monkeypatch.setattr(together, "time", fake)
    return fake


def run_together(
    engines: Sequence[Counter], device: Device, asked: Sequence[dict[str, Any]]
) -> tuple[dict[int, Any], dict[int, RegretlessError]]:
    weigh = SharedSchedules()
    started = {
        place: Started(engine, None, steps(engine, weigh=weigh, **options))
        for place, (engine, options) in enumerate(zip(engines, asked, strict=True))
    }
    done: dict[int, Any] = {}
    failed: dict[int, RegretlessError] = {}
    drive_together(started, device, done=done.__setitem__, failed=failed.__setitem__)
    return done, failed


def learned(outcome: Outcome) -> tuple[Any, ...]:
    """What must not depend on the company."""
    points = [(point.iteration, point.exploitability) for point in outcome.history]
    return outcome.reason, outcome.iterations, outcome.evaluation, points


STARTS = [1.0, 7.0, 30.0, 30.0, 100.0, 500.0]


@pytest.mark.parametrize("seconds", [0.001, 0.05, 3.0])  # per iteration: long and short pieces
def test_each_solve_ends_as_it_does_alone(clock: Clock, seconds: float) -> None:
    asked = [
        {"variant": PRESETS["river"], "stop": Stop(iterations=400, target=0.5, measure_every=every)}
        for every in (None, None, 7, None, 10, None)
    ]
    engines, alone = [Counter(start) for start in STARTS], [Counter(start) for start in STARTS]
    done, failed = run_together(engines, Device(clock, seconds), asked)
    assert failed == {}
    for place, engine in enumerate(alone):
        assert learned(done[place]) == learned(drive(engine, steps(engine, **asked[place])))
        assert engines[place].rows == engine.rows
    assert {done[place].reason for place in done} == {"target", "iterations"}


def test_solves_that_take_the_same_steps_share_them_whatever_the_pieces(clock: Clock) -> None:
    clock.tick = 1e-3  # so that no two solves see the same time
    device = Device(clock, seconds=0.011)  # some pieces end between measurements
    engines = [Counter(start) for start in range(100, 150)]
    asked = [{"variant": PRESETS["turn"], "stop": Stop(iterations=500, measure_every=100)}] * len(engines)
    done, _ = run_together(engines, device, asked)
    assert all(len(schedules) == 1 for schedules in device.advances)
    assert len(device.advances) < 60
    assert len({outcome.seconds_per_iteration for outcome in done.values()}) == 1


def test_a_batch_goes_on_with_the_solves_that_are_left(clock: Clock) -> None:
    device = Device(clock)
    asked = [{"variant": Plus(), "stop": Stop(iterations=1000, target=0.5)}] * len(STARTS)
    run_together([Counter(start) for start in STARTS], device, asked)
    (batch,) = device.batches
    assert 0 < len(batch.retired) < len(batch.engines)


def test_solves_that_predict_get_a_batch_of_their_own(clock: Clock) -> None:
    variants = [Plus(), PredictivePlus(), Plus(), PredictivePlus()]
    asked = [{"variant": variant, "stop": Stop(iterations=50)} for variant in variants]
    engines, device = [Counter(1.0) for _ in variants], Device(clock)
    done, _ = run_together(engines, device, asked)
    assert sorted(done) == [0, 1, 2, 3]
    assert [engine.predicts for engine in engines] == [False, True, False, True]
    assert sorted(len(batch.engines) for batch in device.batches) == [2, 2]


def test_resumed_solves_keep_their_own_iteration(clock: Clock) -> None:
    engines, alone = ([Counter(50.0), Counter(50.0, iteration=33)] for _ in range(2))
    asked = [{"variant": PRESETS["river"], "stop": Stop(iterations=90)}] * 2
    done, _ = run_together(engines, Device(clock), asked)
    for place, engine in enumerate(alone):
        assert learned(done[place]) == learned(drive(engine, steps(engine, **asked[place])))
        assert engines[place].rows == engine.rows


def test_a_device_that_fails_keeps_the_solves_that_have_ended(clock: Clock) -> None:
    engines = [Counter(start) for start in STARTS]
    asked = [{"variant": Plus(), "stop": Stop(iterations=1000, target=0.5)}] * len(STARTS)
    done, failed = run_together(engines, Device(clock, fails_at=5), asked)
    assert sorted(done) == [0]
    assert sorted(failed) == [1, 2, 3, 4, 5]
    assert {str(error) for error in failed.values()} == {"the device failed"}


def test_only_solves_with_a_report_are_reported(clock: Clock) -> None:
    told: list[int] = []
    report = {"report": lambda progress: told.append(progress.iteration)}
    asked = [{"variant": Plus(), "stop": Stop(iterations=5)} | given for given in (report, {}, {"report": None})]
    done, _ = run_together([Counter(1.0) for _ in asked], Device(clock), asked)
    assert sorted(done) == [0, 1, 2]
    assert told == [1, 2, 3, 4, 5]
