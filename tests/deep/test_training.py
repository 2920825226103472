"""Options of a training: each is honoured or refused by name."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import regretless as rl
from regretless.deep.trained_policy import TrainedPolicy
from regretless.errors import InvalidOption, InvalidSettings, MissingExtra

Options = dict[str, Any]


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


def test_solves_and_trainings_do_not_resume_each_other(trained: TrainedPolicy) -> None:
    solved = rl.solve("kuhn", iterations=5)
    with pytest.raises(InvalidOption, match="'the solve of kuhn' is not a training run: regretless solve resumes it"):
        rl.train(resume=solved)
    with pytest.raises(InvalidOption, match="'the solve of kuhn' is resumed by regretless train"):
        rl.solve(resume=trained, iterations=9)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regretless.deep.training.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"torch is not installed: pip install .*\[torch\]"):
        rl.train("kuhn")
