"""Options that `show`, `export` and `compare` share: where to look in a spot, whose hands, and which of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from regretless.errors import InvalidOption

if TYPE_CHECKING:
    from regretless.cards.ranges import Range
    from regretless.holdem.spots.spot import PlayerName

__all__ = ["SPOTS", "Board", "Line", "Player", "one_range", "read_cards", "read_player"]

SPOTS = "Hold'em spots"

Line = Annotated[
    str | None,
    typer.Option(
        "--line",
        "--node",
        metavar="LINE",
        show_default="the first decision",
        rich_help_panel=SPOTS,
        help="The node, as a line of play: [cyan]'check, bet 94, call, Th'[/cyan].",
    ),
]
Board = Annotated[
    str | None,
    typer.Option(
        metavar="CARDS",
        show_default="the first that can be dealt",
        rich_help_panel=SPOTS,
        help="Cards that the line leaves out, in order: [cyan]'Th 2c'[/cyan]; the spot's own board may come first.",
    ),
]
Player = Annotated[
    str | None,
    typer.Option(
        metavar="oop|ip", show_default="the player to act", rich_help_panel=SPOTS, help="Whose hands to show."
    ),
]


def read_cards(text: str | None) -> tuple[int, ...]:
    """The cards of --board.

    >>> read_cards("Th 2c"), read_cards(None)
    ((34, 0), ())
    """
    from regretless.cards.deck import parse_board

    return () if text is None else parse_board(text)


def read_player(text: str | None, option: str = "player") -> PlayerName | None:
    """The player that an option names."""
    if text == "oop":
        return "oop"
    if text == "ip":
        return "ip"
    if text is None:
        return None
    raise InvalidOption(option, text, "is neither oop nor ip")


def one_range(text: str | None) -> Range | None:
    """The hands that --hands keeps; None: all of them."""
    from regretless.cards.ranges import Range

    if text is None or not text.strip():
        return None
    return Range.parse(text, "hands")
