"""Files of earlier versions still open and resume: those of format 1, and every small kind of format 2.

Format 1 is from before games and spots shared a container.

Compiled code rounds differently on different processors. Games agree to many digits all the same. The spots in these
files had not converged yet: a resumed solve equals a new one to the last bit only on a processor where a new solve
reproduces what the file recorded; elsewhere both must converge to the same answer.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regretless as rl
from regretless.errors import InvalidFile
from regretless.files.container import open_container
from regretless.holdem import Spot

DATA = Path(__file__).parent / "data" / "format_1"
FORMAT_2 = Path(__file__).parent / "data" / "format_2"
ANSWERS: dict[str, dict[str, Any]] = json.loads((FORMAT_2 / "answers.json").read_text(encoding="utf-8"))
SPOT = Spot.from_mapping(
    {
        "name": "river",
        "board": "Kh Qs Js 2c 3d",
        "pot": 80,
        "stack": 200,
        "oop": {"range": "AK, QJs, 99"},
        "ip": {"range": "AA, KQ, JTs"},
        "bets": {"bet": "50%"},
    }
)


def points(solution: rl.Solution) -> dict[int, float]:
    """Exploitability by iteration."""
    return {point.iteration: point.exploitability for point in solution.history}


def assert_same_game(one: rl.GameSolution, two: rl.GameSolution) -> None:
    assert points(one) == pytest.approx(points(two), abs=1e-12)
    assert one.evaluation.values == pytest.approx(two.evaluation.values, abs=1e-12)
    assert one.strategy.keys() == two.strategy.keys()
    for name, actions in one.strategy.items():
        assert actions == pytest.approx(two.strategy[name], abs=1e-12)


def assert_same_spot(resumed: rl.Solution, whole: rl.Solution, exactly: bool) -> None:
    assert resumed.iterations == whole.iterations
    if exactly:
        assert resumed.evaluation == whole.evaluation
    assert resumed.evaluation.values == pytest.approx(whole.evaluation.values, abs=2e-3)
    assert resumed.exploitability < 2e-3


@pytest.mark.parametrize(
    ("name", "options"),
    [("game", {"variant": "discounted"}), ("sampled", {"sampling": "external", "seed": 3})],
)
def test_games(name: str, options: dict[str, object]) -> None:
    loaded = rl.load(DATA / f"{name}.rgl")
    again = rl.solve("kuhn", iterations=20, engine="numba", **options)
    assert isinstance(loaded, rl.GameSolution)
    assert_same_game(loaded, again)
    whole = rl.solve("kuhn", iterations=40, engine="numba", **options)
    resumed = rl.solve(resume=loaded, iterations=40)
    assert isinstance(resumed, rl.GameSolution)
    assert_same_game(resumed, whole)


@pytest.mark.parametrize("storage", [32, 16])
def test_solved_spots(storage: int, tmp_path: Path) -> None:
    loaded = rl.load(DATA / f"resumable{storage}.rgl")
    again = rl.solve(SPOT, target=1.0, threads=1, storage=storage)
    assert isinstance(loaded, rl.SpotSolution)
    assert loaded.spot == SPOT
    assert loaded.settings == again.settings  # the target, which was in percent of the pot, is in chips
    assert loaded.verify().exploitability == pytest.approx(loaded.exploitability, abs=1e-4)
    rounds_alike = loaded.evaluation == again.evaluation
    if rounds_alike:
        assert points(again).items() <= points(loaded).items(), "that version measured more often, but no differently"
        for line in ("", "check", "bet 40"):
            np.testing.assert_allclose(loaded.node(line).strategy, again.node(line).strategy, atol=1e-6)
    resumed, whole = rl.solve(resume=loaded, iterations=90), rl.solve(SPOT, iterations=90, storage=storage)
    assert_same_spot(resumed, whole, rounds_alike)
    loaded.save(tmp_path / "new.rgl", resumable=True)
    assert rl.load(tmp_path / "new.rgl").record == loaded.record
    assert rl.solve(resume=tmp_path / "new.rgl", iterations=90).evaluation == resumed.evaluation


@pytest.mark.parametrize("storage", [32, 16])
def test_interrupted_spots(storage: int) -> None:
    path = DATA / f"checkpoint{storage}.rgl"
    resumed, whole = rl.solve(resume=path), rl.solve(SPOT, iterations=60, threads=1, storage=storage)
    reached = open_container(path).header["iterations"]
    rounds_alike = points(resumed)[reached] == points(whole)[reached]
    assert_same_spot(resumed, whole, rounds_alike)
    assert points(resumed).keys() == points(whole).keys()
    if rounds_alike:
        assert points(resumed) == points(whole)
    with pytest.raises(InvalidFile, match=r"is an interrupted solve: rl\.solve\(resume='.*'\) continues it"):
        rl.load(path)


@pytest.mark.parametrize("name", ANSWERS)
def test_every_kind_of_file_still_opens(name: str) -> None:
    """The version that wrote these files said what is in `answers.json`."""
    solution, answer = rl.load(FORMAT_2 / f"{name}.rgl"), ANSWERS[name]
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
    path = FORMAT_2 / f"{name}.rgl"
    done = rl.load(path).iterations
    resumed = rl.solve(resume=path, iterations=done + 5)
    assert resumed.iterations == done + 5
    assert len(resumed.history) >= len(rl.load(path).history)


@pytest.mark.skipif(find_spec("torch") is None, reason="needs PyTorch")
def test_a_training_still_resumes() -> None:
    assert rl.train(resume=FORMAT_2 / "trained.rgl", iterations=3).iterations == 3
