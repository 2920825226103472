"""Trainings on the one path: stopped, resumed and measured, with the numbers of one that was left alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import regretless as rl
from regretless.deep.trained_policy import TrainedPolicy
from regretless.errors import WouldNotFit

Options = dict[str, Any]


def same(one: TrainedPolicy, other: TrainedPolicy) -> bool:
    assert one.snapshot is not None
    assert other.snapshot is not None
    first, second = one.snapshot.arrays, other.snapshot.arrays
    arrays = all(np.array_equal(first[name], second[name], equal_nan=name.endswith("targets")) for name in first)
    return arrays and set(first) == set(second) and one.strategy == other.strategy


def test_a_training_is_measured_exactly(trained: TrainedPolicy) -> None:
    assert (trained.iterations, trained.reason, trained.variant) == (
        4,
        "iterations",
        {"deep": "deep-cfr", "single": "single-deep-cfr"}[trained.training.settings.algorithm],
    )
    assert [point.iteration for point in trained.history] == [2, 4]
    assert trained.history[-1].exploitability == trained.exploitability
    found = trained.verify()
    assert found.agrees
    assert found.values == pytest.approx(trained.values, abs=1e-9)


def test_measuring_does_not_change_what_is_trained(trained: TrainedPolicy, quick: Options) -> None:
    algorithm = trained.training.settings.algorithm
    often = rl.train("kuhn", algorithm=algorithm, **quick | {"measure_every": 1})
    assert len(often.history) == 4
    assert same(often, trained)


def test_a_resumed_training_ends_as_if_it_had_never_stopped(trained: TrainedPolicy, quick: Options) -> None:
    algorithm = trained.training.settings.algorithm
    half = rl.train("kuhn", algorithm=algorithm, **quick | {"iterations": 2})
    resumed = rl.train(resume=half, iterations=4)
    assert same(resumed, trained)
    assert [point.iteration for point in resumed.history] == [2, 4]


def test_a_file_with_memories_is_resumed_to_the_bit(
    trained: TrainedPolicy, quick: Options, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regretless.solving.loop.PIECE_SECONDS", 0.0)  # so that it can stop after any iteration
    file = tmp_path / "stopped.rgl"
    done: list[int] = [0]
    stopped = rl.train(
        "kuhn",
        algorithm=trained.training.settings.algorithm,
        checkpoint=file,
        report=lambda progress: done.append(progress.iteration),
        interrupted=lambda: done[-1] >= 3,
        **quick,
    )
    assert (stopped.reason, stopped.iterations) == ("interrupted", 3)
    resumed = rl.train(resume=file)
    assert (resumed.reason, resumed.iterations) == ("iterations", 4)
    assert same(resumed, trained)
    assert [point.iteration for point in resumed.history] == [2, 4]


def test_a_target_ends_a_training_early(quick: Options) -> None:
    early = rl.train("kuhn", target=10.0, **quick)
    assert (early.reason, early.iterations) == ("target", 2)


def test_seeds_and_settings_matter(trained: TrainedPolicy, quick: Options) -> None:
    algorithm = trained.training.settings.algorithm
    for change in ({"seed": 4}, {"traversals": 41}, {"width": 9}, {"weighting": "uniform"}):
        other = rl.train("kuhn", algorithm=algorithm, **quick | change)
        assert not same(other, trained), change


def test_a_measurement_every_fifth_of_the_iterations(quick: Options) -> None:
    del quick["measure_every"]
    found = rl.train("kuhn", **quick | {"iterations": 20, "traversals": 5, "value_steps": 1, "policy_steps": 1})
    assert [point.iteration for point in found.history] == list(range(4, 21, 4))


def test_a_resume_must_be_of_the_same_game(trained: TrainedPolicy) -> None:
    with pytest.raises(rl.RegretlessError, match="the solve of kuhn: belongs to a different tree from that of leduc"):
        rl.train("leduc", resume=trained, iterations=5)


def test_features_are_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regretless.deep.problem.available_bytes", lambda: 1000)
    with pytest.raises(WouldNotFit, match=r"describing kuhn to a network needs [\d.]+ [KM]B of memory"):
        rl.train("kuhn")
