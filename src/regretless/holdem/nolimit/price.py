"""The exact price of a strategy of a game from the deal: what a best response with real cards gains, in its tree.

1. For each flop, the game given that flop is a public form of three streets: the betting before the flop and on it,
   then every turn and every river. It is evaluated once for each player, following the strategy and best-responding
   to it; the best response may depend on the real cards, not only on buckets. Kept are the values where the flop's
   betting begins, on every line that leads there.
2. Hands of a class (`AKs`) have the same value there on average over the flops that differ in the names of the suits,
   so a flop counts with the mean over the hands of each class, times how many flops it stands for, times the
   probability 1 / C(48, 3) of a flop that blocks neither hand.
3. Where all are in before the flop, the exact equities of the 169 classes give the values, without any flop.
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

from regretless.cards.hands import HAND_CLASS
from regretless.cards.preflop_equities import BOARDS, CLASS_SIZES, class_equities
from regretless.cards.ranges import Range
from regretless.engines.contract import Evaluation, PublicStrategy
from regretless.engines.public.compiled.evaluator import StrategyEvaluator
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import BettingTree, Kind, Payoffs, PublicForm
from regretless.holdem.form.runouts import compile_holdem, holdem_hands
from regretless.holdem.nolimit.boards import GameBuckets

__all__ = ["CLASSES", "FlopTree", "PreflopValues", "flop_tree", "flop_values", "priced"]

CLASSES = len(CLASS_SIZES)
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


def flop_values(
    given: FlopTree, payoffs: Payoffs, buckets: GameBuckets, strategy: NodeStrategy, flop: tuple[int, ...]
) -> PreflopValues:
    """The values of one flop, as if it stood for itself only; `payoffs` are those of the whole game."""
    everything = Range.parse("100%")
    form = compile_holdem(flop, everything, everything, given.tree)
    form = replace(form, payoffs=Payoffs(*(_taken(each, given) for each in (payoffs.win, payoffs.lose, payoffs.tie))))
    held = holdem_hands(flop, everything)
    values = StrategyEvaluator(form).first_street_values(_played(form, given, buckets, strategy, flop, held))
    place = np.cumsum(given.tree.street == 0) - 1  # among the nodes of the first street
    at_flop = values[:, :, place[list(given.begins)]]
    in_class = np.equal.outer(HAND_CLASS[held], np.arange(CLASSES)).astype(np.float64)  # [H, 169]
    summed = at_flop @ in_class
    return np.asarray(summed / CLASS_SIZES / comb(48, 3))


def _taken(numbers: FloatArray, given: FlopTree) -> FloatArray:
    found: FloatArray = numbers[given.node].copy()
    return found


def _played(
    form: PublicForm,
    given: FlopTree,
    buckets: GameBuckets,
    strategy: NodeStrategy,
    flop: tuple[int, ...],
    held: IntArray,
) -> PublicStrategy:
    """What every hand does on every runout of a flop."""
    boards = [np.array([flop], dtype=np.uint8)]
    for street in form.streets[1:]:
        boards.append(np.hstack([boards[-1][street.parent], street.cards.astype(np.uint8)]))
    maps = [np.maximum(buckets.of(each), 0)[:, held] for each in boards]
    before = set(np.flatnonzero(given.tree.street == 0).tolist()) - _below(given)
    of_node: dict[int, FloatArray] = {}

    def played(node: int, runout: int) -> FloatArray:
        if node not in of_node:
            of_node[node] = strategy(int(given.node[node]))
        bucket = HAND_CLASS[held] if node in before else maps[int(given.tree.street[node])][runout]
        found: FloatArray = of_node[node][:, bucket]
        return found

    return played


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
