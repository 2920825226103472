"""Nodes of a solved spot as CSV, JSON and Parquet: one node, the decisions of a street, or all of them.

One node has a row per hand, with columns for each action. Several nodes have a row per hand and action, with the same
columns everywhere, written node by node so that a whole tree need not fit in memory. Every deal is written, also those
that the solve treated as equivalent to another, so that a mean over rows weights each of them.

`reading.columns` says what each column means. That is written into JSON and Parquet files; CSV has no place for it. A
mean over hands, as printed by `show`, is Σ weight · matchups · x / Σ weight · matchups.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

from regretless.cards.deck import board_text
from regretless.cards.hands import HAND_COUNT, hand_text
from regretless.cards.ranges import Range
from regretless.errors import InvalidOption
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import NodeKind
from regretless.holdem.reading.columns import DEFINITIONS, arrow_schema, pyarrow
from regretless.holdem.reading.line_reader import LineNode, LineReader, NodeStrategy
from regretless.holdem.reading.nodes import NodeView
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot_fields import PLAYERS, PlayerName

__all__ = [
    "DECIMALS", "FORMATS", "ActionRange", "ExportSize", "action_ranges", "decisions", "export_size", "hand_rows",
    "long_rows", "ranges_at", "write_nodes",
]  # fmt: skip

FORMATS = ("csv", "json", "parquet")

DECIMALS = 3  # of a weight in a range's text


def decisions(solution: SpotSolution, street: str | None = None) -> Iterator[NodeView]:
    """Every decision of a solved spot, or those of one street, after each deal."""
    _check_street(solution, street)
    reader = solution.reader
    last = len(solution.spot.streets) - 1 if street is None else solution.spot.streets.index(street)
    waiting: list[LineNode] = [reader.root]
    while waiting:
        node = waiting.pop()
        kind = reader.form.tree.kind[node.index]
        exported = street is None or node.deal.street == last
        if kind == NodeKind.DECISION and exported:
            yield reader.view(node)
        if kind == NodeKind.DECISION or (kind == NodeKind.CHANCE and node.deal.street < last):
            waiting += reversed(list(reader.children(node)))


def _check_street(solution: SpotSolution, street: str | None) -> None:
    if street is not None and street not in solution.spot.streets:
        raise InvalidOption("street", street, f"is not one of {', '.join(solution.spot.streets)}")


@dataclass(frozen=True)
class ExportSize:
    """The size of an export, known before it begins."""

    nodes: int
    rows: int  # of a table: one per action and hand of the acting player
    bytes: int  # approximate, measured on one node of each street


def export_size(solution: SpotSolution, kind: str, street: str | None = None) -> ExportSize:
    """The size of the export of a street, or of every decision."""
    _check_street(solution, street)
    form, streets = solution.reader.form, solution.spot.streets
    tree = form.tree
    nodes = rows = 0
    total = 0.0
    deals = np.ones(1, dtype=np.int64)  # equivalent deals that each runout of the street stands for
    for number, name in enumerate(streets):
        if number > 0:
            deals = deals[form.streets[number].parent] * np.diff(form.streets[number].first_copy)
        if street not in (None, name):
            continue
        deciding = np.flatnonzero((tree.kind == NodeKind.DECISION) & (tree.street == number))
        actions = tree.first_child[deciding + 1] - tree.first_child[deciding]
        hands = [int(deals @ (~dead).sum(axis=1)) for dead in form.streets[number].dead]  # live ones, over all deals
        street_rows = sum(
            hands[player] * count
            for player, count in zip(tree.player[deciding].tolist(), actions.tolist(), strict=True)
        )
        nodes += len(deciding) * int(deals.sum())
        rows += street_rows
        sample = next(decisions(solution, name), None)
        if sample is not None:
            total += _bytes_written(sample, kind) * street_rows / max(sample.strategy.size, 1)
    return ExportSize(nodes, rows, round(total))


def _bytes_written(view: NodeView, kind: str) -> int:
    """Bytes that a node takes in a file of several."""
    if kind == "parquet":
        arrow, parquet = pyarrow()
        table = arrow.Table.from_pylist(long_rows(view), schema=arrow_schema(arrow, list(DEFINITIONS)))

        def size(nodes: int) -> int:
            sink = arrow.BufferOutputStream()
            with parquet.ParquetWriter(sink, table.schema) as writer:
                for _ in range(nodes):
                    writer.write_table(table)
            return int(sink.getvalue().size)

        return size(2) - size(1)  # without what a file contains only once
    text = io.StringIO()
    if kind == "json":
        json.dump(view.as_json(), text)
    else:
        csv.DictWriter(text, list(DEFINITIONS)).writerows(long_rows(view))
    return text.tell()


def long_rows(view: NodeView) -> list[dict[str, Any]]:
    """A row per action and hand of the acting player, with the columns of `DEFINITIONS`."""
    assert view.player is not None
    node = {"line": view.line, "board": board_text(view.board), "pot": view.pot, "player": view.player}
    rows = []
    for hand in view.rows(view.player):
        strategy, action_ev = hand.pop("strategy"), hand.pop("action_ev")
        for action in view.actions:
            numbers = {"action": action, "frequency": strategy[action], "action_ev": action_ev[action]}
            rows.append({**node, **hand, **numbers})
    return rows


def write_nodes(
    views: Iterable[NodeView], kind: str, target: IO[str] | Path, *, wide: bool, player: PlayerName | None = None
) -> int:
    """Write nodes to an open text file, or to the path of a Parquet file; returns how many there were.

    `wide`: one node, with a row per hand. `player` omits the other player's hands and, of several nodes, those where
    the other acts.
    """
    if player is not None and not wide:
        views = (view for view in views if view.player == player)
    if kind == "json":
        assert not isinstance(target, Path)
        return _write_json(views, target, wide=wide, player=player)
    tables = (view.wide_rows(player) if wide else long_rows(view) for view in views)
    if kind == "parquet":
        assert isinstance(target, Path)
        return _write_parquet(tables, target)
    assert not isinstance(target, Path)
    return _write_csv(tables, target, wide=wide)


def _write_json(views: Iterable[NodeView], target: IO[str], *, wide: bool, player: PlayerName | None) -> int:
    count = 0
    if wide:
        json.dump({**next(iter(views)).as_json(player=player), "definitions": dict(DEFINITIONS)}, target)
        count = 1
    else:
        target.write(f'{{"definitions": {json.dumps(dict(DEFINITIONS))}, "nodes": [')
        for count, view in enumerate(views, 1):
            target.write(",\n" if count > 1 else "\n")
            json.dump(view.as_json(player=player), target)
        target.write("\n]}")
    target.write("\n")
    return count


def _write_csv(tables: Iterable[list[dict[str, Any]]], target: IO[str], *, wide: bool) -> int:
    count = 0
    for count, rows in enumerate(tables, 1):
        if count == 1:
            writer = csv.DictWriter(target, list(rows[0]) if wide and rows else list(DEFINITIONS))
            writer.writeheader()
        writer.writerows(rows)
    return count


def _write_parquet(tables: Iterator[list[dict[str, Any]]], path: Path) -> int:
    arrow, parquet = pyarrow()
    first = next(tables, [])
    schema = arrow_schema(arrow, list(first[0]) if first else list(DEFINITIONS))
    count = 0
    with parquet.ParquetWriter(path, schema) as writer:
        for rows in chain([first], tables):
            writer.write_table(arrow.Table.from_pylist(rows, schema=schema))
            count += 1
    return count


@dataclass(frozen=True)
class ActionRange:
    """The hands that take one action."""

    line: str
    player: PlayerName
    action: str  # "": the whole range at the node
    frequency: float  # how often the action is taken, over the whole range; NaN if no hand reaches the node
    hands: Range


def action_ranges(nodes: Iterable[NodeStrategy | NodeView]) -> list[ActionRange]:
    """The range of every action at each of these decisions."""
    ranges = []
    for node in nodes:
        assert node.player is not None
        if isinstance(node, NodeView):
            hand, reach = node.acting.hand, node.acting.weight
        else:
            hand, reach = node.hand, node.reach
        for action, frequency, shares in zip(node.actions, node.frequencies, node.strategy, strict=True):
            ranges.append(ActionRange(node.line, node.player, action, frequency, _range(hand, reach * shares)))
    return ranges


def ranges_at(reader: LineReader, node: LineNode) -> list[ActionRange]:
    """Both players' whole ranges at a node and, if somebody acts there, the range of every action."""
    line = ", ".join(node.steps)
    ranges = []
    for player in (1, 0):  # out of position first
        hands, solved = reader.solved_hands(player, node.deal)
        ranges.append(ActionRange(line, PLAYERS[player], "", 1.0, _range(hands, node.reach[player][solved])))
    acts = reader.tree.kind[node.index] == NodeKind.DECISION
    return ranges + (action_ranges([reader.played(node)]) if acts else [])


def _range(hands: IntArray, weight: FloatArray) -> Range:
    """The range of these hands, with rounded weights."""
    weights = np.zeros(HAND_COUNT)
    weights[hands] = np.clip(weight, 0.0, 1.0).round(DECIMALS)
    return Range(weights)


def hand_rows(played: NodeStrategy) -> list[dict[str, Any]]:
    """A row per hand: its weight in the range here, the opposing hands it can face, and each action's probability."""
    columns = zip(played.hand, played.reach, played.weight, played.strategy.T, strict=True)
    return [
        {
            "line": played.line,
            "player": played.player,
            "hand": hand_text(int(hand)),
            "weight": float(reach),
            "matchups": float(weight / reach) if reach > 0 else 0.0,
            **dict(zip(played.actions, row.tolist(), strict=True)),
        }
        for hand, reach, weight, row in columns
    ]
