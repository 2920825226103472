"""Nodes of a solved spot as CSV, JSON and Parquet: one node, the decisions of a street, or all of them.

One node is a row a hand, with a column for each action. Several nodes are a row for each hand and action, the same
columns everywhere, written node by node so that a whole tree need not fit in memory. Deals that play alike are
written once, under the cards that were solved.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any

from regretless.cards.deck import board_text
from regretless.errors import InvalidOption, MissingExtra
from regretless.forms.public import Kind
from regretless.postflop.nodes import NodeView
from regretless.postflop.reading import Place, SpotReader
from regretless.postflop.solution import SpotSolution

__all__ = ["FORMATS", "decisions", "long_rows", "wide_rows", "write_nodes"]

FORMATS = ("csv", "json", "parquet")
COLUMNS = (
    "line",
    "board",
    "pot",
    "player",
    "hand",
    "weight",
    "equity",
    "ev",
    "eqr",
    "action",
    "frequency",
    "action_ev",
)


def decisions(solution: SpotSolution, street: str | None = None) -> Iterator[NodeView]:
    """Every decision of a solved spot, or those of one street, each deal that was solved."""
    if street is not None and street not in solution.spot.streets:
        raise InvalidOption("street", street, f"is not one of {', '.join(solution.spot.streets)}")
    reader = solution.reader
    last = len(solution.spot.streets) - 1 if street is None else solution.spot.streets.index(street)
    waiting: list[Place] = [reader.root]
    while waiting:
        place = waiting.pop()
        kind = reader.form.tree.kind[place.node]
        wanted = street is None or place.deal.street == last
        if kind == Kind.DECISION and wanted:
            yield reader.view(place)
        if kind == Kind.DECISION or (kind == Kind.CHANCE and place.deal.street < last):
            waiting += reversed(list(_children(reader, place)))


def _children(reader: SpotReader, place: Place) -> Iterator[Place]:
    """The places one step further, of deals that play alike the first."""
    seen = set()
    for child in reader.children(place):
        key = child.node, child.deal.runout
        if key not in seen:
            seen.add(key)
            yield child


def wide_rows(view: NodeView) -> list[dict[str, Any]]:
    """A row a hand, both players; the one who acts has a column for each action and its EV."""
    rows = []
    for player in ("oop", "ip"):
        for row in view.rows(player):
            played, worth = row.pop("strategy", {}), row.pop("action_ev", {})
            row = {"player": player, **row}
            for action in view.actions:
                row[action] = played.get(action)
                row[f"ev of {action}"] = worth.get(action)
            rows.append(row)
    return rows


def long_rows(view: NodeView) -> list[dict[str, Any]]:
    """A row for each hand of the player who acts and each action."""
    assert view.player is not None
    where = {"line": view.line, "board": board_text(view.board), "pot": view.pot, "player": view.player}
    return [
        {**where, **row, "action": action, "frequency": played[action], "action_ev": worth[action]}
        for row in view.rows(view.player)
        for played, worth in [(row.pop("strategy"), row.pop("action_ev"))]
        for action in view.actions
    ]


def write_nodes(views: Iterable[NodeView], kind: str, target: IO[str] | Path, *, wide: bool) -> int:
    """Write nodes to an open text file, or to the path of a Parquet file; how many there were."""
    count = 0
    if kind == "json":
        assert not isinstance(target, Path)
        if wide:
            json.dump(next(iter(views)).as_json(), target)
            count = 1
        else:
            target.write('{"nodes": [')
            for count, view in enumerate(views, 1):
                target.write(",\n" if count > 1 else "\n")
                json.dump(view.as_json(), target)
            target.write("\n]}")
        target.write("\n")
        return count
    tables = ((wide_rows if wide else long_rows)(view) for view in views)
    if kind == "parquet":
        assert isinstance(target, Path)
        return _write_parquet(tables, target)
    assert not isinstance(target, Path)
    for count, rows in enumerate(tables, 1):
        if count == 1:
            writer = csv.DictWriter(target, list(rows[0]) if rows else list(COLUMNS))
            writer.writeheader()
        writer.writerows(rows)
    return count


def _write_parquet(tables: Iterator[list[dict[str, Any]]], path: Path) -> int:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("pyarrow", "report") from None
    first = next(tables, [])
    texts = {"line", "board", "player", "hand", "action"}
    names = list(first[0]) if first else list(COLUMNS)
    schema = arrow.schema([(name, arrow.string() if name in texts else arrow.float64()) for name in names])
    count = 0
    with parquet.ParquetWriter(path, schema) as writer:
        for rows in chain([first], tables):
            writer.write_table(arrow.Table.from_pylist(rows, schema=schema))
            count += 1
    return count
