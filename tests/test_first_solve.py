"""The first solve on a machine compiles kernels; neither its time nor its convergence curve includes that."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import regretless as rl
from regretless.games import Kuhn

ROOT = Path(__file__).parent.parent
SAMPLINGS = ("full", "external", "outcome", "chance")
RIVER = """
board = "Kh Qs Js 2c 3d"
pot = 100
stack = 200
oop = { range = "AK, 77" }
ip = { range = "QQ, JT" }
bets = { bet = "50%" }
"""


def first_solve(name: str) -> None:
    """Solves a spot, or a game with a kind of sampling, and prints how long it took."""
    if name == "spot":
        solution: rl.Solution = rl.solve(rl.Spot.parse(RIVER), iterations=20, threads=1)
    else:
        solution = rl.solve(Kuhn(), iterations=20, variant="linear", engine="numba", sampling=name)
    print(solution.seconds, solution.record.setup_seconds, solution.history[0].seconds)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SAMPLINGS, "spot"])
def test_the_first_solve_is_not_charged_for_compiling(name: str, tmp_path: Path) -> None:
    code = f"from tests.test_first_solve import first_solve; first_solve({name!r})"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    seconds, setup_seconds, first = map(float, done.stdout.split())
    assert setup_seconds > 1
    assert seconds < 0.5
    assert first < 0.2
