"""The first solve on a machine compiles kernels; neither its time nor its convergence curve includes that."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

GAME = "rl.solve('kuhn', iterations=20, variant='linear', engine='numba', sampling={sampling!r})"
SPOT = """rl.solve(rl.Spot.from_mapping({
    "board": "Kh Qs Js 2c 3d", "pot": 100, "stack": 200, "oop": {"range": "AK, 77"}, "ip": {"range": "QQ, JT"},
    "bets": {"bet": "50%"}}), iterations=20, threads=1)"""
SOLVES = {sampling: GAME.format(sampling=sampling) for sampling in ("full", "external", "outcome", "chance")}


@pytest.mark.slow
@pytest.mark.parametrize("solve", [*SOLVES.values(), SPOT], ids=[*SOLVES, "spot"])
def test_the_first_solve_is_not_charged_for_compiling(solve: str, tmp_path: Path) -> None:
    code = f"import regretless as rl\nsolution = {solve}\n"
    code += "print(solution.seconds, solution.setup_seconds, solution.history[0].seconds)"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    seconds, setup_seconds, first = map(float, done.stdout.split())
    assert setup_seconds > 1
    assert seconds < 0.5
    assert first < 0.2
