"""Files of format 1 (from before games and spots shared a container) still open, and resume as they would have then."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import regretless as rl
from regretless.errors import InvalidFile
from regretless.holdem import Spot

DATA = Path(__file__).parent / "data" / "format_1"
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


def points(solution: rl.Solution) -> list[tuple[int, float]]:
    return [(point.iteration, point.exploitability) for point in solution.history]


@pytest.mark.parametrize(
    ("name", "options"),
    [("game", {"variant": "discounted"}), ("sampled", {"sampling": "external", "seed": 3})],
)
def test_games(name: str, options: dict[str, object]) -> None:
    loaded = rl.load(DATA / f"{name}.rgl")
    again = rl.solve("kuhn", iterations=20, engine="numba", **options)
    assert isinstance(loaded, rl.GameSolution)
    assert loaded.strategy == again.strategy
    assert loaded.evaluation == again.evaluation
    assert points(loaded) == points(again)
    whole = rl.solve("kuhn", iterations=40, engine="numba", **options)
    assert rl.solve(resume=loaded, iterations=40).strategy == whole.strategy


@pytest.mark.parametrize("storage", [32, 16])
def test_solved_spots(storage: int, tmp_path: Path) -> None:
    loaded = rl.load(DATA / f"resumable{storage}.rgl")
    again = rl.solve(SPOT, target=1.0, threads=1, storage=storage)
    assert isinstance(loaded, rl.SpotSolution)
    assert loaded.spot == SPOT
    assert loaded.settings == again.settings  # the target, which was in percent of the pot, is in chips
    assert loaded.evaluation == again.evaluation
    assert points(loaded)[-1] == points(again)[-1]
    assert set(points(again)) <= set(points(loaded)), "that version measured more often, and found the same"
    for line in ("", "check", "bet 40"):
        np.testing.assert_allclose(loaded.node(line).strategy, again.node(line).strategy, atol=1e-6)
    resumed, whole = rl.solve(resume=loaded, iterations=90), rl.solve(SPOT, iterations=90, storage=storage)
    assert resumed.evaluation == whole.evaluation
    loaded.save(tmp_path / "new.rgl", resumable=True)
    assert rl.load(tmp_path / "new.rgl").record == loaded.record


@pytest.mark.parametrize("storage", [32, 16])
def test_interrupted_spots(storage: int) -> None:
    path = DATA / f"checkpoint{storage}.rgl"
    resumed, whole = rl.solve(resume=path), rl.solve(SPOT, iterations=60, threads=1, storage=storage)
    assert resumed.evaluation == whole.evaluation
    assert points(resumed) == points(whole)
    with pytest.raises(InvalidFile, match="is an interrupted solve: regretless solve --resume"):
        rl.load(path)
