"""`regretless equity`: the share of the pot that a range wins against another once all cards are dealt."""

from __future__ import annotations

from typing import Annotated

from rich.table import Table
from rich.text import Text

from regretless.cli.arguments.options import Json, argument, option
from regretless.cli.terminal.consoles import for_answers
from regretless.cli.terminal.json_output import print_json
from regretless.colors import SUIT_COLORS
from regretless.errors import InvalidOption

__all__ = ["equity"]


def equity(
    first: Annotated[str, argument("A range, such as [cyan]AhKh[/cyan].")],
    second: Annotated[str, argument("Another, such as [cyan]'QQ+, AQs'[/cyan].")],
    board: Annotated[
        str, option("Cards on the table: none, 3, 4 or 5, as [cyan]'Qs Jh 2h'[/cyan].", default="no cards")
    ] = "",
    samples: Annotated[
        int | None, option("Sample this many deals instead of enumerating all.", default="exact")
    ] = None,
    seed: Annotated[int | None, option("Random seed, with --samples.", default="0")] = None,
    json_: Json = False,
) -> None:
    """Equity of two ranges: the share of the pot each wins, ties split, card conflicts removed.

    \b
    [cyan]regretless equity AA KK[/cyan]
    [cyan]regretless equity AhKh 'QQ+, AQs' --board 'Qs Jh 2h'[/cyan]
    [cyan]regretless equity '22+, A2s+' 100% --samples 1000000[/cyan]
    """
    from regretless.cards.deck import board_text, parse_board
    from regretless.cards.equity import equity as equity_of
    from regretless.cards.ranges import Range

    if seed is not None and samples is None:
        raise InvalidOption("seed", seed, "is for sampled deals: add --samples")
    ranges = Range.parse(first, "first range"), Range.parse(second, "second range")
    cards = parse_board(board)
    result = equity_of(*ranges, cards, samples=samples, seed=seed or 0)
    if json_:
        answer = {
            "ranges": [str(hands) for hands in ranges],
            "board": board_text(cards),
            "equity": [result.first, result.second],
            "win": result.win,
            "tie": result.tie,
            "lose": result.lose,
            "method": result.method,
            "boards": result.boards,
            "standard_error": result.standard_error,
        }
        print_json(answer)
        return
    console = for_answers()
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 3, 0, 0))
    table.add_column("range", overflow="ellipsis", max_width=max(36, console.width - 44))
    for name in ("equity", "wins", "ties", "loses"):
        table.add_column(name, justify="right", no_wrap=True)
    for hands, share, wins, loses in (
        (ranges[0], result.first, result.win, result.lose),
        (ranges[1], result.second, result.lose, result.win),
    ):
        table.add_row(
            Text(str(hands)), Text(f"{share:.2%}", style="bold"), f"{wins:.2%}", f"{result.tie:.2%}", f"{loses:.2%}"
        )
    if cards:
        console.print(Text("board ", style="dim").append_text(_cards(board_text(cards))))
    console.print(table)
    if result.method == "exact":
        how = f"exact, {result.boards:,} boards enumerated"
    else:
        how = f"{result.boards:,} deals sampled, standard error {result.standard_error:.3%}"
    console.print(how, style="dim")


def _cards(text: str) -> Text:
    """Cards with the symbols and colours of a four-colour deck."""
    symbols = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
    cards = Text()
    for card in text.split():
        cards.append(f"{card[0]}{symbols[card[1]]} ", style=f"bold {SUIT_COLORS[card[1]]}")
    return cards
