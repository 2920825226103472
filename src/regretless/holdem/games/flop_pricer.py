"""The exact price of a strategy of a game from the deal: what a best response with real cards gains, in its tree.

1. For each flop, the game given that flop is a public form of three streets: the betting before the flop and on it,
   then every turn and every river. It is evaluated once for each player, following the strategy and best-responding
   to it; the best response may depend on the real cards, not only on buckets. The values where the flop's betting
   begins are kept, on every line that leads there.
2. Averaged over the flops that differ only in the names of the suits, all hands of a class (`AKs`) have the same value
   there. So a flop counts with the mean over the hands of each class, times the number of flops it stands for, times
   the probability 1 / C(48, 3) of a flop that blocks neither hand.
3. Where both are all-in before the flop, the exact equities of the 169 classes give the values, without any flop.
4. Before the flop, the values of all flops together go up the betting tree: a best response chooses there without
   knowing the flop.

With all 1,755 flops the result is exact up to rounding. With fewer, it is the exact exploitability in a game with only
these flops, in which a best response knows which may come: an estimate, biased upwards.

`FlopPricer` has a strategy for every flop, by buckets; `resolving_pricer` solves each flop when it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import DECK
from regretless.cards.hands import HAND_CLASS
from regretless.cards.preflop_equities import BOARDS, CLASS_SIZES, class_equities
from regretless.cards.ranges import Range
from regretless.cards.situations import board_rows
from regretless.engines import (
    BucketEvaluators,
    BucketStrategy,
    Evaluation,
    NumbaBucketEvaluators,
    StrategyTables,
    available,
    cuda_devices,
    in_order,
    one_ahead,
)
from regretless.errors import InvalidOption
from regretless.forms.bucketed import lossless
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import BettingTree, NodeKind, Payoffs, PublicForm
from regretless.forms.public_size import PublicSize, size_of_tree
from regretless.forms.walking import children
from regretless.holdem.form.runouts import compile_holdem, holdem_hands, runout_boards
from regretless.holdem.games.boards import GameBuckets

__all__ = [
    "CLASSES", "FLOP_FORM_BYTES", "FlopPricer", "FlopTree", "NodeStrategy", "PreflopValues", "Pricer",
    "choose_device", "evaluate_game", "flop_form", "flop_tree", "lossless_strategy", "refuse_all", "values_by_class",
    "widest_flop",
]  # fmt: skip

CLASSES = len(CLASS_SIZES)
HANDS = comb(49, 2)  # that a flop leaves
RUNOUTS = (1, 49, 49 * 48)  # of a flop, per street
FLOP_FORM_BYTES = sum(RUNOUTS) * HANDS * 2 * (1 + 2)  # of all runouts: which hands are dead, and their strength
LOOKUP_BYTES = 400 * 2**20  # for finding the buckets of all rivers of a flop
PIECES_PER_THREAD, MIN_BOARDS = 4, 16  # boards are looked up in pieces of at least this many
NodeStrategy = Callable[[int], FloatArray]  # [actions, K] at a betting node

# [2, 2, lines, 169] per player, following the strategy and best-responding: values where the flop's betting begins
PreflopValues = FloatArray


@dataclass(frozen=True)
class FlopTree:
    """The betting of a game from the deal without the deal of the flop: what is public once the flop is known."""

    tree: BettingTree
    node: IntArray  # [N] of the whole game's tree
    begins: tuple[int, ...]  # [lines] the node where the flop's betting begins
    chance: tuple[int, ...]  # [lines] the node of the whole game's tree that deals the flop

    @cached_property
    def on_flop(self) -> frozenset[int]:
        """The nodes from where the flop's betting begins."""
        nodes = list(self.begins)
        for node in nodes:  # grows during the loop
            nodes += children(self.tree, node)
        return frozenset(nodes)

    @cached_property
    def begin_rows(self) -> list[int]:
        """[lines] where the flop's betting begins, among the nodes of the first street."""
        rows: list[int] = (np.cumsum(self.tree.street == 0) - 1)[list(self.begins)].tolist()
        return rows

    def payoffs(self, payoffs: Payoffs) -> Payoffs:
        """Those of this betting, from those of the whole game."""
        return Payoffs(*(each[self.node] for each in (payoffs.win, payoffs.lose, payoffs.tie)))


def flop_tree(tree: BettingTree) -> FlopTree:
    """The betting given the flop; lines that are all-in before it end there, as folds."""
    nodes, parents, labels, first_child, ended = [0], [-1], [""], [1], [False]
    begins: list[int] = []
    chance: list[int] = []
    for row, node in enumerate(nodes):  # grows during the loop: breadth first
        for child in range(0) if ended[row] else children(tree, node):
            deals_flop = bool(tree.kind[child] == NodeKind.CHANCE and tree.street[child] == 0)
            all_in = deals_flop and _showdown(tree, child) is not None
            if deals_flop and not all_in:
                begins.append(len(nodes))
                chance.append(child)
                nodes.append(int(tree.first_child[child]))  # the betting on the flop takes the place of the deal
            else:
                nodes.append(child)
            parents.append(row)
            labels.append(tree.labels[child])
            ended.append(all_in)
        first_child.append(len(nodes))
    node_of, as_fold = np.array(nodes), np.array(ended)
    after_flop = BettingTree(
        kind=np.where(as_fold, NodeKind.FOLD, tree.kind[node_of]).astype(np.int8),
        player=np.where(as_fold, 0, tree.player[node_of]).astype(np.int8),
        street=np.maximum(tree.street[node_of] - 1, 0).astype(np.int8),
        parent=np.array(parents, dtype=np.int32),
        first_child=np.array(first_child, dtype=np.int32),
        paid=tree.paid[node_of],
        starting_pot=tree.starting_pot,
        labels=tuple(labels),
    )
    return FlopTree(after_flop, node_of, tuple(begins), tuple(chance))


def _showdown(tree: BettingTree, node: int) -> int | None:
    """The showdown that a chance node leads to if nobody acts any more."""
    while tree.kind[node] == NodeKind.CHANCE:
        node = int(tree.first_child[node])
    return node if tree.kind[node] == NodeKind.SHOWDOWN else None


def widest_flop(tree: BettingTree) -> PublicSize:
    """The size of a flop of three suits, which has the most runouts."""
    return size_of_tree(tree, 3).with_cards(deck=DECK, hands=(HANDS, HANDS), permutations=2, runouts=RUNOUTS)


def flop_form(flop: tuple[int, ...], tree: BettingTree, payoffs: Payoffs) -> tuple[PublicForm, IntArray]:
    """The game given a flop, and [H] which of the 1,326 hands the flop leaves; both are those of a `FlopTree`."""
    everything = Range.parse("100%")
    form = compile_holdem(flop, everything, everything, tree, payoffs=payoffs)
    return form, holdem_hands(flop, everything)


def lossless_strategy(form: PublicForm, stacked: Callable[[int], FloatArray]) -> BucketStrategy:
    """A strategy with a bucket for every hand on every runout; `stacked(node)` is [runouts, actions, H]."""
    tree, tables = form.tree, []
    for player in range(2):
        nodes = np.flatnonzero((tree.kind == NodeKind.DECISION) & (tree.player == player)).tolist()
        rows = (stacked(node).swapaxes(0, 1) for node in nodes)
        tables.append(StrategyTables.of(nodes, (each.reshape(len(each), -1) for each in rows)))
    return BucketStrategy(tuple(tables), lossless(form))


def values_by_class(at_flop: FloatArray, hands: IntArray) -> PreflopValues:
    """Step 2 for [2, 2, lines, H] values of the hands of a flop."""
    in_class = np.equal.outer(HAND_CLASS[hands], np.arange(CLASSES)).astype(np.float64)  # [H, 169]
    summed = at_flop @ in_class
    return np.asarray(summed / CLASS_SIZES / comb(48, 3))


class Pricer(Protocol):
    """Gives the values of one flop after another, on a device."""

    @property
    def device(self) -> str: ...

    @property
    def evaluation_bytes(self) -> int:
        """An upper bound on what a flop takes on the device."""

    @property
    def memory_bytes(self) -> int:
        """An upper bound on what it takes of the machine's memory."""

    def free_bytes(self) -> int:
        """What is free on the device."""

    def each(self, flops: Iterable[tuple[int, ...]]) -> Iterator[PreflopValues]: ...


class FlopPricer:
    """The strategy of a game, ready to be evaluated on one flop after another; `payoffs` are those of the whole game.

    `threads` look up the buckets of hands; with the default evaluators, they evaluate flops as well.
    """

    def __init__(
        self,
        betting: FlopTree,
        payoffs: Payoffs,
        buckets: GameBuckets,
        strategy: NodeStrategy,
        *,
        threads: int = 1,
        evaluators: BucketEvaluators | None = None,
    ) -> None:
        self.betting, self.buckets, self.threads = betting, buckets, threads
        self.evaluators = evaluators or NumbaBucketEvaluators(threads=threads)
        self.payoffs, tree = betting.payoffs(payoffs), betting.tree
        acts = tree.kind == NodeKind.DECISION
        self._first = np.flatnonzero(acts & (tree.street == 0)).tolist()  # before the flop and on it
        self._tables = {node: strategy(int(betting.node[node])) for node in self._first}
        later = np.flatnonzero(acts & (tree.street > 0)).tolist()
        self._later = StrategyTables.of(later, (strategy(int(betting.node[node])) for node in later))

    @property
    def probabilities(self) -> int:
        """An upper bound on the numbers in the strategy of a flop."""
        first = sum(len(each) for each in self._tables.values()) * HANDS
        return len(self._later.probability) + first

    @property
    def evaluation_bytes(self) -> int:
        """An upper bound on what evaluating a flop takes on the device."""
        return self.evaluators.needed_bytes(widest_flop(self.betting.tree), probabilities=self.probabilities)

    @property
    def memory_bytes(self) -> int:
        """An upper bound on what pricing a flop takes of the machine's memory."""
        if self.device == "cpu":
            return self.evaluation_bytes + FLOP_FORM_BYTES + LOOKUP_BYTES
        buckets = sum(RUNOUTS) * HANDS * (4 + 2)
        ahead = 2  # one flop is evaluated while the next is prepared
        return 2 * self._later.probability.nbytes + ahead * (FLOP_FORM_BYTES + buckets) + LOOKUP_BYTES

    @property
    def device(self) -> str:
        return self.evaluators.device

    def free_bytes(self) -> int:
        """What is free on the device."""
        return self.evaluators.free_bytes()

    def values(self, flop: tuple[int, ...]) -> PreflopValues:
        """The values of one flop, as if it stood for itself only."""
        return self._evaluate(self._prepare(flop))

    def each(self, flops: Iterable[tuple[int, ...]]) -> Iterator[PreflopValues]:
        """The values of one flop after another; a GPU evaluates one while the next is prepared."""
        ahead = map if self.device == "cpu" else one_ahead
        return map(self._evaluate, ahead(self._prepare, flops))

    def _prepare(self, flop: tuple[int, ...]) -> _PreparedFlop:
        form, hands = flop_form(flop, self.betting.tree, self.payoffs)
        return _PreparedFlop(form, hands, self.played(form, flop, hands))

    def line_values(self, flop: tuple[int, ...]) -> FloatArray:
        """[2, 2, lines, H] the values of one flop hand by hand, times the opposing reach."""
        return self._line_values(self._prepare(flop))

    def _evaluate(self, flop: _PreparedFlop) -> PreflopValues:
        return values_by_class(self._line_values(flop), flop.hands)

    def _line_values(self, flop: _PreparedFlop) -> FloatArray:
        values = self.evaluators.create(flop.form).first_street_values(flop.strategy)
        return values[:, :, self.betting.begin_rows]

    def played(self, form: PublicForm, flop: tuple[int, ...], hands: IntArray) -> BucketStrategy:
        """What every bucket does, and the bucket of every hand on every runout of a flop.

        On the first street every hand has a column of its own: before the flop it has another bucket than on it.
        """
        on_flop, *later = (self._buckets(boards, hands) for boards in runout_boards(form, flop))
        bucket = {True: on_flop[0], False: HAND_CLASS[hands]}
        columns = (self._tables[node][:, bucket[node in self.betting.on_flop]] for node in self._first)
        first = StrategyTables.of(self._first, columns)
        maps = (np.arange(len(hands), dtype=np.int32)[None], *later)
        return BucketStrategy((self._later, first), (maps, maps))

    def _buckets(self, boards: NDArray[np.uint8], hands: IntArray) -> IntArray:
        """[boards, H] the bucket of every hand; boards that differ only in their order are looked up together."""
        bucket = np.empty((len(boards), len(hands)), dtype=np.int32)
        count = 1
        if self.threads > 1:
            count = min(self.threads * PIECES_PER_THREAD, -(-len(boards) // MIN_BOARDS))
        pieces = np.array_split(np.argsort(board_rows(boards), kind="stable"), count)
        looked_up = in_order(lambda piece: self.buckets.of(boards[piece]), pieces, self.threads)
        for piece, buckets in zip(pieces, looked_up, strict=True):
            bucket[piece] = np.maximum(buckets[:, hands], 0)
        return bucket


class _PreparedFlop(NamedTuple):
    """A flop, ready to be evaluated."""

    form: PublicForm
    hands: IntArray  # [H] which of the 1,326 the flop leaves
    strategy: BucketStrategy


def evaluate_game(
    tree: BettingTree, payoffs: Payoffs, strategy: NodeStrategy, lines: Mapping[int, FloatArray], unit: float
) -> Evaluation:
    """Values and best responses of the whole game; `lines[chance node]` are [2, 2, 169] summed over flops."""
    walk = _PreflopWalk(tree, payoffs, strategy, lines)
    values = tuple(walk.game_value(player, best=False) / unit for player in range(2))
    responses = tuple(walk.game_value(player, best=True) / unit for player in range(2))
    return Evaluation(values, tuple(max(pair) for pair in zip(values, responses, strict=True)))


class _PreflopWalk:
    """Steps 3 and 4: the betting before the flop, by class of hands."""

    def __init__(
        self, tree: BettingTree, payoffs: Payoffs, strategy: NodeStrategy, lines: Mapping[int, FloatArray]
    ) -> None:
        self.tree, self.payoffs, self.strategy, self.lines = tree, payoffs, strategy, lines
        equities = class_equities()
        self.pairs = float(equities.pairs.sum())
        # [169, 169] how many hands of the second class a hand of the first can face, beats and ties with
        self.faced = equities.pairs / CLASS_SIZES[:, None]
        self.won, self.tied = (each / BOARDS / CLASS_SIZES[:, None] for each in (equities.wins, equities.ties))

    def game_value(self, player: int, *, best: bool) -> float:
        """What a player wins per game, following the strategy or best-responding."""
        values = self.values(0, player, np.ones(CLASSES), best=best)
        return float(values @ CLASS_SIZES) / self.pairs

    def values(self, node: int, player: int, reach: FloatArray, *, best: bool) -> FloatArray:
        """[169] a player's values of a hand of each class, times the opposing `reach`."""
        tree = self.tree
        if tree.kind[node] == NodeKind.FOLD:
            payoff = (self.payoffs.lose if tree.player[node] == player else self.payoffs.win)[node, player]
            return np.asarray(payoff * (self.faced @ reach))
        if tree.kind[node] == NodeKind.CHANCE:
            showdown = _showdown(tree, node)
            if showdown is None:
                return np.asarray(self.lines[node][player, int(best)])
            return self._all_in_values(showdown, player, reach)
        strategy = self.strategy(node)
        below = children(tree, node)
        if tree.player[node] != player:
            opposed = [
                self.values(child, player, reach * row, best=best) for child, row in zip(below, strategy, strict=True)
            ]
            return np.asarray(np.array(opposed).sum(axis=0))
        values = np.array([self.values(child, player, reach, best=best) for child in below])
        return np.asarray(values.max(axis=0) if best else (strategy * values).sum(axis=0))

    def _all_in_values(self, showdown: int, player: int, reach: FloatArray) -> FloatArray:
        win, lose, tie = (each[showdown, player] for each in (self.payoffs.win, self.payoffs.lose, self.payoffs.tie))
        return np.asarray(((win - lose) * self.won + (tie - lose) * self.tied + lose * self.faced) @ reach)


# --- options that pricing and playing against each other share -------------------------------------------------------


def refuse_all(game: str, options: Mapping[str, object]) -> None:
    """Refuse the options of flops that were given for a game without them."""
    for option, value in options.items():
        if value is not None:
            reason = f"does not apply to {game}, which has no flops to price: nobody acts after the flop"
            raise InvalidOption(option, value, reason)


def choose_device(device: str, threads: int | None) -> str:
    """The device that was named; by default a GPU if there is one, unless `threads` ask for the CPU."""
    if device != "auto":
        return device
    return "cuda" if threads is None and cuda_devices() and "cuda" in available() else "cpu"
