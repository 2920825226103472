"""A node of a solved spot as the page shows it: the line that led there, the actions, both ranges hand by hand.

Vectors over hands are lists in one order, that of `hand` beside them. Means over a range weigh a hand by its weight
times that of the opposing hands it can face, as everywhere.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from regretless.cards.categories import DRAWS, MADE, Category, hand_categories
from regretless.cards.deck import card_text
from regretless.cards.ranges import FORMATS
from regretless.forms.public import BettingTree, NodeKind
from regretless.holdem.exports import ranges_at
from regretless.holdem.reading.line_reader import LineNode, LineReader
from regretless.holdem.reading.nodes import HandTable, NodeView, RunoutReport
from regretless.holdem.reading.playing import BOARD_SIZES
from regretless.holdem.reading.spot_reader import SpotReader
from regretless.holdem.spots.lines import parse_line
from regretless.holdem.spots.spot_fields import PLAYERS, STREETS, PlayerName, stacks_behind
from regretless.page.endpoint import Routes
from regretless.page.folder import File
from regretless.page.library import Library
from regretless.page.schema import (
    Json,
    array,
    boolean,
    integer,
    nullable,
    number,
    obj,
    rounded,
    rounded_list,
    text,
)

__all__ = ["ACTION", "CHIPS", "EV_UNIT", "SEAT", "TILE", "Line", "action_list", "routes", "street_of", "strip_json"]

POINTS = 101  # of a distribution
_STREETS = ("preflop", *STREETS)
Line = Annotated[str, text('a line of play: "check, bet 40, call, Th"', longest=1000)]
SEAT = text(enum=["oop", "ip"])


def _node_json(reader: SpotReader, line: str) -> Json:
    """Everything the page shows at the end of a line."""
    path = reader.path(line)
    node = path[-1]
    view = reader.view(node)
    decides = view.kind == "decision"
    actions = action_list(reader, node)
    if decides:
        for action, frequency, ev, combos in zip(
            actions, view.frequencies, view.action_means, view.action_combos, strict=True
        ):
            action |= {"frequency": rounded(frequency), "ev": rounded(ev), "combos": rounded(combos)}
    paid = reader.form.tree.paid[node.index]
    return {
        "line": view.line,
        "board": [card_text(card) for card in view.board],
        "street": street_of(reader, node),
        "kind": view.kind,
        "player": view.player,
        "pot": view.pot,
        "stacks": view.stacks,
        "to_call": float(abs(paid[0] - paid[1])) if decides else 0.0,
        "reached": rounded(_reached(reader, node)),
        "parent": ", ".join(node.steps[:-1]) if node.steps else None,
        "strip": strip_json(reader, path, reader.spot.stack),
        "actions": actions,
        "players": {player: _player(reader, view, path, player) for player in ("oop", "ip")},
        "strategy": [rounded_list(row) for row in view.strategy] if decides else [],
        "action_ev": [rounded_list(row) for row in view.action_ev] if decides else [],
        "locked": view.locked.tolist() if view.locked.any() else None,
        "locks": _locks_at(reader, node) if decides else [],
    }


def strip_json(reader: LineReader, path: list[LineNode], stack: float, *, frequencies: bool = True) -> list[Json]:
    """A tile per street and per decision on the way; the last is where the line ends. `stack` is that at the root.

    A line from the deal begins with its first decision.
    """
    tree, pot = reader.tree, reader.tree.starting_pot
    board = [card_text(card) for card in reader.board]
    tiles: list[Json] = []
    if board:
        street = street_of(reader, path[0])
        tiles.append({"kind": "street", "street": street, "cards": board, "pot": pot, "line": ""})
    for node, after in zip(path, [*path[1:], None], strict=True):
        line, node_pot = ", ".join(node.steps), pot + float(tree.paid[node.index].sum())
        kind = NodeKind(int(tree.kind[node.index]))
        if kind == NodeKind.DECISION:
            actions = action_list(reader, node)
            if frequencies:
                for action, share in zip(actions, reader.played(node).frequencies, strict=True):
                    action["frequency"] = rounded(share)
            player = int(tree.player[node.index])
            action_taken = None if after is None else after.index - int(tree.first_child[node.index])
            tiles.append(
                {
                    "kind": "decision",
                    "line": line,
                    "player": PLAYERS[player],
                    "pot": node_pot,
                    "stack": stacks_behind(stack, tree.paid[node.index])[PLAYERS[player]],
                    "street": street_of(reader, node),
                    "taken": action_taken,
                    "actions": actions,
                }
            )
        elif kind == NodeKind.CHANCE:
            dealt = [] if after is None else [card_text(card) for card in after.deal.cards[len(node.deal.cards) :]]
            street = _STREETS[_STREETS.index(street_of(reader, node)) + 1]
            tiles.append({"kind": "street", "street": street, "cards": dealt, "pot": node_pot, "line": line})
        else:
            tiles.append({"kind": "end", "end": kind.name.lower(), "pot": node_pot, "line": line})
    return tiles


def action_list(reader: LineReader, node: LineNode) -> list[Json]:
    """The actions at a node: name, kind, chips, and the line that continues with it; without frequencies."""
    tree, index = reader.tree, node.index
    if tree.kind[index] != NodeKind.DECISION:
        return []
    player = int(tree.player[index])
    mine, theirs = float(tree.paid[index, player]), float(tree.paid[index, 1 - player])
    pot, before = tree.starting_pot + mine + theirs, _paid_before(tree, index)
    listed = []
    for child in range(int(tree.first_child[index]), int(tree.first_child[index + 1])):
        name = tree.labels[child]
        kind = name.partition(" ")[0]
        amount = share = None
        if kind in ("bet", "raise", "all-in"):
            paid = float(tree.paid[child, player])
            amount = paid - before
            if street_of(reader, node) != "preflop":  # there, sizes count blinds
                share = rounded((paid - theirs) / (pot + theirs - mine))
        listed.append(
            {
                "name": name,
                "kind": kind,
                "amount": amount,
                "pot_share": share,
                "frequency": None,
                "ev": None,
                "combos": None,
                "next": ", ".join((*node.steps, name)),
            }
        )
    return listed


def _paid_before(tree: BettingTree, index: int) -> float:
    """Chips each player had put in when the street of a betting node began; 0 at the root, where blinds are posted."""
    while tree.parent[index] >= 0 and tree.kind[tree.parent[index]] != NodeKind.CHANCE:
        index = int(tree.parent[index])
    return 0.0 if tree.parent[index] < 0 else float(tree.paid[index, 0])


def street_of(reader: LineReader, node: LineNode) -> str:
    """The street of a node.

    A deal counts streets from where the reader's own board ends.
    """
    return _STREETS[BOARD_SIZES.index(len(reader.board)) + node.deal.street]


def _reached(reader: SpotReader, node: LineNode) -> float:
    """How likely the line's actions are, given that its cards come."""
    dealt = reader.root
    for card in node.deal.cards:
        dealt = replace(reader.deal(dealt, card), index=0)
    possible = reader.pairs(dealt)
    return reader.pairs(node) / possible if possible > 0 else float("nan")


def _locks_at(reader: SpotReader, node: LineNode) -> list[int]:
    return reader.locked.applying(node.index, node.deal.runout)


# --- one player ------------------------------------------------------------------------------------------------------


def _player(reader: SpotReader, view: NodeView, path: list[LineNode], player: PlayerName) -> Json:
    table = view.hands[player]
    kinds = hand_categories(view.board)
    made, draw = kinds.made[table.hand], kinds.draw[table.hand]
    ev, equity = view.ev(player), view.equity(player)
    return {
        "ev": rounded(ev),
        "equity": rounded(equity),
        "eqr": rounded(ev / (equity * view.pot)) if equity > 1e-9 else None,
        "combos": rounded(float(table.weight.sum())),
        "stack": view.stacks[player],
        "last": _last_action(reader, path, player),
        "hands": {
            "hand": table.hand.tolist(),
            "weight": rounded_list(table.weight),
            "matchups": rounded_list(table.matchups),
            "ev": rounded_list(table.ev),
            "equity": rounded_list(table.equity),
            "eqr": rounded_list(table.eqr(view.pot)),
            "made": made.tolist(),
            "draw": draw.tolist(),
        },
        "distribution": _distribution(table),
        "made": _groups(view, player, made, MADE),
        "draws": _groups(view, player, draw, DRAWS),
    }


def _last_action(reader: SpotReader, path: list[LineNode], player: PlayerName) -> str | None:
    tree = reader.form.tree
    for node, after in zip(reversed(path[:-1]), reversed(path[1:]), strict=True):
        if tree.kind[node.index] == NodeKind.DECISION and PLAYERS[int(tree.player[node.index])] == player:
            return tree.labels[after.index]
    return None


def _groups(view: NodeView, player: PlayerName, group: NDArray[np.int8], names: tuple[Category, ...]) -> list[Json]:
    """Combos, share of the range, mix of actions, EV and equity of each category that the range has."""
    table = view.hands[player]
    weight = np.where(np.isnan(table.ev), 0.0, table.weight * table.matchups)
    total = float(weight.sum())
    mixes = view.strategy if view.kind == "decision" and view.player == player else None
    groups = []
    for index, category in enumerate(names):
        chosen = group == index
        combos, group_weight = float(table.weight[chosen].sum()), float(weight[chosen].sum())
        if combos <= 0:
            continue
        shares = weight[chosen] / group_weight if group_weight > 0 else None
        groups.append(
            {
                "key": category.key,
                "combos": rounded(combos),
                "share": rounded(group_weight / total) if total > 0 else None,
                "mix": None if mixes is None or shares is None else rounded_list(mixes[:, chosen] @ shares),
                "ev": None if shares is None else rounded(float(np.nansum(shares * table.ev[chosen]))),
                "equity": None if shares is None else rounded(float(np.nansum(shares * table.equity[chosen]))),
            }
        )
    return groups


def _distribution(table: HandTable) -> Json | None:
    """Equity and EV of the range from its weakest to its strongest hand, at 0, 1, … 100 % of its weight.

    A point is the mean of the hands within half a percent of it, so that the area under the curve is the range's mean.
    """
    weight = table.weight * table.matchups
    counts = (weight > 0) & ~np.isnan(table.equity) & ~np.isnan(table.ev)
    if not counts.any():
        return None
    edges = np.concatenate(([0.0], (np.arange(POINTS - 1) + 0.5) / (POINTS - 1), [1.0]))
    curves = {}
    for name, values in (("equity", table.equity[counts]), ("ev", table.ev[counts])):
        order = np.argsort(values, kind="stable")
        shares = weight[counts][order] / weight[counts].sum()
        share = np.concatenate(([0.0], np.cumsum(shares)))
        area = np.concatenate(([0.0], np.cumsum(shares * values[order])))
        curves[name] = rounded_list(np.diff(np.interp(edges, share, area)) / np.diff(edges))
    return curves


def _cards_json(reader: SpotReader, line: str, then: str) -> Generator[None, None, Json]:
    """What each card that can come next changes; yields after every card."""
    node, runouts = reader.find(line), []
    for runout in reader.runouts(node, then):
        runouts.append(runout)
        yield
    report = RunoutReport(", ".join(node.steps), ", ".join(map(str, parse_line(then, "then"))), tuple(runouts))
    return {
        "line": report.line,
        "street": STREETS[len(reader.spot.board) - 3 + node.deal.street + 1],
        "then": report.then,
        "cards": [
            {
                "card": card_text(each.card),
                "next": ", ".join(part for part in (report.line, card_text(each.card), report.then) if part),
                "player": each.player,
                "pot": rounded(each.pot),
                "actions": list(each.frequencies),
                "frequencies": [rounded(share) for share in each.frequencies.values()],
                "reached": rounded(each.reached),
                "ev": {player: rounded(chips) for player, chips in each.ev.items()},
                "equity": {player: rounded(share) for player, share in each.equity.items()},
                "eqr": {player: rounded(each.eqr(player)) for player in each.ev},
            }
            for each in report.runouts
        ],
    }


# --- endpoints -------------------------------------------------------------------------------------------------------

_NUMBER = nullable(number())
_PLAYER = nullable(SEAT)
EV_UNIT = "chips"  # of every EV that the API gives
CHIPS = obj({"oop": number(), "ip": number()}, "chips of each player")
_PAIR = obj({"oop": _NUMBER, "ip": _NUMBER})
_COLUMN = array(_NUMBER)
ACTION = obj(
    {
        "name": text("as in a line: bet 40"),
        "kind": text(enum=["fold", "check", "call", "bet", "raise", "all-in"]),
        "amount": nullable(number("the player's total on this street")),
        "pot_share": nullable(number("chips beyond the call / pot after the call")),
        "frequency": nullable(number("over the whole range, 0 to 1")),
        "ev": nullable(number(f"{EV_UNIT}, of the hands that take the action")),
        "combos": _NUMBER,
        "next": text("the line that continues with it"),
    }
)
TILE = obj(
    {"kind": text(enum=["street", "decision", "end"]), "line": text(), "pot": number(), "actions": array(ACTION)},
    "a street with its cards, a decision with its actions, or the end of the hand",
    required=("kind", "line", "pot"),
    open_=True,
)
_GROUP = obj(
    {
        "key": text("of /meta's made or draws"),
        "combos": number(),
        "share": nullable(number("of the range, 0 to 1")),
        "mix": nullable(array(_NUMBER, "frequency of each action; null for the player who does not act")),
        "ev": _NUMBER,
        "equity": _NUMBER,
    }
)
_HANDS = obj(
    {
        "hand": array(integer("number among the 1,326, as in /meta's hands")),
        "weight": _COLUMN,
        "matchups": _COLUMN,
        "ev": _COLUMN,
        "equity": _COLUMN,
        "eqr": _COLUMN,
        "made": array(integer("position in /meta's made")),
        "draw": array(integer("position in /meta's draws")),
    },
    "columns over the hands that the board does not block; means weigh a hand by weight × matchups",
)
_RANGE = obj(
    {
        "ev": _NUMBER,
        "equity": _NUMBER,
        "eqr": _NUMBER,
        "combos": number(),
        "stack": number(),
        "last": nullable(text("the last action")),
        "hands": _HANDS,
        "distribution": nullable(obj({"equity": _COLUMN, "ev": _COLUMN}, "from the weakest hand to the strongest")),
        "made": array(_GROUP),
        "draws": array(_GROUP),
    }
)
NODE = obj(
    {
        "file": text(),
        "revision": text("changes whenever the file does"),
        "line": text(),
        "board": array(text()),
        "street": text(enum=["flop", "turn", "river"]),
        "kind": text(enum=["decision", "chance", "fold", "showdown"]),
        "player": _PLAYER,
        "pot": number(),
        "stacks": CHIPS,
        "to_call": number(),
        "reached": nullable(number("how likely the line's actions are, given that its cards come")),
        "parent": nullable(text("the line without its last step")),
        "strip": array(TILE, "the way from the root to here"),
        "actions": array(ACTION),
        "players": obj({"oop": _RANGE, "ip": _RANGE}),
        "strategy": array(_COLUMN, "probability of each action for each hand of the acting player"),
        "action_ev": array(_COLUMN, "EV of each action for each hand of the acting player"),
        "locked": nullable(array(boolean(), "of each hand of the acting player; null if nothing is locked here")),
        "locks": array(integer("position in the file's locks")),
    }
)
CARDS = obj(
    {
        "line": text(),
        "street": text(),
        "then": text(),
        "cards": array(
            obj(
                {
                    "card": text(),
                    "next": text(),
                    "player": _PLAYER,
                    "pot": number("chips"),
                    "actions": array(text()),
                    "frequencies": array(_NUMBER),
                    "reached": _NUMBER,
                    "ev": _PAIR,
                    "equity": _PAIR,
                    "eqr": _PAIR,
                }
            )
        ),
    }
)

RANGES = obj(
    {
        "line": text(),
        "ranges": array(
            obj(
                {
                    "player": SEAT,
                    "action": nullable(text("null: the whole range")),
                    "combos": number(),
                    "text": text("in the format asked for"),
                }
            )
        ),
    }
)

routes = Routes()


@routes.endpoint("GET", "/node", "Everything known at a node of a solved spot", NODE)
def node(library: Library, file: File, line: Line = "") -> Json:
    with library.spot(file) as (solution, revision):
        return {"file": file, "revision": revision} | _node_json(solution.reader, line)


@routes.endpoint("GET", "/cards", "What each card that can come next changes", CARDS)
def cards(
    library: Library,
    file: File,
    line: Line = "",
    then: Annotated[str, text("actions after the card", longest=1000)] = "",
) -> Generator[None, None, Json]:
    with library.spot(file, slow=True) as (solution, _):
        return (yield from _cards_json(solution.reader, line, then))


@routes.endpoint("GET", "/node/ranges", "The ranges of a node as text: of both players, and of every action", RANGES)
def node_ranges(
    library: Library,
    file: File,
    line: Line = "",
    format: Annotated[str, text(enum=list(FORMATS))] = "short",
) -> Json:
    with library.spot(file) as (solution, _):
        reader = solution.reader
        node = reader.find(line)
        return {
            "line": ", ".join(node.steps),
            "ranges": [
                {
                    "player": each.player,
                    "action": each.action or None,
                    "combos": rounded(each.hands.combos),
                    "text": each.hands.to_text(format),
                }
                for each in ranges_at(reader, node)
            ],
        }
