"""The tables of a study, their columns and what each means. `VERSION` changes whenever a column does.

    summary   a row per spot, line and action
    hands     a row per spot, line, hand of the acting player and action; only with `keep.hands`
    runs      a row per spot: how it was solved. Only here do two runs of a study differ.

Each field that varies adds a column to `summary` and `runs`, named like the field with dots replaced by underscores
(`rules_rake`), unless it is `pot` or `stack`, which are columns anyway.

From a solution to the rows of the tables.
"""

from __future__ import annotations

import math
import socket
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING

from regretless.cards.deck import board_text, card_text
from regretless.forms.public import NodeKind
from regretless.forms.public_size import size_of_form
from regretless.holdem.exports import long_rows
from regretless.holdem.flops import texture_of
from regretless.holdem.reading.columns import DEFINITIONS
from regretless.holdem.reading.line_reader import LineNode
from regretless.holdem.reading.nodes import NodeView
from regretless.holdem.reading.spot_reader import SpotReader
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.lines import find_action, parse_line
from regretless.holdem.spots.spot_fields import STREETS, PlayerName
from regretless.holdem.studies.plan import ANY, Keep, StudySpot

if TYPE_CHECKING:
    from pyarrow import Schema

__all__ = ["TABLES", "VERSION", "arrow_schema", "column_of", "kept_nodes", "run_row", "spot_rows"]

VERSION = 1

_SPOT = {
    "spot": ("text", "name of the spot: its flop and, if anything varies, the number of the variation"),
    "flop": ("text", "the flop that was solved: QsJh2h"),
    "variation": ("whole", "number of the combination of varied values, from 1"),
}
_SUMMARY = {
    **_SPOT,
    "weight": ("number", "weight of the flop in means; the weights of all flops, or of a subset, sum to 22,100"),
    "flops": ("whole", "how many flops it stands for, which differ only in the names of suits"),
    "ranks": ("text", "ranks of the flop, highest first: QJ2"),
    "high": ("text", "highest rank"),
    "middle": ("text", "middle rank"),
    "low": ("text", "lowest rank"),
    "pairing": ("text", "unpaired, paired or trips"),
    "suits": ("text", "rainbow, two-tone or monotone"),
    "connectedness": ("text", "connected (three ranks in a row), gapped (a straight is possible) or disconnected"),
    "broadways": ("whole", "cards of the flop from ten to ace"),
    "texture": ("text", "suits, with pairing if the flop is paired: two-tone, paired rainbow, trips"),
    "pot": ("number", "chips in the pot at the start"),
    "stack": ("number", "chips behind at the start"),
    "rake": ("number", "share of the final pot taken as rake"),
    "rake_cap": ("number", "most chips taken as rake; empty: no cap"),
    "line": ("text", "line of play that leads to the decision, cards included; empty at the first decision"),
    "pattern": ("text", "the line with `any` for every card"),
    "street": ("text", "flop, turn or river"),
    "turn": ("text", "the turn card, if it has been dealt"),
    "river": ("text", "the river card, if it has been dealt"),
    "player": ("text", "who acts: oop or ip"),
    "place": ("whole", "number of the action at its decision, from 0; `where place = 0` leaves a row per line"),
    "action": ("text", "the action: check, bet 30, all-in 100 …"),
    "kind": ("text", "check, bet, raise, call or fold; an all-in is a bet or a raise"),
    "amount": ("number", "the player's chips on this street after a bet or raise"),
    "frequency": ("number", "how often the acting player takes the action, over the whole range, from 0 to 1"),
    "action_ev": ("number", "EV of the action over the hands that take it, in chips; empty if none does"),
    "combos": ("number", "combos that take the action"),
    "ev": ("number", "EV of the acting player in chips: won from here on, less put in from here on"),
    "equity": ("number", "equity of the acting player, from 0 to 1"),
    "eqr": ("number", "equity realised by the acting player: ev / (equity x node_pot)"),
    "oop_ev": ("number", "EV of the player out of position, in chips"),
    "ip_ev": ("number", "EV of the player in position, in chips"),
    "oop_equity": ("number", "equity of the player out of position"),
    "ip_equity": ("number", "equity of the player in position"),
    "oop_eqr": ("number", "equity realised by the player out of position"),
    "ip_eqr": ("number", "equity realised by the player in position"),
    "node_pot": ("number", "chips in the pot at the decision, this street's bets included"),
    "reach": ("number", "probability of the line, cards included, given the flop"),
    "matchups": ("number", "total weight of all pairs of hands on this flop: how often the ranges are dealt on it"),
}  # fmt: skip
_HAND_KINDS = {"locked": "flag", "line": "text", "player": "text", "hand": "text", "action": "text"}
_HANDS = {
    **_SPOT,
    **{
        name: (_HAND_KINDS.get(name, "number"), text)
        for name, text in DEFINITIONS.items()
        if name not in ("board", "pot")
    },
}
_RUNS = {
    **_SPOT,
    "iterations": ("whole", "iterations done"),
    "exploitability": ("number", "in chips: the mean of what each player gains by a best response"),
    "exploitability_pct_pot": ("number", "the same in percent of the starting pot"),
    "reason": ("text", "why the solve ended: target or iterations"),
    "entries": ("whole", "actions of hands over all decisions"),
    "seconds": ("number", "solving, including measurements"),
    "setup_seconds": ("number", "compiling the spot and the engine"),
    "total_seconds": (
        "number",
        "from start to end of the solve; of spots solved together, since the one before it ended",
    ),
    "memory_bytes": ("whole", "memory of the engine"),
    "engine": ("text", "the engine"),
    "device": ("text", "cpu or cuda"),
    "threads": ("whole", "CPU threads"),
    "storage": ("whole", "bits per stored number"),
    "host": ("text", "name of the machine"),
    "finished": ("text", "when, in UTC"),
    "summary_sha256": ("text", "digest of the spot's part of `summary`"),
    "hands_sha256": ("text", "digest of its part of `hands`; empty if not kept"),
    "solution_bytes": ("whole", "size of its .rgl file; empty if not kept"),
}
TABLES: Mapping[str, Mapping[str, tuple[str, str]]] = MappingProxyType(
    {"summary": _SUMMARY, "hands": _HANDS, "runs": _RUNS}
)

_NEXT_CARDS = {4: 45, 5: 44}  # cards that can come as the turn and the river, when both players have two


def column_of(field: str) -> str:
    """The column of a field that varies.

    >>> column_of("rules.rake")
    'rules_rake'
    """
    return field.replace(".", "_")


def arrow_schema(arrow: ModuleType, table: str, varied: Mapping[str, object], metadata: Mapping[str, str]) -> Schema:
    """The columns of a table with their types; `varied` has a value of each field that varies."""
    types = {"text": arrow.string(), "whole": arrow.int64(), "number": arrow.float64(), "flag": arrow.bool_()}
    columns: list[tuple[str, str, str]] = [(name, kind, text) for name, (kind, text) in TABLES[table].items()]
    columns += [(name, kind, "value of a field that varies") for name, kind in _extra(table, varied)]
    fields = [arrow.field(name, types[kind], metadata={"definition": text}) for name, kind, text in columns]
    return arrow.schema(fields, metadata={"schema": str(VERSION), **metadata})


def _extra(table: str, varied: Mapping[str, object]) -> Iterable[tuple[str, str]]:
    for field, value in varied.items():
        if table != "hands" and column_of(field) not in TABLES[table]:
            yield column_of(field), "text" if isinstance(value, str) else "number"


def spot_rows(
    spot: StudySpot, solution: SpotSolution, keep: Keep
) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """The rows of a spot in `summary` and `hands`."""
    reader = solution.reader
    summary: list[dict[str, object]] = []
    hands: list[dict[str, object]] = []
    root_pairs = reader.pairs(reader.root)
    common = _common(spot) | {"matchups": root_pairs}
    nodes = list(kept_nodes(reader, keep))
    reader.find_equities(nodes)
    for node in nodes:
        view = reader.view(node)
        reach = reader.pairs(node) / root_pairs
        for count in range(4, 4 + len(node.deal.cards)):
            reach /= _NEXT_CARDS[count]
        summary += _line_rows(common, view, node, reach)
        if keep.hands:
            spot_columns = {"spot": spot.id, "flop": spot.flop.text, "variation": spot.variation.number}
            hands += [{**spot_columns, **row} for row in long_rows(view)]
    return summary, hands


def run_row(spot: StudySpot, solution: SpotSolution, total_seconds: float) -> dict[str, object]:
    """The row of a spot in `runs`, without the digests of its parts."""
    record = solution.record
    return {
        "spot": spot.id,
        "flop": spot.flop.text,
        "variation": spot.variation.number,
        **_varied(spot),
        "iterations": record.iterations,
        "exploitability": solution.exploitability,
        "exploitability_pct_pot": solution.exploitability_pct_pot,
        "reason": record.reason,
        "entries": size_of_form(solution.reader.form).entries,
        "seconds": record.seconds,
        "setup_seconds": record.setup_seconds,
        "total_seconds": total_seconds,
        "memory_bytes": record.memory_bytes,
        "engine": record.engine,
        "device": record.device,
        "threads": record.threads,
        "storage": record.settings.storage,
        "host": socket.gethostname(),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def kept_nodes(reader: SpotReader, keep: Keep) -> Iterator[LineNode]:
    """The decisions that a study keeps: of the flop, down to a depth, or those of chosen lines."""
    if isinstance(keep.lines, tuple):
        seen = set()
        for line in keep.lines:
            for node in _of_line(reader, line):
                if node.steps not in seen:
                    seen.add(node.steps)
                    yield node
        return
    deepest = math.inf if keep.lines == "flop" else int(keep.lines)
    waiting = [reader.root]
    while waiting:
        node = waiting.pop()
        if reader.form.tree.kind[node.index] == NodeKind.DECISION:
            yield node
            if len(node.steps) < deepest:
                waiting += reversed(list(reader.children(node)))


def _of_line(reader: SpotReader, line: str) -> list[LineNode]:
    """Where a line leads: nowhere if it does not exist on this board, to several nodes if it has `any`."""
    nodes = [reader.root]
    for part in line.split(", ") if line else ():
        step = None if part == ANY else parse_line(part)[0]
        following = []
        for node in nodes:
            if reader.form.tree.kind[node.index] == NodeKind.CHANCE:
                cards = reader.cards(node)
                dealt = cards if step is None else [card for card in cards if card == step.card]
                following += [reader.deal(node, card) for card in dealt]
            elif step is not None and (action := find_action(step, reader.actions(node.index))) is not None:
                following.append(reader.act(node, action))
        nodes = following
    return [node for node in nodes if reader.form.tree.kind[node.index] == NodeKind.DECISION]


def _common(spot: StudySpot) -> dict[str, object]:
    """The columns that all lines of a spot share."""
    fields = spot.spot
    return {
        "spot": spot.id,
        "flop": spot.flop.text,
        "variation": spot.variation.number,
        "weight": spot.flop.weight,
        "flops": spot.flop.multiplicity,
        **asdict(texture_of(spot.flop.cards)),
        **_varied(spot),
        "pot": fields.pot,
        "stack": fields.stack,
        "rake": fields.rules.rake,
        "rake_cap": _number(fields.rules.rake_cap),
    }


def _varied(spot: StudySpot) -> dict[str, object]:
    return {column_of(field): value for field, value in spot.variation.parameters.items()}


def _line_rows(common: dict[str, object], view: NodeView, node: LineNode, reach: float) -> Iterator[dict[str, object]]:
    """A row per action at a decision."""
    assert view.player is not None
    cards = [card_text(card) for card in node.deal.cards]
    of_player = {player: _of_player(view, player) for player in ("oop", "ip")}
    node_columns = {
        **common,
        "line": view.line,
        "pattern": ", ".join(ANY if step in (*cards, board_text(node.deal.cards)) else step for step in node.steps),
        "street": STREETS[len(view.board) - 3],
        "turn": cards[0] if cards else None,
        "river": cards[1] if len(cards) > 1 else None,
        "player": view.player,
        **of_player[view.player],
        **{f"{player}_{name}": value for player, numbers in of_player.items() for name, value in numbers.items()},
        "node_pot": view.pot,
        "reach": reach,
    }
    actions = zip(view.actions, view.frequencies, view.action_means, view.action_combos, strict=True)
    for number, (action, frequency, mean, combos) in enumerate(actions):
        step = parse_line(action)[0]
        first = "check" in view.actions
        yield {
            **node_columns,
            "place": number,
            "action": action,
            "kind": ("bet" if first else "raise") if step.verb == "all-in" else step.verb,
            "amount": step.amount,
            "frequency": _number(frequency),
            "action_ev": _number(mean),
            "combos": combos,
        }


def _of_player(view: NodeView, player: PlayerName) -> dict[str, float | None]:
    ev, equity = view.ev(player), view.equity(player)
    expected = equity * view.pot
    return {
        "ev": _number(ev),
        "equity": _number(equity),
        "eqr": _number(ev / expected if expected > 0 else math.nan),
    }


def _number(value: float) -> float | None:
    """Tables have no NaN and no infinity."""
    return value if math.isfinite(value) else None
