"""Trainings on the one path: stopped, resumed and measured, with the numbers of one that was left alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import regretless as rl
from regretless.deep.settings import PRESETS
from regretless.deep.training import engine as engines
from regretless.deep.training.trained_policy import TrainedPolicy
from regretless.errors import InvalidOption, InvalidSettings, MissingExtra, WouldNotFit

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


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"width": 0}, InvalidSettings, "width: 0 must be a whole number of at least 1"),
        ({"learning_rate": float("nan")}, InvalidSettings, "learning_rate: nan must be a finite number above 0"),
        ({"algorithm": "double"}, InvalidSettings, "algorithm: 'double' is not one of deep, single"),
        ({"preset": "large"}, InvalidSettings, "preset: 'large' is not one of small, fhp, fhp-ten-minutes, hulh"),
        ({"traversal": 5}, InvalidOption, "traversal: 5 is not an option of train; did you mean traversals?"),
        ({"tensorbord": "."}, InvalidOption, "tensorbord: '.' is not an option of train; did you mean tensorboard"),
        ({"variant": "plus"}, InvalidOption, "variant: 'plus' is for solve: training is linear CFR; algorithm chooses"),
        ({"sampling": "outcome"}, InvalidOption, "sampling: 'outcome' is for solve: training samples externally"),
        ({"form": "public"}, InvalidOption, "form: 'public' is for solve: training needs no choice of a form"),
        ({"storage": 16}, InvalidOption, "storage: 16 is for solve: training stores samples"),
        ({"engine": "numba"}, InvalidOption, "engine: 'numba' is for solve: training runs in PyTorch"),
        ({"device": "tpu"}, InvalidOption, "device: 'tpu' is not one of auto, cpu, cuda, mps"),
        ({"iterations": 0}, InvalidOption, "iterations: 0 must be at least 1"),
        ({"seed": -1}, InvalidOption, "seed: -1 must be from 0 to 9007199254740991"),
        ({"seed": 2**63}, InvalidOption, "seed: 9223372036854775808 must be from 0 to 9007199254740991"),
        ({"threads": 0}, InvalidOption, "threads: 0 must be at least 1"),
        ({"save_every": 5}, InvalidOption, "save_every: 5 needs a file to save to: give a checkpoint too"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_cannot_be_honoured_is_refused_by_name(options: Options, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error) as caught:
        rl.train("kuhn", **options)
    assert str(caught.value).startswith(sentence)


def test_an_unknown_option_is_answered_with_those_that_train_has() -> None:
    with pytest.raises(InvalidOption) as caught:
        rl.train("kuhn", foo=3)  # type: ignore[call-arg]
    sentence, _, listed = str(caught.value).partition("; it has ")
    assert sentence == "foo: 3 is not an option of train"
    names = listed.split(", ")
    assert len(set(names)) == len(names)
    assert set(names) >= {"iterations", "target", "seed", "resume", "preset", "width", "tensorboard", "watchers"}
    assert not set(names) & {"variant", "sampling", "storage", "form", "buckets", "locks", "keep_regrets"}


def test_a_game_is_needed() -> None:
    with pytest.raises(InvalidOption, match="what: is missing: give a game, or a training run to resume"):
        rl.train()


def test_a_resume_keeps_its_settings(trained: TrainedPolicy) -> None:
    for options, sentence in (
        ({"width": 16}, "width: 16 cannot resume the solve of kuhn, which was started with 8"),
        ({"preset": "small"}, "preset: 'small' cannot be combined with resume: the solve of kuhn has its own settings"),
        ({"seed": 9}, "seed: 9 cannot resume the solve of kuhn, which was started with 3"),
        ({"iterations": 4}, "iterations: 4 is already reached: 4 iterations are done, ask for more"),
    ):
        with pytest.raises(InvalidOption) as caught:
            rl.train(resume=trained, **options)
        assert str(caught.value) == sentence


def test_a_resume_must_be_of_the_same_game(trained: TrainedPolicy) -> None:
    with pytest.raises(rl.RegretlessError, match="the solve of kuhn: belongs to a different tree from that of leduc"):
        rl.train("leduc", resume=trained, iterations=5)


def test_solves_and_trainings_do_not_resume_each_other(trained: TrainedPolicy) -> None:
    solved = rl.solve("kuhn", iterations=5)
    with pytest.raises(InvalidOption, match="'the solve of kuhn' is not a training run: regretless solve resumes it"):
        rl.train(resume=solved)
    with pytest.raises(InvalidOption, match="'the solve of kuhn' is resumed by regretless train"):
        rl.solve(resume=trained, iterations=9)


def refusal(**settings: Any) -> str:
    with pytest.raises(WouldNotFit) as caught:
        rl.train("kuhn", **settings)
    assert caught.value.needed > caught.value.available
    return str(caught.value)


def test_memory_is_counted_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "available_bytes", lambda: 2**30)
    said = refusal(preset="fhp")
    assert "training kuhn needs 1.8 GiB of memory, but only 1.0 GiB are free" in said
    assert "advantage_capacity=20000000, strategy_capacity=20000000 needs 921 MiB, which fits" in said


def test_only_the_memories_that_are_too_large_are_to_shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "available_bytes", lambda: 2**30)
    assert "free: strategy_capacity=60000000 needs 948 MiB, which fits" in refusal(strategy_capacity=10**9)
    single = refusal(algorithm="single", advantage_capacity=10**9, strategy_capacity=10**12)
    assert "free: advantage_capacity=30000000 needs 940 MiB, which fits" in single


def test_a_batch_that_does_not_fit_is_refused() -> None:
    said = refusal(batch=10**12)
    assert re.search(r"free: networks, batches and measuring need [\d.]+ GiB, even without memories$", said)
    assert "capacity" not in said


def test_features_are_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regretless.deep.training.problem.available_bytes", lambda: 1000)
    with pytest.raises(WouldNotFit, match=r"describing kuhn to a network needs \d+ [KM]iB of memory"):
        rl.train("kuhn")


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regretless.deep.training.asking.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"torch is not installed: pip install .*\[torch\]"):
        rl.train("kuhn")


def test_presets_are_the_papers() -> None:
    assert {name: (each.iterations, each.traversals, each.value_steps) for name, each in PRESETS.items()}["fhp"] == (
        450,
        10_000,
        4_000,
    )


# --- watchers --------------------------------------------------------------------------------------------------------


class Seen:
    def __init__(self) -> None:
        self.iterations: list[int] = []
        self.measured_at: list[int] = []

    def iterated(self, report: Any) -> None:
        self.iterations.append(report.iteration)

    def measured(self, iteration: int, evaluation: Any) -> None:
        self.measured_at.append(iteration)


def test_watchers_are_told(quick: Options, tmp_path: Path) -> None:
    seen = Seen()
    rl.train("kuhn", watchers=[seen], tensorboard=tmp_path / "runs", **quick)
    assert (seen.iterations, seen.measured_at) == ([1, 2, 3, 4], [2, 4])
    (file,) = (tmp_path / "runs").iterdir()
    content = file.read_bytes()
    assert content.count(b"loss/player 0") == 4
    assert content.count(b"exploitability") == 2
