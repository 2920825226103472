"""What mypy says to a user: options that do not exist or do not apply fail, and what is returned has a type."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

ROOT = Path(__file__).parent.parent
# Each line that ends in `# fails` must be an error, and no other.
PROGRAM = """
from pathlib import Path
import regretless as rl
from regretless.games import Kuhn
from regretless.holdem import HoldemGame

rl.solve(Kuhn(), iterations=10).strategy["1:"]
rl.solve(Kuhn(), variant="mccfr", sampling="external").zero_sum
rl.solve(Kuhn(), iteratons=1)  # fails
rl.solve(Kuhn(), buckets="river=5")  # fails
rl.solve(Kuhn(), iterations="ten")  # fails
rl.solve(Kuhn).exploitability  # fails
rl.solve(7)  # fails
rl.solve("leduc", variant="plus").exploitability + 1.0
rl.solve("leduc").strategy["Ks:"]["raise"] + 1.0
rl.solve("leduc").exploitabillity  # fails
rl.solve("leduc", iteratons=1)  # fails
rl.solve("leduc").history[0].seconds + "s"  # fails
rl.solve(Path("spot.toml"), storage=16).node("check").frequencies[0] + 1.0
rl.solve(resume="spot.rgl").save("again.rgl", resumable=True)
rl.solve(rl.Spot.read("spot.toml"), target=0.3).ev["oop"] + 1.0
rl.solve(rl.Spot.read("spot.toml"), sampling="external")  # fails
rl.solve(rl.Spot.read("spot.toml")).node("check").rows("oop")
rl.solve(HoldemGame.parse(""), sample_runouts=4).price("subset(25)")
rl.solve(HoldemGame.parse(""), updates="simultaneous")  # fails
rl.load("leduc.rgl").strategy.keys()
rl.load("spot.rgl").node("check").actions[0].upper()
rl.load("spot.rgl").nod("check")  # fails
rl.load(Kuhn())  # fails
rl.train("kuhn", preset="small", width=32).training.settings
rl.train("kuhn", widht=32)  # fails
rl.Solver(Kuhn(), variant="mccfr", device="cuda:1").solve(iterations=10)["1:"]
rl.Solver(Kuhn(), variants="plus")  # fails
rl.solve_batch(["leduc", Kuhn()], variant=rl.variants.Plus(), threads=2).strategy(0)["1:"]
rl.solve_batch(["leduc"], target=1.0)  # fails
"""


def test_what_mypy_says_to_a_user(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", program],
        cwd=ROOT,
        env={**os.environ, "MYPYPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
    )
    failing = {number for number, line in enumerate(PROGRAM.splitlines(), start=1) if line.endswith("# fails")}
    refused = {int(number) for number in re.findall(r"program\.py:(\d+): error", result.stdout)}
    assert refused == failing, result.stdout + result.stderr
