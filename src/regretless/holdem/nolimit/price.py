"""The exact price of a strategy of a game from the deal: what a best response with real cards gains, in its tree.

1. For each flop, the game given that flop is a public form of three streets: the betting before the flop and on it,
   then every turn and every river. It is evaluated once for each player, following the strategy and best-responding
   to it; the best response may depend on the real cards, not only on buckets. Kept are the values where the flop's
   betting begins, on every line that leads there.
2. Hands of a class (`AKs`) have the same value there on average over the flops that differ in the names of the suits,
   so a flop counts with the mean over the hands of each class, times how many flops it stands for, times the
   probability 1 / C(48, 3) of a flop that blocks neither hand.
3. Where both are all-in before the flop, the exact equities of the 169 classes give the values, without any flop.
4. Before the flop, the values of all flops together go up the betting tree: a best response chooses there without
   knowing the flop.

With all 1,755 flops the result is exact up to rounding. With fewer, it is the exact exploitability in a game with only
these flops, in which a best response knows which may come: an estimate, biased upwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import comb

import numpy as np

from regretless.cards.deck import DECK
from regretless.cards.hands import HAND_CLASS
from regretless.cards.preflop_equities import BOARDS, CLASS_SIZES, class_equities
from regretless.cards.ranges import Range
from regretless.engines.contract import BucketStrategy, Evaluation
from regretless.engines.public.compiled.bucket_evaluator import BucketEvaluator
from regretless.engines.public.compiled.sizes import bucket_evaluation_bytes
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import BettingTree, Kind, Payoffs, PublicForm
from regretless.forms.public_size import size_of_tree
from regretless.holdem.form.runouts import compile_holdem, holdem_hands
from regretless.holdem.nolimit.boards import GameBuckets

__all__ = ["CLASSES", "FlopPricer", "FlopTree", "PreflopValues", "flop_tree", "priced"]

CLASSES = len(CLASS_SIZES)
HANDS = comb(49, 2)  # that a flop leaves
LOOKUP_BYTES = 400 * 2**20  # for finding the buckets of all rivers of a flop
NodeStrategy = Callable[[int], FloatArray]  # [actions, K] at a betting node

# [2, 2, lines, 169] per player, following the strategy and best-responding: values where the flop's betting begins
PreflopValues = FloatArray


@dataclass(frozen=True)
class FlopTree:
    """The betting of a game given the flop, in which the deal of the flop is left out."""

    tree: BettingTree
    node: IntArray  # [N] of the whole game's tree
    begins: tuple[int, ...]  # [lines] the node where the flop's betting begins
    chance: tuple[int, ...]  # [lines] the node of the whole game's tree that deals the flop


def flop_tree(tree: BettingTree) -> FlopTree:
    """The betting given the flop; lines that are all-in before it end there, as folds."""
    nodes, parents, labels, first, cut = [0], [-1], [""], [1], [False]
    begins: list[int] = []
    chance: list[int] = []
    for place, node in enumerate(nodes):  # grows during the loop: breadth first
        below = range(0) if cut[place] else range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
        for child in below:
            deals = tree.kind[child] == Kind.CHANCE and tree.street[child] == 0
            cut.append(bool(deals and _is_all_in(tree, child)))
            if deals and not cut[-1]:
                begins.append(len(nodes))
                chance.append(child)
            nodes.append(int(tree.first_child[child]) if deals and not cut[-1] else child)
            parents.append(place)
            labels.append(tree.labels[child])
        first.append(len(nodes))
    found, ended = np.array(nodes), np.array(cut)
    given = BettingTree(
        kind=np.where(ended, Kind.FOLD, tree.kind[found]).astype(np.int8),
        player=np.where(ended, 0, tree.player[found]).astype(np.int8),
        street=np.maximum(tree.street[found] - 1, 0).astype(np.int8),
        parent=np.array(parents, dtype=np.int32),
        first_child=np.array(first, dtype=np.int32),
        paid=tree.paid[found],
        starting_pot=tree.starting_pot,
        labels=tuple(labels),
    )
    return FlopTree(given, found, tuple(begins), tuple(chance))


def _is_all_in(tree: BettingTree, node: int) -> bool:
    """Whether nobody acts below a chance node."""
    return _showdown(tree, node) is not None


def _showdown(tree: BettingTree, node: int) -> int | None:
    """The showdown that a chance node leads to if nobody acts any more."""
    while tree.kind[node] == Kind.CHANCE:
        node = int(tree.first_child[node])
    return node if tree.kind[node] == Kind.SHOWDOWN else None


class FlopPricer:
    """The strategy of a game, ready to be evaluated on one flop after another; `payoffs` are those of the whole game.

    `threads` and `interrupted` are those of `BucketEvaluator`.
    """

    def __init__(
        self,
        given: FlopTree,
        payoffs: Payoffs,
        buckets: GameBuckets,
        strategy: NodeStrategy,
        *,
        threads: int = 1,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        self.given, self.buckets, self.threads, self.interrupted = given, buckets, threads, interrupted
        self.payoffs = Payoffs(*(each[given.node] for each in (payoffs.win, payoffs.lose, payoffs.tie)))
        tree = given.tree
        acts = tree.kind == Kind.DECISION
        self._first = np.flatnonzero(acts & (tree.street == 0)).tolist()  # before the flop and on it
        self._tables = {node: strategy(int(given.node[node])) for node in self._first}
        self._begins = _below(given)
        later = [
            strategy(int(given.node[node])).astype(np.float32) for node in np.flatnonzero(acts & (tree.street > 0))
        ]
        self._later = np.concatenate([np.empty(0, dtype=np.float32), *(each.ravel() for each in later)])
        self._begin = np.zeros(len(tree.kind), dtype=np.int64)
        self._columns = np.zeros(len(tree.kind), dtype=np.int32)
        sizes = np.array([each.size for each in later], dtype=np.int64)
        self._begin[acts & (tree.street > 0)] = np.cumsum(sizes) - sizes
        self._columns[acts & (tree.street > 0)] = [each.shape[1] for each in later]

    @property
    def memory_bytes(self) -> int:
        """An upper bound on what evaluating a flop takes: a flop of three suits has the most runouts."""
        tree = self.given.tree
        size = size_of_tree(tree, 3).with_cards(deck=DECK, hands=(HANDS, HANDS), permutations=2, runouts=(1, 49, 2352))
        first = sum(each.shape[0] for each in self._tables.values()) * HANDS
        form = 2402 * HANDS * 2 * (1 + 2)  # which hands are dead, and their strength
        working = bucket_evaluation_bytes(size, probabilities=2 * len(self._later) + first, threads=self.threads)
        return working + form + LOOKUP_BYTES

    def values(self, flop: tuple[int, ...]) -> PreflopValues:
        """The values of one flop, as if it stood for itself only."""
        everything = Range.parse("100%")
        form = replace(compile_holdem(flop, everything, everything, self.given.tree), payoffs=self.payoffs)
        held = holdem_hands(flop, everything)
        evaluator = BucketEvaluator(form, threads=self.threads, interrupted=self.interrupted)
        values = evaluator.first_street_values(self._played(form, flop, held))
        place = np.cumsum(self.given.tree.street == 0) - 1  # among the nodes of the first street
        at_flop = values[:, :, place[list(self.given.begins)]]
        in_class = np.equal.outer(HAND_CLASS[held], np.arange(CLASSES)).astype(np.float64)  # [H, 169]
        summed = at_flop @ in_class
        return np.asarray(summed / CLASS_SIZES / comb(48, 3))

    def _played(self, form: PublicForm, flop: tuple[int, ...], held: IntArray) -> BucketStrategy:
        """What every bucket does, and the bucket of every hand on every runout of a flop.

        On the first street every hand has a column of its own: before the flop it has another bucket than on it.
        """
        boards = [np.array([flop], dtype=np.uint8)]
        for street in form.streets[1:]:
            boards.append(np.hstack([boards[-1][street.parent], street.cards.astype(np.uint8)]))
        on_flop, *later = (np.maximum(self.buckets.of(each), 0)[:, held] for each in boards)
        begin, columns, place = self._begin.copy(), self._columns.copy(), len(self._later)
        rows = [self._later]
        for node in self._first:
            bucket = on_flop[0] if node in self._begins else HAND_CLASS[held]
            rows.append(self._tables[node][:, bucket].astype(np.float32).ravel())
            begin[node], columns[node] = place, len(held)
            place += rows[-1].size
        maps = (np.arange(len(held), dtype=np.int32)[None], *later)
        return BucketStrategy(np.concatenate(rows), begin, columns, (maps, maps))


def _below(given: FlopTree) -> set[int]:
    """The nodes from where the flop's betting begins."""
    tree, waiting = given.tree, list(given.begins)
    for node in waiting:  # grows during the loop
        waiting += range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
    return set(waiting)


def priced(
    tree: BettingTree, payoffs: Payoffs, strategy: NodeStrategy, lines: Mapping[int, FloatArray], unit: float
) -> Evaluation:
    """Values and best responses of the whole game; `lines[chance node]` are [2, 2, 169] summed over flops."""
    tables = class_equities()
    faced = (
        tables.pairs / CLASS_SIZES[:, None]
    )  # [169, 169] hands of the second class that a hand of the first can face
    won, tied = (each / BOARDS / CLASS_SIZES[:, None] for each in (tables.wins, tables.ties))

    def walk(node: int, own: int, best: bool, reach: FloatArray) -> FloatArray:
        """[169] values of a hand of each class, times the opposing reach."""
        kind, player = tree.kind[node], int(tree.player[node])
        if kind == Kind.FOLD:
            pay = (payoffs.lose if player == own else payoffs.win)[node, own]
            return np.asarray(pay * (faced @ reach))
        if kind == Kind.CHANCE:
            if (end := _showdown(tree, node)) is None:
                return np.asarray(lines[node][own, int(best)])
            win, lose, tie = (each[end, own] for each in (payoffs.win, payoffs.lose, payoffs.tie))
            return np.asarray(((win - lose) * won + (tie - lose) * tied + lose * faced) @ reach)
        played = strategy(node)
        children = range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
        mine = player == own
        below = np.array(
            [walk(child, own, best, reach if mine else reach * row) for child, row in zip(children, played)]
        )
        if not mine:
            return np.asarray(below.sum(axis=0))
        return np.asarray(below.max(axis=0) if best else (played * below).sum(axis=0))

    def value(own: int, best: bool) -> float:
        found = walk(0, own, best, np.ones(CLASSES))
        return float(found @ CLASS_SIZES) / float(tables.pairs.sum()) / unit

    values, responses = ([value(own, best) for own in range(2)] for best in (False, True))
    return Evaluation(tuple(values), tuple(max(pair) for pair in zip(values, responses, strict=True)))
