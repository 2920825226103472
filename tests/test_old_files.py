"""Files that earlier versions wrote still open and resume: every small kind of format 2."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import regretless as rl

DATA = Path(__file__).parent / "data" / "format_2"
ANSWERS: dict[str, dict[str, Any]] = json.loads((DATA / "answers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ANSWERS)
def test_every_kind_of_file_still_opens(name: str) -> None:
    """The version that wrote these files said what is in `answers.json`."""
    solution, answer = rl.load(DATA / f"{name}.rgl"), ANSWERS[name]
    assert (solution.game, solution.iterations) == (answer["game"], answer["iterations"])
    assert solution.is_measured == ("values" in answer)
    if solution.is_measured:
        assert solution.exploitability == answer["exploitability"]
        assert list(solution.values) == answer["values"]
    decision = answer["decision"]
    if "information_set" in decision:
        probabilities = list(solution.strategy[decision["information_set"]].values())
    else:
        probabilities = list(solution.node(decision["line"]).frequencies)
    assert probabilities == pytest.approx(decision["probabilities"], abs=1e-9)


@pytest.mark.parametrize("name", [*(name for name in ANSWERS if name not in ("exact", "trained")), "checkpoint"])
def test_every_kind_of_file_still_resumes(name: str) -> None:
    path = DATA / f"{name}.rgl"
    done = rl.load(path).iterations
    resumed = rl.solve(resume=path, iterations=done + 5)
    assert resumed.iterations == done + 5
    assert len(resumed.history) >= len(rl.load(path).history)


@pytest.mark.skipif(find_spec("torch") is None, reason="needs PyTorch")
def test_a_training_still_resumes() -> None:
    assert rl.train(resume=DATA / "trained.rgl", iterations=3).iterations == 3
