"""The price of a strategy of a game from the deal, the slow way: every hand, flop, turn and river by itself.

Written from the rules, apart from `holdem/games/flop_pricer.py` and the engines: no suits are merged, no classes of
hands before the flop, no tables of showdowns, and all arithmetic is in 64 bits. Only the opposing hands that reach the
flop are followed beyond it, so a strategy that takes few hands there keeps it quick; so does asking about few of one's
own hands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from math import comb

import numpy as np
from numpy.typing import NDArray

from regretless.cards.evaluator import hand_strengths
from regretless.cards.hands import HAND_CARDS, HAND_CLASS
from regretless.cards.preflop_equities import BOARDS, CLASS_SIZES, class_equities
from regretless.forms.public import BettingTree, NodeKind, Payoffs

Floats = NDArray[np.float64]
Boards = NDArray[np.uint8]

HANDS = np.arange(len(HAND_CARDS))
# [1326, 1326] pairs of hands that share no card
DISJOINT = (HAND_CARDS[:, None, :, None] != HAND_CARDS[None, :, None, :]).all(axis=(2, 3))


@dataclass(frozen=True)
class PlainPrice:
    """What the strategy is worth to each player, and what a best response is worth, in chips."""

    values: tuple[float, float]
    best_response_values: tuple[float, float]


@dataclass(frozen=True)
class _Seen:
    """[n, 1326] each: hands on n boards."""

    blocked: NDArray[np.bool_]
    bucket: NDArray[np.int32]  # of blocked hands, whose reach and value are 0, any
    strength: NDArray[np.generic]  # on the river


@dataclass
class PlainPricer:
    """A game, a strategy [actions, K] at each node, and buckets of boards [n, 3 to 5] as [n, 1326]."""

    tree: BettingTree
    payoffs: Payoffs
    strategy: Callable[[int], Floats]
    buckets: Callable[[Boards], NDArray[np.int32]]
    flops: Sequence[tuple[tuple[int, ...], float]]  # with weights, which sum to 22,100
    hands: NDArray[np.int64] = field(default_factory=lambda: HANDS)  # whose values are computed: H of them
    seen: dict[bytes, _Seen] = field(default_factory=dict)

    def price(self) -> PlainPrice:
        """The price of the whole game, for which the values of all hands are needed."""
        found = [self._before_flop(0, own, np.ones(len(HANDS))) for own in range(2)]  # [2, 1326] each
        means, bests = (np.array([each[mode].sum() for each in found]) / DISJOINT.sum() for mode in range(2))
        return PlainPrice((means[0], means[1]), (bests[0], bests[1]))

    def _before_flop(self, node: int, own: int, reach: Floats) -> Floats:
        """[2, 1326] values of every own hand, following the strategy and best-responding, times the opposing reach."""
        kind = self.tree.kind[node]
        if kind == NodeKind.FOLD:
            return np.array([self._fold(node, own) * (DISJOINT @ reach)] * 2)
        if kind == NodeKind.DECISION:
            sigma = self.strategy(node)[:, HAND_CLASS]
            mine = self.tree.player[node] == own
            below = [
                self._before_flop(child, own, reach if mine else reach * row)
                for child, row in zip(self._children(node), sigma, strict=True)
            ]
            return _decide(np.array(below), sigma, mine)
        if (end := self._showdown(node)) is not None:
            return np.array([self._all_in(end, own, reach)] * 2)
        return self.after_flop(self._children(node)[0], own, reach)

    def _all_in(self, end: int, own: int, reach: Floats) -> Floats:
        """[1326] from the numbers of deals that each class wins and ties against each other one."""
        win, lose, tie = self._pays(end, own)
        table = class_equities()
        lost = table.pairs * BOARDS - table.wins - table.ties
        deals = (win * table.wins + tie * table.ties + lose * lost) / BOARDS  # [169, 169] over all pairs of hands
        # Every hand of the other class is played alike, so a hand meets its share of the pairs.
        of_class = np.array([reach[number == HAND_CLASS].mean() for number in range(len(CLASS_SIZES))])
        return np.asarray((deals @ of_class / CLASS_SIZES)[HAND_CLASS])

    def after_flop(self, node: int, own: int, reach: Floats) -> Floats:
        """[2, H] values where the flop's betting begins, summed over the flops and their suits renamed."""
        others = np.flatnonzero(reach)
        total = np.zeros((2, len(self.hands)))
        for flop, weight in self.flops:
            alike = _renamed(flop)
            for cards in alike:
                self.seen.clear()
                found = self.on_board(node, own, np.array([cards], dtype=np.uint8), others, reach[others][None])
                total += weight / len(alike) / comb(48, 3) * found[:, 0]
        return total

    def on_board(self, node: int, own: int, boards: Boards, others: NDArray[np.int64], reach: Floats) -> Floats:
        """[2, n, H] values on n boards; the opposing reach [n, others] may include hands that the last card blocks."""
        kind, here = self.tree.kind[node], self._see(boards)
        mine, theirs = np.ix_(np.arange(len(boards)), self.hands), np.ix_(np.arange(len(boards)), others)
        reach = np.where(here.blocked[theirs], 0.0, reach)
        meet = DISJOINT[np.ix_(self.hands, others)]
        if kind == NodeKind.FOLD:
            found = self._fold(node, own) * (reach @ meet.T)
            return np.array([np.where(here.blocked[mine], 0.0, found)] * 2)
        if kind == NodeKind.SHOWDOWN:
            win, lose, tie = self._pays(node, own)
            strength, found = here.strength[mine], np.zeros((len(boards), len(self.hands)))
            for place, hand in enumerate(others):  # one opposing hand after another
                against = here.strength[:, hand, None]
                pays = np.where(strength > against, win, np.where(strength < against, lose, tie))
                found += pays * meet[:, place] * reach[:, place, None]
            return np.array([np.where(here.blocked[mine], 0.0, found)] * 2)
        if kind == NodeKind.CHANCE:
            count = 52 - boards.shape[1]
            longer = [[*board, card] for board in boards.tolist() for card in range(52) if card not in board]
            arriving = np.repeat(reach, count, axis=0)
            below = self.on_board(self._children(node)[0], own, np.array(longer, dtype=np.uint8), others, arriving)
            cards_left = count - 4  # two hands are out
            return np.asarray(below.reshape(2, len(boards), count, -1).sum(axis=2) / cards_left)
        acts = self.tree.player[node] == own
        sigma = self.strategy(node)[:, here.bucket[mine if acts else theirs]]
        below = np.array(
            [
                self.on_board(child, own, boards, others, reach if acts else reach * row)
                for child, row in zip(self._children(node), sigma, strict=True)
            ]
        )
        return _decide(below, sigma, acts)

    def _see(self, boards: Boards) -> _Seen:
        """What is true of all hands on n boards, whichever node is asked about."""
        key = boards.tobytes() + bytes(boards.shape[1:])
        if key not in self.seen:
            blocked = (HAND_CARDS[None, :, :, None] == boards[:, None, None, :]).any(axis=(2, 3))
            strength = hand_strengths(boards) if boards.shape[1] == 5 else np.empty((0, 0))
            self.seen[key] = _Seen(blocked, np.maximum(self.buckets(boards), 0), strength)
        return self.seen[key]

    def _children(self, node: int) -> range:
        return range(int(self.tree.first_child[node]), int(self.tree.first_child[node + 1]))

    def _showdown(self, node: int) -> int | None:
        """The showdown below a deal, if nobody acts before it."""
        while self.tree.kind[node] == NodeKind.CHANCE:
            node = self._children(node)[0]
        return node if self.tree.kind[node] == NodeKind.SHOWDOWN else None

    def _fold(self, node: int, own: int) -> float:
        return float((self.payoffs.lose if self.tree.player[node] == own else self.payoffs.win)[node, own])

    def _pays(self, node: int, own: int) -> tuple[float, float, float]:
        win, lose, tie = (each[node, own] for each in (self.payoffs.win, self.payoffs.lose, self.payoffs.tie))
        return float(win), float(lose), float(tie)


def _decide(below: Floats, sigma: Floats, mine: bool) -> Floats:
    """[2, …] from those of the children, [actions, 2, …]."""
    if not mine:
        return np.asarray(below.sum(axis=0))
    return np.array([(sigma * below[:, 0]).sum(axis=0), below[:, 1].max(axis=0)])


def _renamed(flop: Sequence[int]) -> list[tuple[int, ...]]:
    """All flops that a flop becomes when suits are renamed, itself included."""
    suits = permutations(range(4))
    return sorted({tuple(sorted(4 * (card // 4) + names[card % 4] for card in flop)) for names in suits})
