"""Every script in examples/ runs as a reader would run it, and prints what is true of its game."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
NEEDS = {"kuhn": "scipy", "network": "torch", "study": "duckdb"}


def printed(name: str, folder: Path) -> str:
    """What a script prints, started in an empty folder, which it leaves empty."""
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    environment = {**os.environ, "PYTHONPATH": str(EXAMPLES.parent / "src")}
    command = (sys.executable, str(EXAMPLES / f"{name}.py"))
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert list(folder.iterdir()) == []
    return ended.stdout


def numbers(text: str, pattern: str) -> list[float]:
    """The numbers that a pattern with one group finds."""
    return [float(match) for match in re.findall(pattern, text)]


def test_every_script_is_tested() -> None:
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {path.stem for path in EXAMPLES.glob("*.py")} <= tested


def test_kuhn(tmp_path: Path) -> None:
    text = printed("kuhn", tmp_path)
    assert "value to the first player: -0.05556 by CFR+, -0.05556 exactly" in text
    jacks, kings = numbers(text, r"bets ([\d.]+)% of jacks"), numbers(text, r"and ([\d.]+)% of kings")
    assert len(jacks) == len(kings) == 2
    assert max(jacks) <= 100 / 3 + 1
    assert kings == pytest.approx([3 * share for share in jacks], abs=4)


def test_leduc(tmp_path: Path) -> None:
    text = printed("leduc", tmp_path)
    measured = dict(re.findall(r"^(\S+) +exploitability ([\d.]+)", text, re.MULTILINE))
    assert float(measured["plus"]) < float(measured["linear"]) < float(measured["vanilla"])
    assert numbers(text, r"value (\S+)") == pytest.approx([-0.0856064] * 5, abs=0.005)


def test_river(tmp_path: Path) -> None:
    text = printed("river", tmp_path)
    assert sum(numbers(text, r"plays .* (\d+)% of the time")) == pytest.approx(100, abs=1.1)
    assert sum(numbers(text, r"EV ([\d.]+) chips")) == pytest.approx(100, abs=0.11)  # the pot
    assert "bets most: Tc9c, Td9d, Th9h, Ts9s" in text  # the best straight
    assert text.splitlines()[-1].endswith("agrees")


@pytest.mark.slow
def test_flop(tmp_path: Path) -> None:
    text = printed("flop", tmp_path)
    most, least = numbers(text, r"bets again .* often on the \w\w: (\d+)%")
    assert least < most <= 100
    [without], [usual] = numbers(text, r"ip's EV is ([\d.]+)"), numbers(text, r"instead of ([\d.]+)")
    assert without < usual


@pytest.mark.slow
def test_study(tmp_path: Path) -> None:
    text = printed("study", tmp_path)
    assert "3 of 3 flops are solved" in text
    assert len(numbers(text, r"ip bets (\d+)%")) == 3


@pytest.mark.slow
def test_network(tmp_path: Path) -> None:
    [exploitability] = numbers(printed("network", tmp_path), r"exploitability ([\d.]+) chips")
    assert exploitability < 0.2  # uniform play is exploitable for 0.458
