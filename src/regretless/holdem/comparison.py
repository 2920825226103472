"""Comparison of two solutions on one board, node by node: strategies, frequencies and EVs.

At a node in both trees, with w₁ and w₂ the shares of the acting player's hands in each,

    moved = Σ_h (w₁[h] + w₂[h]) / 2 · ½ Σ_a |σ₁[a, h] − σ₂[a, h]|

is the share of play that differs: 0 if both play the same, 1 if no hand does. Nodes are ranked by reach · moved, where
reach is the smaller of the two probabilities of getting there: what a solution would do where it never goes means
little.

Nothing below a node is reached more often than the node itself, and `moved` is at most 1. So nodes are visited by
reach, and the search for the N largest ends when no remaining reach exceeds the rank of the N-th. Deals that a single
renaming of suits exchanges in both solutions are one node, with their probabilities added. It is not enough that two
deals are equivalent in each solution: the renamings may differ.
"""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import count

import numpy as np

from regretless.cards.deck import board_text
from regretless.cards.hands import HAND_COUNT, hand_text
from regretless.cards.isomorphism import CARD_MAPS
from regretless.errors import InvalidOption, InvalidText
from regretless.forms.history import FloatArray
from regretless.forms.public import NodeKind
from regretless.holdem.reading.line_reader import LineNode
from regretless.holdem.reading.nodes import NodeView
from regretless.holdem.reading.spot_reader import SpotReader
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot import changed_fields
from regretless.holdem.spots.spot_fields import PLAYERS, PlayerName
from regretless.reprs import brief

__all__ = [
    "HandDifference", "NodeDifference", "Pair", "SpotComparison", "check_boards", "compare_in_pieces", "compare_nodes",
    "compare_spots",
]  # fmt: skip

Pair = tuple[float | None, float | None]  # of the first and second solution; None where it does not exist


@dataclass(frozen=True)
class NodeDifference:
    """How two solutions differ at a node in both."""

    line: str
    player: PlayerName
    deals: int  # equivalent deals counted here
    reached: tuple[float, float]  # probability of getting here
    moved: float  # share of play that differs, 0 to 1
    frequencies: dict[str, Pair]  # by action
    ev: dict[PlayerName, Pair]  # chips, from this node on

    __repr__ = brief

    @property
    def rank(self) -> float:
        """How much it matters: reach · moved."""
        return min(self.reached) * self.moved


@dataclass(frozen=True)
class SpotComparison:
    """Two solutions: how their spots differ, their EVs, and where their play differs, largest first."""

    changed: tuple[str, ...]  # fields of the spot that differ
    ev: dict[PlayerName, tuple[float, float]]
    equity: dict[PlayerName, tuple[float, float]]
    exploitability_pct_pot: tuple[float, float]
    nodes: tuple[NodeDifference, ...]
    visited: int  # decisions compared
    complete: bool  # whether the differences listed are the largest; not if the search was cut short
    only: tuple[tuple[str, ...], tuple[str, ...]]  # lines, without cards, in only one of the betting trees

    __repr__ = brief

    def as_json(self) -> dict[str, object]:
        return {
            "changed": list(self.changed),
            "ev": {player: list(pair) for player, pair in self.ev.items()},
            "equity": {player: list(pair) for player, pair in self.equity.items()},
            "exploitability_pct_pot": list(self.exploitability_pct_pot),
            "nodes": [asdict(node) for node in self.nodes],
            "visited": self.visited,
            "complete": self.complete,
            "only_first": list(self.only[0]),
            "only_second": list(self.only[1]),
        }


def compare_spots(first: SpotSolution, second: SpotSolution, *, most: int | None = 10) -> SpotComparison:
    """Compare two solutions on one board; lists the `most` largest differences, or all if it is None."""
    work = compare_in_pieces(first, second, most=most)
    while True:
        try:
            next(work)
        except StopIteration as done:
            comparison: SpotComparison = done.value
            return comparison


def compare_in_pieces(
    first: SpotSolution, second: SpotSolution, *, most: int | None = 10, seconds: float | None = None
) -> Generator[None, None, SpotComparison]:
    """The same, pausing after each decision.

    After `seconds` of work, not counting pauses, the decisions compared so far, reached most often, are enough.
    """
    check_boards(first, second)
    readers = first.reader, second.reader
    ranked, visited, complete = yield from _search(readers, most, seconds)
    return SpotComparison(
        changed=changed_fields(first.spot, second.spot),
        ev={player: (first.ev[player], second.ev[player]) for player in ("oop", "ip")},
        equity={player: (first.equity[player], second.equity[player]) for player in ("oop", "ip")},
        exploitability_pct_pot=(first.exploitability_pct_pot, second.exploitability_pct_pot),
        nodes=tuple(_difference(readers, node) for node in ranked),
        visited=visited,
        complete=complete,
        only=_only(readers),
    )


def check_boards(first: SpotSolution, second: SpotSolution) -> None:
    """Refuse two solutions that have no node in common."""
    if first.spot.board != second.spot.board:
        boards = " and ".join(board_text(solution.spot.board) for solution in (first, second))
        raise InvalidOption("board", boards, "are different boards: only solutions on the same board can be compared")


# --- the search ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Node:
    """A node of both solutions."""

    nodes: tuple[LineNode, LineNode]
    deals: int
    reached: tuple[float, float]
    moved: float = 0.0

    @property
    def reach(self) -> float:
        return min(self.reached)


def _search(
    readers: tuple[SpotReader, SpotReader], most: int | None, seconds: float | None
) -> Generator[None, None, tuple[list[_Node], int, bool]]:
    """The nodes with the largest ranks, largest first, how many decisions were visited, and whether that was enough."""
    ticket = count()  # breaks ties in the order found
    waiting: list[tuple[float, int, _Node]] = []
    best: list[tuple[float, int, _Node]] = []
    visited, complete = 0, True
    spent, resumed = 0.0, time.monotonic()  # `spent` leaves out the pauses, in which others compute
    heapq.heappush(waiting, (-1.0, next(ticket), _Node((readers[0].root, readers[1].root), 1, (1.0, 1.0))))
    while waiting:
        reach, _, node = heapq.heappop(waiting)
        if most is not None and len(best) >= most and -reach <= best[0][0]:
            break
        if seconds is not None and visited and spent + time.monotonic() - resumed > seconds:
            complete = False
            break
        if _kind(readers[0], node.nodes[0]) == NodeKind.DECISION:
            spent += time.monotonic() - resumed
            yield
            resumed = time.monotonic()
            visited += 1
            moved = _moved(readers, node.nodes)
            # Among equal ranks, the one found first stays.
            heapq.heappush(best, (node.reach * moved, -next(ticket), replace(node, moved=moved)))
            if most is not None and len(best) > most:
                heapq.heappop(best)
        for child in _children(readers, node):
            heapq.heappush(waiting, (-child.reach, next(ticket), child))
    return [node for _, _, node in sorted(best, key=lambda entry: entry[:2], reverse=True)], visited, complete


def _children(readers: tuple[SpotReader, SpotReader], node: _Node) -> Iterator[_Node]:
    """Nodes one step further in both trees; equivalent deals are one node."""
    nodes = node.nodes
    kind = _kind(readers[0], nodes[0])
    if kind == NodeKind.DECISION:
        for action, label in enumerate(readers[0].actions(nodes[0].index)):
            labels = readers[1].actions(nodes[1].index)
            if label in labels:
                children = readers[0].act(nodes[0], action), readers[1].act(nodes[1], labels.index(label))
                if _kind(readers[0], children[0]) == _kind(readers[1], children[1]) != NodeKind.FOLD:
                    yield _Node(children, node.deals, _reached(readers, children, node.deals))
    elif kind == NodeKind.CHANCE:
        for card, alike in _different_cards(readers, nodes[0]).items():
            dealt, deals = (readers[0].deal(nodes[0], card), readers[1].deal(nodes[1], card)), node.deals * alike
            yield _Node(dealt, deals, _reached(readers, dealt, deals))


def _different_cards(readers: tuple[SpotReader, SpotReader], node: LineNode) -> dict[int, int]:
    """Cards that can come next, the lowest of each class equivalent in both solutions, and the size of the class."""
    maps = CARD_MAPS[np.intersect1d(readers[0].group, readers[1].group)]
    dealt = list(node.deal.cards)
    maps = maps[(maps[:, dealt] == dealt).all(axis=1)]
    return dict(Counter(int(maps[:, card].min()) for card in readers[0].cards(node)))


def _kind(reader: SpotReader, node: LineNode) -> int:
    return int(reader.form.tree.kind[node.index])


def _reached(
    readers: tuple[SpotReader, SpotReader], nodes: tuple[LineNode, LineNode], deals: int
) -> tuple[float, float]:
    """Probability that hands dealt from both ranges get to one of `deals` equivalent deals."""
    shares = []
    for reader, node in zip(readers, nodes, strict=True):
        dealt = np.prod([street.probability[0] for street in reader.form.streets[1 : node.deal.street + 1]])
        shares.append(float(dealt) * deals * reader.pairs(node) / reader.pairs(reader.root))
    return shares[0], shares[1]


def _played(reader: SpotReader, node: LineNode) -> tuple[FloatArray, dict[str, FloatArray]]:
    """[1326] share of each hand of the acting player, NaN if it is not in the range; and frequencies by action."""
    table = reader.played(node)
    shares = np.full(HAND_COUNT, np.nan)
    total = float(table.weight.sum())
    shares[table.hand] = table.weight / total if total > 0 else 0.0
    strategy = {}
    for label, row in zip(reader.actions(node.index), table.strategy, strict=True):
        strategy[label] = np.zeros(HAND_COUNT)
        strategy[label][table.hand] = row
    return shares, strategy


def _moved(readers: tuple[SpotReader, SpotReader], nodes: tuple[LineNode, LineNode]) -> float:
    (shares, first), (other_shares, second) = (_played(*each) for each in zip(readers, nodes, strict=True))
    never = np.zeros(HAND_COUNT)
    difference = np.zeros(HAND_COUNT)
    for action in first | second:
        difference += np.abs(first.get(action, never) - second.get(action, never))
    both = ~np.isnan(shares) & ~np.isnan(other_shares)
    weight = (shares[both] + other_shares[both]) / 2
    return float(weight @ difference[both]) / 2 / float(weight.sum()) if weight.any() else 0.0


def _difference(readers: tuple[SpotReader, SpotReader], node: _Node) -> NodeDifference:
    views = [reader.view(each) for reader, each in zip(readers, node.nodes, strict=True)]
    shares = [dict(zip(view.actions, view.frequencies, strict=True)) for view in views]
    player = views[0].player
    assert player is not None
    return NodeDifference(
        line=views[0].line,
        player=player,
        deals=node.deals,
        reached=node.reached,
        moved=node.moved,
        frequencies={
            action: (_known(shares[0].get(action)), _known(shares[1].get(action))) for action in shares[0] | shares[1]
        },
        ev={each: (_known(views[0].ev(each)), _known(views[1].ev(each))) for each in PLAYERS},
    )


def _only(readers: tuple[SpotReader, SpotReader]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Lines in only one of the betting trees, without their continuations."""
    only: tuple[list[str], list[str]] = [], []
    waiting: list[tuple[tuple[int, int], tuple[str, ...]]] = [((0, 0), ())]
    while waiting:
        nodes, steps = waiting.pop()
        labels = [reader.actions(node) for reader, node in zip(readers, nodes, strict=True)]
        firsts = [int(reader.form.tree.first_child[node]) for reader, node in zip(readers, nodes, strict=True)]
        for number in range(2):
            only[number].extend(", ".join((*steps, each)) for each in labels[number] if each not in labels[1 - number])
        for label in reversed([label for label in labels[0] if label in labels[1]]):
            below = firsts[0] + labels[0].index(label), firsts[1] + labels[1].index(label)
            waiting.append((below, (*steps, label) if label else steps))
    return tuple(only[0]), tuple(only[1])


# --- one node --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HandDifference:
    """How two solutions differ with a hand at a node."""

    hand: str
    weight: Pair  # how likely it is here; None if it is not in the range
    strategy: dict[str, Pair]  # by action; empty for the player who does not act
    ev: Pair
    moved: float  # ½ Σ |difference|, 0 to 1

    @property
    def rank(self) -> float:
        return sum(each or 0.0 for each in self.weight) / 2 * self.moved

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def compare_nodes(first: NodeView, second: NodeView, player: PlayerName) -> list[HandDifference]:
    """Differences hand by hand at a node in both solutions, largest first."""
    if first.kind != second.kind or first.player != second.player:
        raise InvalidText("line", first.line, None, "leads to different kinds of nodes in the two solutions")
    rows = [{row["hand"]: row for row in view.rows(player)} for view in (first, second)]
    hands = {int(hand) for view in (first, second) for hand in view.hands[player].hand}
    actions = list(dict.fromkeys((*first.actions, *second.actions))) if first.player == player else []
    differences = []
    for hand in sorted(hands, reverse=True):
        name = hand_text(hand)
        row, other = (each.get(name, {}) for each in rows)
        played, other_played = row.get("strategy", {}), other.get("strategy", {})
        strategy = {action: (played.get(action), other_played.get(action)) for action in actions}
        moved = sum(abs((a or 0.0) - (b or 0.0)) for a, b in strategy.values()) / 2 if row and other else 0.0
        weight, ev = (row.get("weight"), other.get("weight")), (row.get("ev"), other.get("ev"))
        differences.append(HandDifference(name, weight, strategy, ev, moved))
    return sorted(differences, key=lambda each: each.rank, reverse=True)


def _known(value: float | None) -> float | None:
    return None if value is None or value != value else value
