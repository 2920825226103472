"""Values of a solved spot, and gains of best responses, on the full deck: float64, plain NumPy.

It shares no code with the engine that could be wrong in both. Every runout is evaluated separately; the strategy of a
runout that was solved for several is transferred to each by renaming suits. Blockers and showdowns are matrices over
pairs of hands, so no sum cancels:

    C[h, k] = 1 if hands h and k share no card
    S[h, k] = C[h, k] · (1 if h is stronger than k on the board, ½ if as strong, 0 if weaker)
    fold        (pot if the opponent folded − paid) · C r     r: reach of the opponent's hands k
    showdown    pot · S r − paid · C r                        pot: with all bets, less rake; paid: own bets
    chance      Σ over remaining cards, value / (cards remaining without both hands)
    decision    the opponent's: Σ_a value_a;   own: Σ_a σ[a] · value_a, or max_a value_a in a best response

The runouts of the last street are evaluated in batches, as many together as fit into a few megabytes, so that narrow
ranges do not spend their time in the interpreter; a batch is the first axis, B, of every array.

A best response respects locks: where the spot fixes a decision for a hand, that hand's value there is
Σ_a σ[a] · value_a, as in the engine.

The strength of a hand comes directly from the rules, without the lookup tables and compiled kernels of
`cards.evaluator`, so that a mistake in either would show. It is an integer, larger for the better hand:

    category · 2²⁶ + first · 2¹³ + second

where `first` and `second` are sets of ranks, one bit each: those that make the category, then the kickers. Sets with
the same number of ranks compare as hands do, highest rank first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import DECK
from regretless.cards.hands import HAND_CARDS
from regretless.cards.isomorphism import CARD_MAPS, hand_maps
from regretless.errors import InvalidFile
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import NodeKind, PublicForm
from regretless.holdem.form.runouts import spot_hands
from regretless.holdem.form.suits import spot_group
from regretless.holdem.reading.evaluation import Strategies, street_rows
from regretless.holdem.spots.locked_nodes import LockedHands
from regretless.holdem.spots.spot import Spot

__all__ = ["BEST", "MEAN", "StreetBetting", "Unmerged", "batch_size", "runout_bytes", "showdown_strengths"]

_WHEEL = 0b1_0000_0000_1111  # A 2 3 4 5

MEAN, BEST = 0, 1  # rows of values: both players follow the strategies; one best-responds to the other
Pair = tuple[FloatArray, FloatArray]  # of player 0 (ip) and player 1 (oop)
BoolArray = NDArray[np.bool_]
TILE = 64  # rows and columns multiplied at a time
RIVERS = DECK - 4  # after each turn
BATCH_BYTES = 8 << 20  # of the runouts evaluated together


def showdown_strengths(board: Sequence[int] | IntArray, hands: IntArray) -> IntArray:
    """[H] strength of hands [H, 2] on a five-card board, or one board [H, 5] each, that shares no card with them.

    >>> from regretless.cards.deck import parse_board
    >>> hands = np.array([parse_board(text) for text in ("Ah Kd", "7c 7d", "9s 2s")])
    >>> showdown_strengths(parse_board("Qs Js Ts 8s 7h"), hands).argsort().tolist()  # trips, straight, flush
    [1, 0, 2]
    """
    shared = np.broadcast_to(np.array(board, dtype=np.int64), (len(hands), 5))
    cards = np.concatenate([hands.astype(np.int64), shared], axis=1)
    ranks, suits = cards // 4, cards % 4
    counts, suit_counts = _counts(ranks, 13), _counts(suits, 4)
    flush_suit = suit_counts.argmax(axis=1)
    in_flush = (suits == flush_suit[:, None]) & (suit_counts.max(axis=1) >= 5)[:, None]

    present = _ranks(counts >= 1)
    flush = np.bitwise_or.reduce(np.where(in_flush, 1 << ranks, 0), axis=1)
    four, three, pairs = _ranks(counts == 4), _ranks(counts == 3), _ranks(counts >= 2)
    best_four, best_three, best_pair, two_pairs = _top(four, 1), _top(three, 1), _top(pairs, 1), _top(pairs, 2)
    full_of = _top(pairs & ~best_three, 1)
    straight, straight_flush = _straights()[present], _straights()[flush]
    none = np.zeros_like(present)

    cases = [
        (straight_flush > 0, 8, straight_flush, none),
        (four > 0, 7, best_four, _top(present & ~best_four, 1)),
        ((three > 0) & (full_of > 0), 6, best_three, full_of),
        (flush > 0, 5, _top(flush, 5), none),
        (straight > 0, 4, straight, none),
        (three > 0, 3, best_three, _top(present & ~best_three, 2)),
        (two_pairs != best_pair, 2, two_pairs, _top(present & ~two_pairs, 1)),
        (pairs > 0, 1, best_pair, _top(present & ~best_pair, 3)),
    ]
    return np.select(
        [applies for applies, *_ in cases],
        [(category << 26) + (first << 13) + second for _, category, first, second in cases],
        default=_top(present, 5) << 13,
    )


def _counts(numbers: IntArray, size: int) -> IntArray:
    """[H, size] how often each number below `size` occurs in a row."""
    flat = np.arange(len(numbers))[:, None] * size + numbers
    return np.bincount(flat.ravel(), minlength=len(numbers) * size).reshape(-1, size)


def _ranks(chosen: NDArray[np.bool_]) -> IntArray:
    """[H] sets of ranks from [H, 13] flags."""
    sets: IntArray = (chosen.astype(np.int64) << np.arange(13)).sum(axis=1)
    return sets


def _top(ranks: IntArray, count: int) -> IntArray:
    """The highest `count` ranks of each set, or all if there are fewer."""
    return _tops()[count][ranks]


@cache
def _tops() -> list[IntArray]:
    """For each number of ranks to keep, the highest ranks of each of the 8,192 sets."""
    sets = np.arange(1 << 13)
    tops = [np.zeros_like(sets)]
    for _ in range(5):
        others = sets & ~tops[-1]
        highest = np.where(others > 0, 1 << (np.frexp(others.astype(np.float64))[1] - 1).clip(0), 0)
        tops.append(tops[-1] | highest)
    return tops


@cache
def _straights() -> IntArray:
    """For each of the 8,192 sets, the highest rank of its best straight, as a set; empty if there is none."""
    sets = np.arange(1 << 13)
    highest = np.where(sets & _WHEEL == _WHEEL, 1 << 3, 0)
    for high in range(4, 13):
        five = 0b11111 << (high - 4)
        highest = np.where(sets & five == five, 1 << high, highest)
    return highest


@dataclass(frozen=True)
class Solved:
    """Where to find the strategies for the cards actually dealt."""

    runouts: list[int]  # those that were solved, each once
    index: IntArray  # [B] which of these
    hands: tuple[IntArray, IntArray]  # [B, H] per player: the hand of that runout whose strategy each hand follows


@dataclass(frozen=True)
class StreetBetting:
    """The betting on one street after certain cards: B runouts, and the n nodes of the street, parents first."""

    reach: Pair  # [B, n, H] per player
    strategy: dict[int, FloatArray]  # by node: [B, actions, H of the acting player]
    locked: dict[int, BoolArray]  # by node: [B, H] hands whose decision is locked
    dealt: list[tuple[int, ...]]  # the cards of each runout

    @property
    def street(self) -> int:
        return len(self.dealt[0])


class Unmerged:
    """A strategy of a spot, evaluated on the full deck."""

    def __init__(self, spot: Spot, form: PublicForm, strategies: Strategies) -> None:
        self.spot, self.tree, self.strategies = spot, form.tree, strategies
        self.hand_numbers = spot_hands(spot)
        self.cards = (
            HAND_CARDS[self.hand_numbers[0]].astype(np.int64),
            HAND_CARDS[self.hand_numbers[1]].astype(np.int64),
        )
        self.weight: Pair = spot.ip.weights[self.hand_numbers[0]], spot.oop.weights[self.hand_numbers[1]]
        self.streets = len(spot.streets)
        self.group = spot_group(spot)
        self.solved_runouts = _solved_runouts(form)
        self.locks = LockedHands(form, spot.locks, self.hand_numbers)
        self.batch = batch_size(form)
        self._strengths_by_cards: dict[frozenset[int], IntArray] = {}
        self.nodes = [np.flatnonzero(self.tree.street == street) for street in range(self.streets)]
        self.street_row = street_rows(self.tree)

    @cached_property
    def compatible(self) -> FloatArray:
        """[H0, H1] C: 1 where two hands share no card; not from `forms.blockers`, whose mistakes would not show."""
        first, second = self.cards
        shared = (first[:, None, :, None] == second[None, :, None, :]).any(axis=(2, 3))
        return np.asarray(~shared, dtype=np.float64)

    @cached_property
    def pairs(self) -> float:
        """Σ w0[h] · C[h, k] · w1[k]: the divisor of values at the root."""
        return float(self.weight[0] @ self.compatible @ self.weight[1])

    def root(self) -> StreetBetting:
        return self.begin([()], (self.weight[0][None, None], self.weight[1][None, None]))

    def cards_left(self, dealt: Sequence[int]) -> list[int]:
        return [card for card in range(DECK) if card not in self.spot.board and card not in dealt]

    def deal_probability(self, street: int) -> float:
        """Probability of each card dealt after a street, given two hands that it does not block."""
        return 1.0 / (DECK - len(self.spot.board) - street - 4)

    # --- one street --------------------------------------------------------------------------------------------------

    def begin(self, dealt: list[tuple[int, ...]], entering: Pair) -> StreetBetting:
        """Follow the betting of a street down, from the players' reach [B, entries, H] where it begins."""
        street, tree = len(dealt[0]), self.tree
        solved = self._solved(dealt)
        entries = self.street_row[self._entries[street]]
        reach = tuple(np.zeros((len(dealt), len(self.nodes[street]), len(numbers))) for numbers in self.hand_numbers)
        for player in range(2):
            reach[player][:, entries] = entering[player]
        decisions = self._decisions[street]
        rows = [[self.strategies.strategy(node, runout) for node in decisions] for runout in solved.runouts]
        strategy: dict[int, FloatArray] = {}
        locked: dict[int, BoolArray] = {}
        for node, *every in zip(decisions, *rows, strict=True):
            actor = int(tree.player[node])
            actions = np.arange(len(every[0]))[:, None]
            strategy[node] = np.array(every)[solved.index[:, None, None], actions, solved.hands[actor][:, None]]
            if self.spot.locks:
                locks = np.array([self.locks.hands(node, runout) for runout in solved.runouts])
                locked[node] = locks[solved.index[:, None], solved.hands[actor]]
            below, row = self._below(node), self.street_row[node]
            reach[actor][:, below] = reach[actor][:, row, None] * strategy[node]
            reach[1 - actor][:, below] = reach[1 - actor][:, row, None]
        return StreetBetting((reach[0], reach[1]), strategy, locked, dealt)

    def lines_out(self, street: int) -> IntArray:
        """Rows of the nodes that end a street with a card to come."""
        return self._rows(street, NodeKind.CHANCE)

    def finish(self, betting: StreetBetting, lines: Pair) -> Pair:
        """Values [2, B, entries, H] of a street from the values [2, lines out, H] of its lines into the next."""
        street, tree = betting.street, self.tree
        values_of = []
        for player in range(2):
            values = np.zeros((2, *betting.reach[player].shape))
            values[:, :, self.lines_out(street)] = lines[player][:, None]
            values_of.append(values)
        self._fold(betting, values_of)
        if street == self.streets - 1:
            self._show_down(betting, values_of)
        for node in reversed(self._decisions[street]):
            actor, below, row = int(tree.player[node]), self._below(node), self.street_row[node]
            values_of[1 - actor][:, :, row] = values_of[1 - actor][:, :, below].sum(axis=2)
            own = values_of[actor][:, :, below]
            followed = (own * betting.strategy[node]).sum(axis=2)
            best = own[BEST].max(axis=1)
            if node in betting.locked:
                best = np.where(betting.locked[node], followed[BEST], best)
            values_of[actor][MEAN, :, row], values_of[actor][BEST, :, row] = followed[MEAN], best
        entries = self.street_row[self._entries[street]]
        return values_of[0][:, :, entries], values_of[1][:, :, entries]

    def after(self, betting: StreetBetting, cards: Sequence[int], evaluated: Callable[[int], None]) -> Pair:
        """[2, lines out, H] values of the lines of a street into the next, one runout's: Σ over `cards`, times the
        probability of each.

        `evaluated` is called with the number of complete runouts after each batch.
        """
        (dealt,) = betting.dealt
        street = len(dealt) + 1
        last = street == self.streets - 1
        out, probability = self.lines_out(street - 1), self.deal_probability(street - 1)
        total = self.no_lines(street - 1)
        size = self.batch if last else 1
        for first in range(0, len(cards), size):
            batch = cards[first : first + size]
            alive = [
                (cards_of_hands != np.array(batch)[:, None, None]).all(axis=2) for cards_of_hands in self.cards
            ]  # [B, H]
            entering = betting.reach[0][:, out] * alive[0][:, None], betting.reach[1][:, out] * alive[1][:, None]
            following = self.begin([(*dealt, card) for card in batch], entering)
            lines = self.no_lines(street)
            if not last:
                lines = self.after(following, self.cards_left(following.dealt[0]), evaluated)
            for player, values in enumerate(self.finish(following, lines)):
                total[player][:] += (values * alive[player][:, None]).sum(axis=1) * probability
            if last:
                evaluated(len(batch))
        return total

    def no_lines(self, street: int) -> Pair:
        """Zeros for summing the values of the lines of a street into the next."""
        count = len(self.lines_out(street))
        return np.zeros((2, count, len(self.hand_numbers[0]))), np.zeros((2, count, len(self.hand_numbers[1])))

    # --- terminals ---------------------------------------------------------------------------------------------------

    def _fold(self, betting: StreetBetting, values_of: list[FloatArray]) -> None:
        rows = self._rows(betting.street, NodeKind.FOLD)
        if not len(rows):
            return
        nodes = self.nodes[betting.street][rows]
        for player, compatible in enumerate((self.compatible.T, self.compatible)):
            won = np.where(self.tree.player[nodes] == player, 0.0, self._pot(nodes))
            pay = won - self.tree.paid[nodes, player]
            values_of[player][:, :, rows] = pay[:, None] * _product(betting.reach[1 - player][:, rows], compatible)

    def _show_down(self, betting: StreetBetting, values_of: list[FloatArray]) -> None:
        rows = self._rows(betting.street, NodeKind.SHOWDOWN)
        if not len(rows):
            return
        nodes = self.nodes[betting.street][rows]
        strength = self._strengths(betting.dealt)
        hands = len(self.hand_numbers[0])
        ip, oop = strength[:, :hands, None], strength[:, None, hands:]
        first = ((ip > oop) + 0.5 * (ip == oop)) * self.compatible  # player 0's shares of the pot
        shares = first.swapaxes(1, 2), self.compatible - first
        for player, compatible in enumerate((self.compatible.T, self.compatible)):
            reach = betting.reach[1 - player][:, rows]
            won = self._pot(nodes)[:, None] * _product(reach, shares[player])
            paid = self.tree.paid[nodes, player, None] * _product(reach, compatible)
            values_of[player][:, :, rows] = won - paid  # the same for the mean and for a best response

    def _strengths(self, dealt: list[tuple[int, ...]]) -> IntArray:
        """[B, H0 + H1], -1 where the board blocks a hand. Computed once for all orders of the same cards."""
        keys = [frozenset(cards) for cards in dealt]
        missing = [key for key in keys if key not in self._strengths_by_cards]
        if missing:
            cards = np.concatenate(self.cards)
            boards = np.array([[*self.spot.board, *key] for key in missing])
            runout, hand = np.nonzero(~(cards[None, :, :, None] == boards[:, None, None]).any(axis=(2, 3)))
            strengths = np.full((len(missing), len(cards)), -1, dtype=np.int32)
            strengths[runout, hand] = showdown_strengths(boards[runout], cards[hand])
            self._strengths_by_cards |= dict(zip(missing, strengths, strict=True))
        return np.array([self._strengths_by_cards[key] for key in keys])

    def _pot(self, nodes: IntArray) -> FloatArray:
        """[nodes] chips to be won at terminals: whoever wins pays rake on the matched pot, also after a fold."""
        paid, rules = self.tree.paid[nodes], self.spot.rules
        rake = np.minimum(rules.rake * (self.spot.pot + 2.0 * paid.min(axis=1)), rules.rake_cap)
        return np.asarray(self.spot.pot + paid.sum(axis=1) - rake)

    # --- solved runouts and nodes ------------------------------------------------------------------------------------

    def _solved(self, dealt: list[tuple[int, ...]]) -> Solved:
        """The runouts that were solved for these cards, each found by the first renaming of suits that leads to one."""
        runouts, rows = zip(*(self._solved_runout(cards) for cards in dealt), strict=True)
        unique, index = np.unique(runouts, return_inverse=True)
        first, second = (np.array([renaming[row] for row in rows]) for renaming in self._renamings)
        return Solved(unique.tolist(), index, (first, second))

    def _solved_runout(self, dealt: tuple[int, ...]) -> tuple[int, int]:
        """A runout that was solved, and the renaming of suits that leads to it."""
        for row in self.group:
            runout = self.solved_runouts.get(tuple(int(CARD_MAPS[row, card]) for card in dealt))
            if runout is not None:
                return runout, int(row)
        raise InvalidFile("the solution", f"has no runout for the cards {dealt}")

    @cached_property
    def _renamings(self) -> list[dict[int, IntArray]]:
        """Per player, by renaming of suits: [H] position of the hand that each hand becomes."""
        renamings = []
        for numbers in self.hand_numbers:
            position = np.full(len(HAND_CARDS), -1, dtype=np.int64)
            position[numbers] = np.arange(len(numbers))
            renamings.append({int(row): position[hand_maps()[row, numbers]] for row in self.group})
        return renamings

    @cached_property
    def _entries(self) -> list[IntArray]:
        """Nodes where the betting of each street begins: the root, or the nodes after a card."""
        kind, street = self.tree.kind, self.tree.street
        chances = [np.flatnonzero((kind == NodeKind.CHANCE) & (street == each)) for each in range(self.streets - 1)]
        return [np.zeros(1, dtype=np.int64)] + [self.tree.first_child[nodes].astype(np.int64) for nodes in chances]

    @cached_property
    def _decisions(self) -> list[list[int]]:
        return [[int(node) for node in nodes if self.tree.kind[node] == NodeKind.DECISION] for nodes in self.nodes]

    def _rows(self, street: int, kind: NodeKind) -> IntArray:
        rows: IntArray = np.flatnonzero(self.tree.kind[self.nodes[street]] == kind)
        return rows

    def _below(self, node: int) -> slice:
        """Rows of a decision's children, which are adjacent on its street."""
        first, last = int(self.tree.first_child[node]), int(self.tree.first_child[node + 1])
        return slice(int(self.street_row[first]), int(self.street_row[first]) + last - first)


def runout_bytes(form: PublicForm) -> int:
    """Approximate memory for the betting of one runout of the last street."""
    hands = [len(each.weight) for each in form.hands]
    nodes = int(np.count_nonzero(form.tree.street == len(form.streets) - 1))
    return 8 * (8 * nodes * sum(hands) + 3 * hands[0] * hands[1])  # reach, values twice, strategies, and temporaries


def batch_size(form: PublicForm) -> int:
    """Runouts of the last street that are evaluated together."""
    rivers = RIVERS if len(form.streets) > 1 else 1
    return max(1, min(BATCH_BYTES // runout_bytes(form), rivers))


def _product(rows: FloatArray, matrix: FloatArray) -> FloatArray:
    """rows [B, n, H] @ matrix, in tiles too small for BLAS to start threads, which would take longer than the sums."""
    product = np.zeros((*rows.shape[:2], matrix.shape[-1]))
    for row in range(0, rows.shape[1], TILE):
        for column in range(0, matrix.shape[-1], TILE):
            for inner in range(0, rows.shape[2], TILE):
                product[:, row : row + TILE, column : column + TILE] += (
                    rows[:, row : row + TILE, inner : inner + TILE]
                    @ matrix[..., inner : inner + TILE, column : column + TILE]
                )
    return product


def _solved_runouts(form: PublicForm) -> dict[tuple[int, ...], int]:
    """The runout of each sequence of dealt cards."""
    runouts: dict[tuple[int, ...], int] = {(): 0}
    before: list[tuple[int, ...]] = [()]
    for street in form.streets[1:]:
        after = [
            (*before[int(parent)], int(cards[0])) for parent, cards in zip(street.parent, street.cards, strict=True)
        ]
        runouts |= {dealt: runout for runout, dealt in enumerate(after)}
        before = after
    return runouts
