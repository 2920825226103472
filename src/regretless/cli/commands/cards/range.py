"""`regretless range`: what a range contains, as text and as a 13 × 13 grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from rich.text import Text

from regretless.cli.arguments.options import Json, argument, option
from regretless.cli.terminal.consoles import for_answers, has_color
from regretless.cli.terminal.json_output import print_json
from regretless.colors import blend

if TYPE_CHECKING:
    from regretless.cards.ranges import Range

__all__ = ["range_"]

EMPTY, FULL = "#3a3f46", "#f2b134"


def range_(
    text: Annotated[list[str], argument("A range, such as [cyan]'22+, A2s+, KQo:0.5'[/cyan].", "RANGE")],
    format: Annotated[
        str | None,
        option(
            "Print only the text: [cyan]short[/cyan], [cyan]gto+[/cyan] for GTO+ and Flopzilla, or "
            "[cyan]weights[/cyan], 1,326 numbers in PioSOLVER's order."
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Read a range: its shortest text, its number of combos, and its 13 × 13 grid.

    Suited hands are above the diagonal, offsuit hands below it. Where terms overlap, the later one wins, and a warning
    names the hands whose weights change.

    \b
    [cyan]regretless range '22+, A2s+, KTs+, QJs, AJo+:0.5'[/cyan]
    [cyan]regretless range 76s+[/cyan]   76s, 87s … AKs
    [cyan]regretless range 'JTs-65s, AhKh, AXs:50%'[/cyan]
    [cyan]regretless range 'QQ+, AKs:0.5' --format gto+[/cyan]   AA-QQ,\\[50.0]AKs\\[/50.0]
    """
    from regretless.cards.hands import HAND_COUNT
    from regretless.cards.ranges import Range

    hands = Range.parse(" ".join(text))
    written = hands.to_text(format or "short")
    if json_:
        answer = {
            "range": written,
            "combos": hands.combos,
            "share": hands.combos / HAND_COUNT,
            "grid": hands.grid().tolist(),
        }
        print_json(answer)
        return
    if format is not None:
        print(written)
        return
    console = for_answers()
    console.print(Text(written or "(no hand)", style="bold"))
    console.print(f"{hands.combos:g} combos, {hands.combos / HAND_COUNT:.1%} of all hands\n")
    for line in _grid(hands, color=has_color(console)):
        console.print(line, no_wrap=True)


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
                shown = name if weight == 1 else "·" if weight == 0 else f"{max(round(weight * 100), 1)}%"
                line.append(f"{shown:<5}")
        lines.append(line)
    return lines
