"""Comparison of two solutions on one board, node by node: strategies, frequencies and EVs.

At a node in both trees, with w₁ and w₂ the shares of the acting player's hands in each,

    moved = Σ_h (w₁[h] + w₂[h]) / 2 · ½ Σ_a |σ₁[a, h] − σ₂[a, h]|

is the share of play that differs: 0 if both play the same, 1 if no hand does. Nodes are ranked by reach · moved, where
reach is the smaller of the two probabilities of getting there: what a solution would do where it never goes means
little.

Nothing below a node is reached more often than the node itself, and `moved` is at most 1. So nodes are visited by
reach, and the search for the N largest ends when no remaining reach exceeds the N-th rank. Deals that one renaming of
suits exchanges in both solutions are one node, with their probabilities added. It is not enough that two deals are
equivalent in each solution: the renamings may differ.
"""

from __future__ import annotations

import heapq
import math
import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import count
from typing import Any

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
from regretless.solving.game_comparison import Pair, distance, paired

__all__ = [
    "HandDifference", "NodeDifference", "SpotComparison", "check_boards", "compare_in_pieces", "compare_nodes",
    "compare_spots", "paired_frequencies",
]  # fmt: skip

Readers = tuple[SpotReader, SpotReader]
LineNodes = tuple[LineNode, LineNode]


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
    if most is not None and most < 1:
        raise InvalidOption("most", most, "must be at least 1, or None for all")
    readers = first.reader, second.reader
    search = _Search(readers, limit=most, seconds=seconds)
    yield from search.run()
    return SpotComparison(
        changed=changed_fields(first.spot, second.spot),
        ev={player: (first.ev[player], second.ev[player]) for player in ("oop", "ip")},
        equity={player: (first.equity[player], second.equity[player]) for player in ("oop", "ip")},
        exploitability_pct_pot=(first.exploitability_pct_pot, second.exploitability_pct_pot),
        nodes=tuple(_difference(readers, node) for node in search.ranked()),
        visited=search.visited,
        complete=search.complete,
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

    nodes: LineNodes
    deals: int
    reached: tuple[float, float]
    moved: float = 0.0

    @property
    def reach(self) -> float:
        return min(self.reached)


class _Search:
    """The nodes with the largest ranks, by visiting those reached most often first."""

    def __init__(self, readers: Readers, *, limit: int | None, seconds: float | None) -> None:
        self.readers, self.limit, self.seconds = readers, limit, seconds
        self.visited = 0  # decisions
        self.complete = True  # False if time ran out
        # Heaps of nodes: the numbers count up, so that among equals the one found first comes first, and stays longest.
        self._numbers = count()
        self._waiting: list[tuple[float, int, _Node]] = []
        self._largest: list[tuple[float, int, _Node]] = []

    def ranked(self) -> list[_Node]:
        """The nodes with the largest ranks so far, largest first."""
        return [node for _, _, node in sorted(self._largest, key=lambda entry: entry[:2], reverse=True)]

    def run(self) -> Iterator[None]:
        """Search, pausing after each decision; time spent in the pauses, in which others compute, does not count."""
        spent, resumed = 0.0, time.monotonic()
        self._add(_Node((self.readers[0].root, self.readers[1].root), 1, (1.0, 1.0)))
        while self._waiting:
            _, _, node = heapq.heappop(self._waiting)
            if self._is_full() and node.reach <= self._largest[0][0]:
                return
            if self.seconds is not None and self.visited and spent + time.monotonic() - resumed > self.seconds:
                self.complete = False
                return
            if _kind(self.readers[0], node.nodes[0]) == NodeKind.DECISION:
                spent += time.monotonic() - resumed
                yield
                resumed = time.monotonic()
                self._compare(node)
            for child in _children(self.readers, node):
                self._add(child)

    def _add(self, node: _Node) -> None:
        heapq.heappush(self._waiting, (-node.reach, next(self._numbers), node))

    def _compare(self, node: _Node) -> None:
        """Keep a decision if its rank is among the largest."""
        self.visited += 1
        was_full = self._is_full()
        moved = _moved(self.readers, node.nodes)
        heapq.heappush(self._largest, (node.reach * moved, -next(self._numbers), replace(node, moved=moved)))
        if was_full:
            heapq.heappop(self._largest)

    def _is_full(self) -> bool:
        """Whether as many nodes are known as are to be listed."""
        return self.limit is not None and len(self._largest) >= self.limit


def _children(readers: Readers, node: _Node) -> Iterator[_Node]:
    """Nodes one step further in both trees; equivalent deals are one node."""
    nodes = node.nodes
    kind = _kind(readers[0], nodes[0])
    if kind == NodeKind.DECISION:
        labels = readers[1].actions(nodes[1].index)
        for action, label in enumerate(readers[0].actions(nodes[0].index)):
            if label in labels:
                children = readers[0].act(nodes[0], action), readers[1].act(nodes[1], labels.index(label))
                if _kind(readers[0], children[0]) == _kind(readers[1], children[1]) != NodeKind.FOLD:
                    yield _Node(children, node.deals, _reached(readers, children, node.deals))
    elif kind == NodeKind.CHANCE:
        for card, equivalent in _different_cards(readers, nodes[0]).items():
            dealt, deals = (readers[0].deal(nodes[0], card), readers[1].deal(nodes[1], card)), node.deals * equivalent
            yield _Node(dealt, deals, _reached(readers, dealt, deals))


def _different_cards(readers: Readers, node: LineNode) -> dict[int, int]:
    """Cards that can come next, the lowest of each class equivalent in both solutions, and the size of the class."""
    maps = CARD_MAPS[np.intersect1d(readers[0].group, readers[1].group)]
    dealt = list(node.deal.cards)
    maps = maps[(maps[:, dealt] == dealt).all(axis=1)]
    return dict(Counter(int(maps[:, card].min()) for card in readers[0].cards(node)))


def _kind(reader: SpotReader, node: LineNode) -> int:
    return int(reader.form.tree.kind[node.index])


def _reached(readers: Readers, nodes: LineNodes, deals: int) -> tuple[float, float]:
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


def _moved(readers: Readers, nodes: LineNodes) -> float:
    """The share of play that differs at a node."""
    (shares, first), (other_shares, second) = (_played(*each) for each in zip(readers, nodes, strict=True))
    absent = np.zeros(HAND_COUNT)
    difference = np.zeros(HAND_COUNT)
    for action in first | second:
        difference += np.abs(first.get(action, absent) - second.get(action, absent))
    both = ~np.isnan(shares) & ~np.isnan(other_shares)
    weight = (shares[both] + other_shares[both]) / 2
    return float(weight @ difference[both]) / 2 / float(weight.sum()) if weight.any() else 0.0


def _difference(readers: Readers, node: _Node) -> NodeDifference:
    views = readers[0].view(node.nodes[0]), readers[1].view(node.nodes[1])
    player = views[0].player
    assert player is not None
    return NodeDifference(
        line=views[0].line,
        player=player,
        deals=node.deals,
        reached=node.reached,
        moved=node.moved,
        frequencies={
            action: (_known(first), _known(second)) for action, (first, second) in paired_frequencies(*views).items()
        },
        ev={each: (_known(views[0].ev(each)), _known(views[1].ev(each))) for each in PLAYERS},
    )


def paired_frequencies(first: NodeView, second: NodeView) -> dict[str, Pair]:
    """How often each action is taken in both solutions."""
    return paired(*(dict(zip(view.actions, view.frequencies, strict=True)) for view in (first, second)))


def _only(readers: Readers) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Lines in only one of the betting trees, without their continuations."""
    only: tuple[list[str], list[str]] = [], []
    waiting: list[tuple[tuple[int, int], tuple[str, ...]]] = [((0, 0), ())]
    while waiting:
        nodes, steps = waiting.pop()
        first, second = (reader.actions(node) for reader, node in zip(readers, nodes, strict=True))
        only[0].extend(", ".join((*steps, label)) for label in first if label not in second)
        only[1].extend(", ".join((*steps, label)) for label in second if label not in first)
        first_child, second_child = (
            int(reader.form.tree.first_child[node]) for reader, node in zip(readers, nodes, strict=True)
        )
        for label in reversed([label for label in first if label in second]):
            children = first_child + first.index(label), second_child + second.index(label)
            waiting.append((children, (*steps, label) if label else steps))
    return tuple(only[0]), tuple(only[1])


# --- one node --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HandDifference:
    """How two solutions differ with a hand at a node."""

    hand: str
    weight: Pair  # how likely it is at the node; None if it is not in the range
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
    actions: list[str] = []
    if first.player == player:
        actions = [*first.actions, *(action for action in second.actions if action not in first.actions)]
    differences = [
        _hand_difference(name, rows[0].get(name, {}), rows[1].get(name, {}), actions)
        for name in map(hand_text, sorted(hands, reverse=True))
    ]
    return sorted(differences, key=lambda each: each.rank, reverse=True)


def _hand_difference(
    hand: str, first: Mapping[str, Any], second: Mapping[str, Any], actions: list[str]
) -> HandDifference:
    """The difference of a hand, from its row in each solution, which is empty if it is not in the range."""
    strategy, other_strategy = first.get("strategy", {}), second.get("strategy", {})
    shares = {action: (strategy.get(action), other_strategy.get(action)) for action in actions}
    return HandDifference(
        hand=hand,
        weight=(first.get("weight"), second.get("weight")),
        strategy=shares,
        ev=(first.get("ev"), second.get("ev")),
        moved=distance(shares) if first and second else 0.0,
    )


def _known(value: float | None) -> float | None:
    """The value, or None if it is missing or NaN."""
    return None if value is None or math.isnan(value) else value
