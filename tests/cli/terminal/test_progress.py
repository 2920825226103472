"""The progress bar of a solve: in the unit of its target, and no wider than the terminal."""

from __future__ import annotations

import pytest

from regretless.cli.terminal import progress as bars
from regretless.solving.forecast import Outlook
from regretless.solving.loop import Progress

SOLVING = Progress(12_345, 1_000_000, 3725.0, 0.851234)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (200, "12,345 iterations · 0.851 % of pot, target 0.3 % · 1 h 2 min · 21 min left"),
        (100, "12,345 iterations · 0.851 % of pot, target 0.3 % · 21 min left"),
        (80, "0.851 % of pot, target 0.3 % · 21 min left"),
        (60, "0.851 % of pot, target 0.3 %"),
    ],
)
def test_text_that_does_not_fit_is_dropped(
    columns: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def console() -> object:
        made = for_people()
        made.width = columns
        return made

    for_people = bars.for_people
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(bars, "for_people", console)
    monkeypatch.setattr("regretless.solving.forecast.Forecast.read", lambda self, progress: Outlook(0.5, 1250.0))
    with bars.solve_bar("a spot with a long [bold] name", 0.3, unit="% of pot") as report:
        report(SOLVING)
    lines = [plain(line) for line in capsys.readouterr().err.replace("\r", "\n").split("\n")]
    assert any(line.startswith("a spot with") and line.endswith(f" 50 % {said}") for line in lines)
    assert max(map(len, lines)) <= columns


def plain(line: str) -> str:
    import re

    return re.sub("\x1b\\[[0-9;?]*[a-zA-Z]", "", line).rstrip()


def test_a_game_names_its_exploitability_and_its_limit() -> None:
    texts = bars._texts(Progress(30, 400, 2.0, 0.0123), Outlook(0.1, None), None, "")
    assert texts[0] == "30 of 400 iterations · exploitability 0.0123 · 2.0 s"
    assert texts[-1] == "30 of 400 iterations"
