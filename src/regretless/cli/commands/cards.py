"""Commands about cards alone.

`regretless range`: what a range contains, as text and as a 13 × 13 grid. `regretless equity`: the share of the pot that
a range wins against another once all cards are dealt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from rich.console import Console
from rich.text import Text

from regretless.cli.arguments.options import Json, argument, option
from regretless.cli.terminal.consoles import for_answers, has_color, plain_table
from regretless.cli.terminal.json_output import print_json
from regretless.colors import blend
from regretless.errors import InvalidOption, MissingOption

if TYPE_CHECKING:
    from regretless.cards.ranges import Range

__all__ = ["equity", "range_"]

EMPTY, FULL = "#3a3f46", "#f2b134"


def range_(
    text: Annotated[
        list[str] | None,
        argument("A range, such as [cyan]'22+, A2s+, KQo:0.5'[/cyan]; not needed with --chart.", "RANGE"),
    ] = None,
    chart: Annotated[
        str | None,
        option("Instead, the ranges of a shipped heads-up chart: [cyan]10bb[/cyan], [cyan]20bb[/cyan], … 100bb."),
    ] = None,
    line: Annotated[
        str | None,
        option("With --chart: after which actions, as [cyan]'raise 2, call'[/cyan].", default="the first decision"),
    ] = None,
    format: Annotated[
        str | None,
        option(
            "Print only the text: [cyan]short[/cyan], [cyan]gto+[/cyan] for GTO+ and Flopzilla, or "
            "[cyan]weights[/cyan], 1,326 numbers in PioSOLVER's order."
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Read a range, or those of a chart: its shortest text, its number of combos, and its 13 × 13 grid.

    Suited hands are above the diagonal, offsuit hands below it. Where terms overlap, the later one wins, and a warning
    names the hands whose weights change.

    \b
    [cyan]regretless range '22+, A2s+, KTs+, QJs, AJo+:0.5'[/cyan]
    [cyan]regretless range 76s+[/cyan]   76s, 87s … AKs
    [cyan]regretless range 'JTs-65s, AhKh, AXs:50%'[/cyan]
    [cyan]regretless range 'QQ+, AKs:0.5' --format gto+[/cyan]   AA-QQ,\\[50.0]AKs\\[/50.0]
    [cyan]regretless range --chart 20bb --line 'raise 2'[/cyan]   what the big blind does
    [cyan]regretless range --chart 20bb --line 'raise 2, call'[/cyan]   the ranges that see the flop
    """
    from regretless.cards.ranges import Range

    if chart is None:
        if line is not None:
            raise InvalidOption("line", line, "is a line of a chart: add --chart")
        if not text:
            raise MissingOption("range", "give one, such as '22+, A2s+', or a --chart")
        _print_one(Range.parse(" ".join(text)), format, json_)
        return
    if text:
        raise InvalidOption("range", " ".join(text), "cannot be combined with --chart")
    _print_chart(chart, line or "", format, json_)


def _print_one(hands: Range, format: str | None, json_: bool) -> None:
    if json_:
        print_json(_as_json(hands, format))
    elif format is not None:
        print(hands.to_text(format))
    else:
        _print_range(for_answers(), hands)


def _print_chart(key: str, line: str, format: str | None, json_: bool) -> None:
    """The ranges of the actions after a line of a chart, or those that see the flop."""
    from regretless.holdem.games.charts import chart

    shown = chart(key)
    ranges = shown.ranges(line)
    if json_:
        figures = ("exploitability_mbb", "flops", "price_mbb", "priced_flops")
        result = {"chart": key, "line": line} | {name: getattr(shown, name) for name in figures}
        print_json(result | {"ranges": {name: _as_json(hands, format) for name, hands in ranges.items()}})
        return
    if format is not None:
        for name, hands in ranges.items():
            print(f"{name}\t{hands.to_text(format)}")
        return
    console = for_answers()
    console.print(
        f"heads-up with {shown.game.big_blinds:g} big blinds, {line or 'the first decision'}\n"
        f"{shown.exploitability_mbb:g} mbb/g exploitable on the {shown.flops} flops it was solved on, "
        f"{shown.price_mbb:g} on {shown.priced_flops} others\n",
        style="dim",
        highlight=False,
    )
    for name, hands in ranges.items():
        console.print(Text(name, style="bold underline"))
        _print_range(console, hands)


def _as_json(hands: Range, format: str | None) -> dict[str, Any]:
    from regretless.cards.hands import HAND_COUNT

    return {
        "range": hands.to_text(format or "short"),
        "combos": hands.combos,
        "share": hands.combos / HAND_COUNT,
        "grid": hands.grid().tolist(),
    }


def _print_range(console: Console, hands: Range) -> None:
    from regretless.cards.hands import HAND_COUNT

    console.print(Text(str(hands) or "(no hand)", style="bold"))
    console.print(f"{hands.combos:g} combos, {hands.combos / HAND_COUNT:.1%} of all hands\n")
    for row in _grid(hands, color=has_color(console)):
        console.print(row, no_wrap=True)


def _grid(hands: Range, *, color: bool) -> list[Text]:
    """A row per rank; a cell shows its hands, and their mean weight as brightness (without colour, in percent)."""
    from regretless.cards.hands import CLASS_NAMES

    lines = []
    for row, weights in enumerate(hands.grid().tolist()):
        line = Text()
        for column, weight in enumerate(weights):
            name = CLASS_NAMES[13 * row + column]
            if color:
                back = blend(EMPTY, FULL, weight**0.5) if weight else EMPTY
                line.append(f" {name:<3} ", style=f"{'#14181c' if weight > 0.2 else '#8d959e'} on {back}")
            else:
                line.append(f"{_plain_cell(name, weight):<5}")
        lines.append(line)
    return lines


def _plain_cell(name: str, weight: float) -> str:
    """A cell without colour: the hands, a dot if none of them is in the range, or their mean weight."""
    if weight == 1:
        return name
    return "·" if weight == 0 else f"{max(round(weight * 100), 1)}%"


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
    from regretless.cli.views.spot_view import cards_text

    if seed is not None and samples is None:
        raise InvalidOption("seed", seed, "is for sampled deals: add --samples")
    ranges = Range.parse(first, "first range"), Range.parse(second, "second range")
    cards = parse_board(board)
    result = equity_of(*ranges, cards, samples=samples, seed=seed or 0)
    if json_:
        fields = {
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
        print_json(fields)
        return
    console = for_answers()
    table = plain_table(gap=3)
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
        console.print(Text("board ", style="dim").append_text(cards_text(cards)))
    console.print(table)
    if result.method == "exact":
        how = f"exact, {result.boards:,} boards enumerated"
    else:
        how = f"{result.boards:,} deals sampled, standard error {result.standard_error:.3%}"
    console.print(how, style="dim")
