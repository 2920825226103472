"""Progress of a solve called from Python."""

from __future__ import annotations

import re
import sys
from types import ModuleType
from typing import Any

import pytest

import regretless as rl


class Cell:
    """The output of a notebook cell: the part of IPython's `display` that progress uses."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.displays = 0

    def display(self, data: dict[str, str], *, raw: bool, display_id: bool) -> Cell:
        assert raw
        assert display_id
        self.displays += 1
        self.shown.append(data["text/plain"])
        return self

    def update(self, data: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.shown.append(data["text/plain"])


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Cell:
    found = Cell()
    shell = type("ZMQInteractiveShell", (), {})()
    ipython: Any = ModuleType("IPython")
    ipython.get_ipython = lambda: shell
    display: Any = ModuleType("IPython.display")
    display.display = found.display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return found


def test_a_notebook_shows_one_line_that_is_updated(cell: Cell, capsys: pytest.CaptureFixture[str]) -> None:
    rl.solve("kuhn", iterations=20)
    assert cell.displays == 1
    assert len(cell.shown) > 10
    assert cell.shown[-1].startswith("kuhn: 20 of 20 iterations · exploitability ")
    assert capsys.readouterr().err == ""


def test_a_spot_counts_in_percent_of_the_pot(cell: Cell) -> None:
    spot = rl.Spot.parse(
        'board = "Kh Qs Js 2c 3d"\npot = 200\nstack = 200\noop.range = "AK"\nip.range = "QQ, JT"\nbets.bet = "50%"'
    )
    solution = rl.solve(spot, iterations=5)
    assert f"exploitability {solution.exploitability_pct_pot:.3g} % of the pot" in cell.shown[-1]


def test_outside_notebooks_progress_is_shown_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    rl.solve("kuhn", iterations=20)
    assert capsys.readouterr().err == ""
    heard: list[int] = []
    rl.solve("kuhn", iterations=20, progress=True, report=lambda progress: heard.append(progress.iteration))
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("kuhn: 20 of 20 iterations · exploitability ")
    assert len(lines) == len(heard)


def test_a_notebook_can_be_told_to_be_quiet(cell: Cell) -> None:
    rl.solve("kuhn", iterations=5, progress=False)
    assert cell.shown == []


def test_a_game_that_takes_long_to_enumerate_counts_its_nodes(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regretless.forms.compile.CHECK_SECONDS", 0.001)
    monkeypatch.setattr("regretless.forms.compile.REPORT_AFTER", 0.0)
    rl.solve("leduc", iterations=1)
    assert re.fullmatch(r"leduc: [\d,]+ nodes · [\d.]+ (?:[KM]B|bytes) · 0 s", cell.shown[0])
