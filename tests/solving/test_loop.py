"""The loop with an engine that only counts and a clock that advances only when work is done."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from regretless.engines.contract import Evaluation
from regretless.errors import InvalidOption, RegretlessError
from regretless.solving import loop
from regretless.solving.loop import MAX_PIECE, PIECE_SECONDS, Checkpoints, Outcome, Progress, Stop, run
from regretless.solving.record import Measurement
from regretless.variants import Plus, schedule


@dataclass
class Clock:
    now: float = 1000.0

    def perf_counter(self) -> float:
        return self.now


@dataclass
class Counter:
    """An engine whose exploitability after t iterations is `curve(t)`.

    `during` is called in the middle of each piece with the last iteration of the piece.
    """

    clock: Clock
    iteration_seconds: float = 1.0
    measuring_seconds: float = 0.0
    curve: Callable[[int], float] = lambda t: 1 / (t + 1)
    during: Callable[[int], None] = lambda t: None
    iteration: int = 0
    pieces: list[Any] = field(default_factory=list)
    measured: list[int] = field(default_factory=list)

    def advance(self, rows: Any) -> None:
        self.during(self.iteration + len(rows))
        self.pieces.append(rows)
        self.iteration += len(rows)
        self.clock.now += self.iteration_seconds * len(rows)

    def evaluate(self) -> Evaluation:
        self.measured.append(self.iteration)
        self.clock.now += self.measuring_seconds
        gain = self.curve(self.iteration)
        return Evaluation((0.0, 0.0), (gain, gain))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    fake = Clock()
    monkeypatch.setattr(loop, "time", fake)
    return fake


def iterations(history: Sequence[Measurement]) -> list[int]:
    return [point.iteration for point in history]


@dataclass
class Signal:
    """Ctrl-C in the middle of the piece that includes iteration `at`."""

    at: float
    raised: bool = False

    def hear(self, iteration: int) -> None:
        self.raised = self.raised or iteration >= self.at

    def __call__(self) -> bool:
        return self.raised


# --- iterations and measurements -------------------------------------------------------------------------------------


def test_each_iteration_is_made_once_with_its_own_weights(clock: Clock) -> None:
    engine = Counter(clock, iteration_seconds=0.003)
    outcome = run(engine, Plus(), Stop(iterations=2345))
    np.testing.assert_array_equal(np.concatenate(engine.pieces), schedule(Plus(), 1, 2345))
    assert (outcome.reason, outcome.iterations) == ("iterations", 2345)
    assert outcome.seconds_per_iteration == pytest.approx(0.003)


def test_it_measures_often_at_first_and_then_after_every_tenth(clock: Clock) -> None:
    engine = Counter(clock)
    outcome = run(engine, Plus(), Stop(iterations=61))
    assert iterations(outcome.history) == [*range(1, 21), *range(22, 51, 2), 55, 60, 61]
    assert engine.measured == iterations(outcome.history), "nothing is measured twice"
    assert [point.exploitability for point in outcome.history] == [1 / (t + 1) for t in engine.measured]
    assert outcome.evaluation.exploitability == 1 / 62


def first_at(curve: Callable[[int], float], target: float) -> int:
    return next(t for t in itertools.count(1) if curve(t) <= target)


@pytest.mark.parametrize("target", [1e-2, 3e-3])
@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize("exponent", [0.5, 1.0, 1.5, 2.0, 3.0])
def test_with_a_target_it_measures_seldom_and_stops_soon(
    clock: Clock, exponent: float, noise: float, target: float
) -> None:
    def curve(t: int) -> float:
        return t**-exponent * math.exp(noise * math.sin(2 * t))

    outcome = run(Counter(clock, 1e-6, curve=curve), Plus(), Stop(iterations=10**7, target=target))
    assert outcome.reason == "target"
    first = first_at(curve, target)
    last_above = max(t for t in range(first // 2, 2 * first + 2) if curve(t) > target)
    assert first <= outcome.iterations <= 1.1 * last_above + 2
    at = iterations(outcome.history)
    assert all(later <= 2.15 * earlier for earlier, later in itertools.pairwise(at))
    close = [t for t in at if curve(t) <= 8 * target]  # the others double
    assert len(at) - len(close) <= math.log2(first) + 2
    assert len(close) <= 8 / exponent + 4


def test_a_choice_of_measurements_holds_with_a_target_too(clock: Clock) -> None:
    outcome = run(Counter(clock), Plus(), Stop(iterations=100, target=1 / 30, measure_every=8))
    assert iterations(outcome.history) == [8, 16, 24, 32]


def test_it_measures_as_often_as_requested(clock: Clock) -> None:
    outcome = run(Counter(clock), Plus(), Stop(iterations=20, measure_every=7))
    assert iterations(outcome.history) == [7, 14, 20]


def test_seconds_include_measuring(clock: Clock) -> None:
    engine = Counter(clock, iteration_seconds=2.0, measuring_seconds=5.0)
    outcome = run(engine, Plus(), Stop(iterations=6, measure_every=3))
    assert [point.seconds for point in outcome.history] == [3 * 2 + 5, 6 * 2 + 2 * 5]
    assert outcome.seconds == 22
    assert outcome.seconds_per_iteration == 2


@pytest.mark.parametrize("seconds", [1e-9, 1e-3, 0.15, 30.0])
def test_pieces_last_about_the_target_time(clock: Clock, seconds: float) -> None:
    engine = Counter(clock, iteration_seconds=seconds)
    count = 20 if seconds > 0.1 else 100_000
    run(engine, Plus(), Stop(iterations=count, measure_every=count))
    sizes = [len(piece) for piece in engine.pieces]
    ideal = min(max(1, int(PIECE_SECONDS / seconds)), MAX_PIECE)
    assert max(sizes) == min(ideal, count)
    assert sizes[0] == 1, "nothing is known yet about the time of an iteration"
    assert all(second <= 2 * first for first, second in itertools.pairwise(sizes))
    assert len(sizes) <= count / ideal + math.log2(ideal) + 2, "pieces grow quickly"


# --- ends ------------------------------------------------------------------------------------------------------------


def test_a_target_that_is_met_exactly_ends_the_solve(clock: Clock) -> None:
    engine = Counter(clock)
    outcome = run(engine, Plus(), Stop(iterations=100, target=1 / 10, measure_every=1))
    assert (outcome.reason, outcome.iterations, engine.iteration) == ("target", 9, 9)
    above = run(Counter(clock), Plus(), Stop(iterations=100, target=math.nextafter(1 / 10, 0), measure_every=1))
    assert above.iterations == 10


def test_a_target_is_noticed_only_at_measurements(clock: Clock) -> None:
    outcome = run(Counter(clock), Plus(), Stop(iterations=100, target=1 / 10, measure_every=8))
    assert (outcome.reason, outcome.iterations) == ("target", 16)


def test_a_target_may_be_met_at_the_last_iteration(clock: Clock) -> None:
    assert run(Counter(clock), Plus(), Stop(iterations=9, target=1 / 10)).reason == "target"
    assert run(Counter(clock), Plus(), Stop(iterations=8, target=1 / 10)).reason == "iterations"


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_a_nan_exploitability_is_never_an_answer(clock: Clock, wrong: float) -> None:
    engine = Counter(clock, curve=lambda t: wrong if t >= 4 else 1.0)
    with pytest.raises(RegretlessError, match=f"the exploitability after 4 iterations is {wrong}"):
        run(engine, Plus(), Stop(iterations=100))


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"iterations": 0}, "iterations: 0"),
        ({"iterations": 5, "target": 0.0}, "target: 0.0"),
        ({"iterations": 5, "target": math.nan}, "target: nan"),
        ({"iterations": 5, "measure_every": 0}, "measure_every: 0"),
    ],
)
def test_an_invalid_end_is_refused(given: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidOption, match=named):
        Stop(**given)


@pytest.mark.parametrize("every", [0.0, -1.0, math.nan])
def test_checkpoints_need_a_time_between_them(every: float) -> None:
    with pytest.raises(InvalidOption, match="save_every"):
        Checkpoints(write=lambda outcome: None, every=every)


# --- interrupts ------------------------------------------------------------------------------------------------------


def test_an_interrupt_in_a_piece_ends_the_solve_after_that_piece(clock: Clock) -> None:
    signal = Signal(at=300)
    engine = Counter(clock, iteration_seconds=0.01, during=signal.hear)
    outcome = run(engine, Plus(), Stop(iterations=1000, measure_every=1000), interrupted=signal)
    made = np.cumsum([len(piece) for piece in engine.pieces])
    assert made[-2] < 300 <= made[-1] == outcome.iterations < 1000
    assert outcome.reason == "interrupted"
    assert iterations(outcome.history) == [outcome.iterations], "what was solved is measured"


def test_an_interrupt_during_the_last_measurement_changes_nothing(clock: Clock) -> None:
    signal = Signal(at=10)
    outcome = run(Counter(clock, during=signal.hear), Plus(), Stop(iterations=10, measure_every=1), interrupted=signal)
    assert outcome.reason == "iterations"


def test_an_interrupt_right_after_a_measurement_does_not_measure_again(clock: Clock) -> None:
    engine, calls = Counter(clock), itertools.count(1)
    stop = Stop(iterations=10, measure_every=1)
    outcome = run(engine, Plus(), stop, interrupted=lambda: next(calls) > 4)  # before and after each iteration
    assert (outcome.reason, iterations(outcome.history), engine.measured) == ("interrupted", [1, 2], [1, 2])


def test_an_interrupt_before_the_first_iteration(clock: Clock) -> None:
    engine = Counter(clock)
    outcome = run(engine, Plus(), Stop(iterations=10), interrupted=lambda: True)
    assert (outcome.reason, outcome.iterations, engine.pieces) == ("interrupted", 0, [])


# --- checkpoints -----------------------------------------------------------------------------------------------------


@dataclass
class Disk:
    """Records what is written to it, and takes time to do so."""

    clock: Clock
    seconds: float = 0.0
    written: list[Outcome] = field(default_factory=list)

    def write(self, outcome: Outcome) -> None:
        self.written.append(outcome)
        self.clock.now += self.seconds


def test_checkpoints_are_timed_from_the_end_of_the_last_one(clock: Clock) -> None:
    disk = Disk(clock, seconds=3.0)
    checkpoints = Checkpoints(write=disk.write, every=10.0)
    run(Counter(clock), Plus(), Stop(iterations=37, measure_every=37), checkpoints=checkpoints)
    assert [outcome.iterations for outcome in disk.written] == [10, 20, 30]
    assert [outcome.seconds for outcome in disk.written] == [10, 23, 36]


def test_a_checkpoint_contains_the_history_so_far(clock: Clock) -> None:
    disk = Disk(clock)
    checkpoints = Checkpoints(write=disk.write, every=10.0)
    run(Counter(clock), Plus(), Stop(iterations=37, measure_every=4), checkpoints=checkpoints)
    assert [iterations(outcome.history) for outcome in disk.written] == [
        [4, 8],
        [4, 8, 12, 16, 20],
        [4, 8, 12, 16, 20, 24, 28],
    ]


def test_a_finished_solve_writes_no_final_checkpoint(clock: Clock) -> None:
    disk = Disk(clock)
    run(Counter(clock), Plus(), Stop(iterations=9), checkpoints=Checkpoints(write=disk.write, every=10.0))
    assert disk.written == []


def test_an_interrupted_solve_is_saved_without_the_measurement_that_the_interrupt_caused(clock: Clock) -> None:
    disk, signal = Disk(clock), Signal(at=10)
    outcome = run(
        Counter(clock, during=signal.hear),
        Plus(),
        Stop(iterations=100, measure_every=4),
        checkpoints=Checkpoints(write=disk.write, every=1e9),
        interrupted=signal,
    )
    assert iterations(outcome.history) == [4, 8, 10], "whoever asked to stop sees how exploitable the strategy is"
    (saved,) = disk.written
    assert (saved.reason, saved.iterations, iterations(saved.history)) == ("interrupted", 10, [4, 8])


def test_an_interrupted_solve_is_saved_with_the_measurement_that_was_due(clock: Clock) -> None:
    disk, signal = Disk(clock), Signal(at=8)
    run(
        Counter(clock, during=signal.hear),
        Plus(),
        Stop(iterations=100, measure_every=4),
        checkpoints=Checkpoints(write=disk.write, every=1e9),
        interrupted=signal,
    )
    assert [iterations(saved.history) for saved in disk.written] == [[4, 8]]


# --- resuming --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [1, 2, 20, 21, 47, 48, 59])
def test_an_interrupted_and_resumed_solve_has_the_history_of_an_uninterrupted_one(clock: Clock, at: int) -> None:
    stop = Stop(iterations=60)
    whole = run(Counter(clock), Plus(), stop)
    disk, signal = Disk(clock), Signal(at=at)
    engine = Counter(clock, during=signal.hear)
    run(engine, Plus(), stop, checkpoints=Checkpoints(write=disk.write, every=1e9), interrupted=signal)
    (saved,) = disk.written
    clock.now += 1e6  # a night later
    resumed = run(engine, Plus(), stop, before=saved.history, seconds_before=saved.seconds)
    assert engine.iteration == 60
    np.testing.assert_array_equal(np.concatenate(engine.pieces), schedule(Plus(), 1, 60))
    assert resumed.history == whole.history
    assert resumed.seconds == whole.seconds


@pytest.mark.parametrize("saved_by", ["checkpoint", "user"])
@pytest.mark.parametrize("target", [1e-2, 0.3])
def test_interrupts_do_not_change_when_a_solve_with_a_target_measures(
    clock: Clock, target: float, saved_by: str
) -> None:
    stop = Stop(iterations=1000, target=target)
    whole = run(Counter(clock), Plus(), stop)
    for at in range(1, whole.iterations):
        disk, signal = Disk(clock), Signal(at=at)
        engine = Counter(clock, during=signal.hear)
        stopped = run(engine, Plus(), stop, checkpoints=Checkpoints(write=disk.write, every=1e9), interrupted=signal)
        if stopped.reason == "target":  # met since the last measurement, as the interrupt showed
            continue
        saved = disk.written[0] if saved_by == "checkpoint" else stopped
        resumed = run(engine, Plus(), stop, before=saved.history, seconds_before=saved.seconds)
        assert (resumed.reason, resumed.iterations) == ("target", whole.iterations)
        caused = {stopped.iterations} - set(iterations(whole.history)) if saved_by == "user" else set()
        assert set(iterations(resumed.history)) - caused == set(iterations(whole.history))


@pytest.mark.parametrize("target", [None, 1e-2])
def test_a_solve_resumed_from_any_checkpoint_has_the_history_of_an_uninterrupted_one(
    clock: Clock, target: float | None
) -> None:
    """Also from one that was written when a measurement was due."""
    stop, disk = Stop(iterations=200, target=target), Disk(clock)
    whole = run(Counter(clock), Plus(), stop, checkpoints=Checkpoints(write=disk.write, every=1.0))
    assert {outcome.iterations for outcome in disk.written} == set(range(1, whole.iterations))
    for saved in disk.written:
        resumed = run(Counter(clock, iteration=saved.iterations), Plus(), stop, before=saved.history)
        assert (resumed.reason, iterations(resumed.history)) == (whole.reason, iterations(whole.history))


def test_a_lower_target_is_pursued_from_the_last_measurement(clock: Clock) -> None:
    engine = Counter(clock)
    first = run(engine, Plus(), Stop(iterations=1000, target=1 / 50))
    second = run(engine, Plus(), Stop(iterations=1000, target=1 / 100), before=first.history)
    assert (second.reason, second.iterations) == ("target", 100)
    assert iterations(second.history)[: len(first.history)] == iterations(first.history)


def test_a_resumed_solve_adds_its_seconds(clock: Clock) -> None:
    before = (Measurement(4, 3.0, 0.5), Measurement(8, 6.0, 0.25))
    engine = Counter(clock, iteration=9)
    outcome = run(engine, Plus(), Stop(iterations=16, measure_every=4), before=before, seconds_before=7.0)
    assert outcome.history == (*before, Measurement(12, 10.0, 1 / 13), Measurement(16, 14.0, 1 / 17))
    assert outcome.seconds == 14
    assert outcome.seconds_per_iteration == 1


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        (Stop(iterations=8), "iterations"),
        (Stop(iterations=5), "iterations"),
        (Stop(iterations=99, target=0.25), "target"),
    ],
)
def test_nothing_is_done_if_nothing_is_left_to_do(clock: Clock, stop: Stop, reason: str) -> None:
    engine = Counter(clock, iteration=8, curve=lambda t: 0.25)
    outcome = run(engine, Plus(), stop, before=(Measurement(8, 6.0, 0.25),), seconds_before=6.0)
    assert (outcome.reason, outcome.iterations, engine.pieces) == (reason, 8, [])
    assert iterations(outcome.history) == [8]


@pytest.mark.parametrize("before", [(Measurement(8, 6.0, 0.3),), (Measurement(7, 6.0, 0.25),), ()])
def test_a_target_that_was_not_measured_as_met_is_pursued(clock: Clock, before: tuple[Measurement, ...]) -> None:
    engine = Counter(clock, iteration=8, curve=lambda t: 0.25)
    outcome = run(engine, Plus(), Stop(iterations=99, target=0.25), before=before)
    assert (outcome.reason, outcome.iterations) == ("target", 9)


# --- reports ---------------------------------------------------------------------------------------------------------


def test_reports_give_the_state_of_the_solve(clock: Clock) -> None:
    told: list[Progress] = []
    engine = Counter(clock, iteration_seconds=1.0, measuring_seconds=0.5)
    run(engine, Plus(), Stop(iterations=4, measure_every=2), report=told.append)
    evaluations = [progress.evaluation for progress in told]
    measured = [None if each is None else each.exploitability for each in evaluations]
    assert measured == [progress.exploitability for progress in told]
    assert [replace(progress, evaluation=None) for progress in told] == [
        Progress(1, 4, 1.0, None, 1.0, 1.0),
        Progress(2, 4, 2.5, 1 / 3, 1.5, 2.0),
        Progress(3, 4, 3.5, 1 / 3, 1.5, 3.0),
        Progress(4, 4, 5.0, 1 / 5, 1.5, 4.0),
    ]


def test_the_time_to_stop_counts_the_checkpoint_too(clock: Clock) -> None:
    """Estimated from its size at first, then from the time that the last one took."""
    told: list[Progress] = []
    disk = Disk(clock, seconds=7.0)
    checkpoints = Checkpoints(write=disk.write, every=2.0, size=int(3 * loop.BYTES_PER_SECOND))
    run(Counter(clock), Plus(), Stop(iterations=3, measure_every=3), checkpoints=checkpoints, report=told.append)
    assert [progress.stop_seconds for progress in told] == [1 + 3, 1 + 3, 1 + 7]
