"""Input crafted to break the command: one sentence, no traceback, no NaN, immediately."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from tests.cli.conftest import Run

import regretless.cli
from regretless.cli.terminal.json_output import strict_json


def chain(moves: int, *, payoff: str = "5") -> str:
    """A Gambit file in which two players take turns to stop or continue."""
    lines = ['EFG 2 R "chain" { "a" "b" } ""']
    for move in range(moves):
        lines.append(f'p "" {move % 2 + 1} {move + 1} "s{move}" {{ "stop" "go" }} 0')
        lines.append(f't "" {move + 1} "" {{ {move % 3 - 1}, {1 - move % 3} }}')
    lines.append(f't "" {moves + 1} "" {{ {payoff}, -{payoff} }}')
    return "\n".join(lines)


def no_constant(name: str) -> float:
    raise AssertionError(f"{name} is not JSON")


@pytest.mark.parametrize("engine", ["auto", "numba", "numpy"])
def test_a_chain_of_2000_moves_has_an_exploitability(run: Run, tmp_path: Path, engine: str) -> None:
    (tmp_path / "chain.efg").write_text(chain(2000))
    result = run("solve", "chain.efg", "--iterations", "20", "--engine", engine, "--json")
    assert result.code == 0
    answer = json.loads(result.out, parse_constant=no_constant)
    assert 0 < answer["exploitability"] < 1


def test_a_chain_too_deep_for_the_recursion_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "chain.efg").write_text(chain(2000))
    result = run("solve", "chain.efg", "--engine", "reference", "--iterations", "2", "--json")
    assert (result.code, result.out) == (1, "")
    assert "2,000 moves deep" in result.err


@pytest.mark.parametrize("payoff", ["1e21", "1e300"])
def test_payoffs_whose_sums_overflow_are_refused(run: Run, tmp_path: Path, payoff: str) -> None:
    (tmp_path / "chain.efg").write_text(chain(3, payoff=payoff))
    result = run("solve", "chain.efg", "--iterations", "20", "--json")
    assert (result.code, result.out) == (1, "")
    assert "overflow" in result.err


def test_json_has_no_nan() -> None:
    assert json.loads(strict_json({"a": (math.nan, [math.inf, 1.0]), "b": {"c": -math.inf}})) == {
        "a": [None, [None, 1.0]],
        "b": {"c": None},
    }


def test_every_command_prints_json_in_one_way() -> None:
    modules = Path(regretless.cli.__file__).parent.rglob("*.py")
    writers = [module.name for module in modules if "json.dump" in module.read_text(encoding="utf-8")]
    assert writers == ["json_output.py"]
