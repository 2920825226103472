"""The strategy of a game as CSV, JSON or Parquet, and ranges of hold'em as text.

A solved or trained game has a row per information set and action; a decision of hold'em from the deal has a row per
hand; ranges have a row per line and action.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO

from regretless.cli.terminal.consoles import note
from regretless.cli.terminal.json_output import strict_json
from regretless.files.atomic import replace_file
from regretless.forms.history import Strategy
from regretless.holdem.exports import DECIMALS, ActionRange, action_ranges, hand_rows
from regretless.holdem.reading.columns import pyarrow
from regretless.holdem.reading.line_reader import NodeStrategy
from regretless.holdem.reading.nodes import NodeView
from regretless.printable import printable
from regretless.solving.game_solution import GameSolution

__all__ = ["RANGE_FORMATS", "export_game", "export_line", "export_ranges"]

COLUMNS = ("information_set", "action", "probability")
RANGE_FORMATS = ("txt", "csv", "json", "parquet")


def export_game(solution: GameSolution, kind: str, out: Path | None) -> None:
    """Write the whole strategy to a file, or to stdout."""
    strategy = solution.strategy
    _export(_rows(strategy), strategy, kind, out, f"{len(strategy):,} information sets")


def export_line(node: NodeStrategy, kind: str, out: Path | None) -> None:
    """Write what a player does with each hand at the end of a line."""
    _export(hand_rows(node), node.as_json(), kind, out, f"{len(node.hand):,} hands")


def export_ranges(nodes: Sequence[NodeStrategy | NodeView], text_format: str, kind: str, out: Path | None) -> None:
    """Write the range of each action at these nodes, as text that other programs read."""
    ranges = action_ranges(nodes)
    rows = [_range_row(each, text_format) for each in ranges]
    _export(rows, rows, kind, out, f"{len(rows):,} ranges", text=_range_text(rows))


def _range_row(each: ActionRange, text_format: str) -> dict[str, object]:
    return {
        "line": each.line,
        "player": each.player,
        "action": each.action,
        "frequency": None if math.isnan(each.frequency) else each.frequency,
        "combos": round(each.hands.combos, DECIMALS),
        "range": each.hands.to_text(text_format),
    }


def _range_text(rows: Sequence[dict[str, object]]) -> str:
    """Ranges to copy from: a heading per node, then a line per action."""
    lines: list[str] = []
    for number, row in enumerate(rows):
        if number == 0 or (row["line"], row["player"]) != (rows[number - 1]["line"], rows[number - 1]["player"]):
            if lines:
                lines.append("")
            lines.append(f"# {row['line'] or 'the first decision'}: {row['player']} acts")
        lines.append(f"{row['action']}: {row['range']}")
    return "".join(f"{line}\n" for line in lines)


def _export(
    rows: Iterable[dict[str, object]], content: object, kind: str, out: Path | None, count: str, text: str = ""
) -> None:
    """Write rows (CSV, Parquet), content (JSON) or a text to a file, or to stdout; `count` says how much it is.

    A game's labels may contain anything. A file gets them as they are; stdout may be a terminal, which would act on
    escape sequences in them, so there they are escaped as wherever else they are printed (JSON escapes them itself).
    """
    if out is None:
        _write(map(_printable_row, rows), content, kind, sys.stdout, printable(text, lines=True))
        return
    with replace_file(out) as temporary:
        if kind == "parquet":
            arrow, parquet = pyarrow()
            parquet.write_table(arrow.Table.from_pylist(list(rows)), temporary)
        else:
            with open(temporary, "w", encoding="utf-8", newline="") as stream:
                _write(rows, content, kind, stream, text)
    note(f"saved {count} to {out}")


def _printable_row(row: dict[str, object]) -> dict[str, object]:
    return {name: printable(value) if isinstance(value, str) else value for name, value in row.items()}


def _write(rows: Iterable[dict[str, object]], content: object, kind: str, target: IO[str], text: str) -> None:
    if kind == "txt":
        target.write(text)
    elif kind == "json":
        target.write(strict_json(content) + "\n")
    else:
        rows = iter(rows)
        first = next(rows, dict.fromkeys(COLUMNS))
        writer = csv.DictWriter(target, list(first))
        writer.writeheader()
        writer.writerows(chain([first], rows))


def _rows(strategy: Strategy) -> Iterator[dict[str, object]]:
    for key, mix in strategy.items():
        for action, probability in mix.items():
            yield {"information_set": key, "action": action, "probability": probability}
