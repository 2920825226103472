"""A flop of a whole game, solved on its own: read from the folder beside the game, or solved and saved there."""

from __future__ import annotations

from pathlib import Path

from regretless.cli.terminal.progress import bar
from regretless.errors import InvalidOption
from regretless.files.state import check_state_folder
from regretless.holdem.games.game_spots import flop_line, saved_spot
from regretless.holdem.games.pricing import PricedSolution
from regretless.holdem.solution import SpotSolution
from regretless.solving.loop import Progress

__all__ = ["resolved"]


def resolved(
    solution: PricedSolution, file: Path, line: str, cards: tuple[int, ...], *, solve: bool, safe: bool
) -> tuple[SpotSolution, str, tuple[int, ...]] | None:
    """The solution of the flop on a line, with the rest of the line and of the cards that it omits.

    If `safe`, it is solved safely. Without `solve`, only where the game itself knows no strategy and the flop was
    solved before; else None.
    """
    divided = flop_line(solution.rules, line, cards)
    if divided is None:
        if solve:
            reason = "leads to no flop that could be solved: name one, such as 'raise 2, call, Ks 7d 2c'"
            raise InvalidOption("line", line, reason)
        return None
    if not solve and solution.covers(divided.flop):
        return None
    spot, folder = solution.spot_at(divided.line, divided.flop), file.parent / f"{file.stem}.flops"
    check_state_folder(folder, file.parent)
    if not solve:
        saved = saved_spot(spot, folder)
        return None if saved is None else (saved, divided.then, divided.cards)
    with bar(spot.name) as update:

        def report(progress: Progress) -> None:
            update(0.0, f"{progress.iteration:,} iterations")

        found = solution.resolve(divided.line, divided.flop, safe=safe, folder=folder, report=report)
        return found, divided.then, divided.cards
