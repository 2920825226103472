"""Values of a solved spot, and gains of best responses, on the full deck: float64, plain NumPy.

It shares no code with the engine that could be wrong in both. Every runout is evaluated separately; the strategy of a
runout that was solved for several is transferred to each by renaming suits. Blockers and showdowns are matrices over
pairs of hands, so no sum cancels:

    C[h, k] = 1 if hands h and k share no card
    W, T, L = C where h is stronger than, as strong as, weaker than k on the board
    fold        pay · C r                     r: reach of the opponent's hands k
    showdown    win · W r + tie · T r + lose · L r
    chance      Σ over remaining cards, value / (cards remaining without both hands)
    decision    the opponent's: Σ_a value_a;   own: Σ_a σ[a] · value_a, or max_a value_a in a best response

A best response respects locks: where the spot fixes a decision for a hand, that hand's value there is
Σ_a σ[a] · value_a, as in the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import DECK
from regretless.cards.hands import HAND_CARDS
from regretless.cards.isomorphism import CARD_MAPS, hand_maps
from regretless.errors import InvalidFile
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import Kind, PublicForm
from regretless.holdem.checking.plain_strength import showdown_strengths
from regretless.holdem.form.runouts import spot_hands
from regretless.holdem.form.suits import spot_group
from regretless.holdem.reading.evaluation import Strategies, places
from regretless.holdem.spots.locks import LockedHands
from regretless.holdem.spots.spot import Spot

__all__ = ["BEST", "MEAN", "Betting", "Solved", "Unmerged"]

MEAN, BEST = 0, 1  # rows of values: both players follow the strategies; one best-responds to the other

Pair = tuple[FloatArray, FloatArray]  # of player 0 (ip) and player 1 (oop)
BoolArray = NDArray[np.bool_]

TILE = 64  # rows and columns multiplied at a time


@dataclass(frozen=True)
class Solved:
    """Where to find the strategies for the cards actually dealt."""

    runout: int
    hands: tuple[IntArray, IntArray]  # [H] per player: the hand of that runout whose strategy each hand follows


@dataclass(frozen=True)
class Betting:
    """The betting on one street after certain cards: n nodes of the street, parents first."""

    reach: Pair  # [n, H] per player
    strategy: dict[int, FloatArray]  # by node: [actions, H of the acting player]
    locked: dict[int, BoolArray]  # by node: [H] hands whose decision is locked
    dealt: tuple[int, ...]


class Unmerged:
    """A strategy of a spot, evaluated on the full deck."""

    def __init__(self, spot: Spot, form: PublicForm, strategies: Strategies) -> None:
        self.spot, self.tree, self.strategies = spot, form.tree, strategies
        self.held = spot_hands(spot)
        self.cards = HAND_CARDS[self.held[0]].astype(np.int64), HAND_CARDS[self.held[1]].astype(np.int64)
        self.weight: Pair = spot.ip.weights[self.held[0]], spot.oop.weights[self.held[1]]
        self.streets = len(spot.streets)
        self.group = spot_group(spot)
        self.solved_runouts = _solved_runouts(form)
        self.locks = LockedHands(form, spot.locks, self.held)
        self._strengths_found: dict[frozenset[int], tuple[IntArray, IntArray]] = {}
        self.nodes = [np.flatnonzero(self.tree.street == street) for street in range(self.streets)]
        self.place = places(self.tree)

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

    def root(self) -> Betting:
        return self.begin((), (self.weight[0][None], self.weight[1][None]))

    def cards_left(self, dealt: Sequence[int]) -> list[int]:
        return [card for card in range(DECK) if card not in self.spot.board and card not in dealt]

    def deal_probability(self, street: int) -> float:
        """Probability of each card dealt after a street, given two hands that it does not block."""
        return 1.0 / (DECK - len(self.spot.board) - street - 4)

    # --- one street --------------------------------------------------------------------------------------------------

    def begin(self, dealt: tuple[int, ...], entering: Pair) -> Betting:
        """Follow the betting of a street down, from the players' reach [entries, H] where it begins."""
        street, tree = len(dealt), self.tree
        solved = self.solved(dealt)
        entries = self.place[self._entries[street]]
        reach = tuple(np.zeros((len(self.nodes[street]), len(held))) for held in self.held)
        for player in range(2):
            reach[player][entries] = entering[player]
        strategy: dict[int, FloatArray] = {}
        locked: dict[int, BoolArray] = {}
        for node in self._decisions[street]:
            actor = int(tree.player[node])
            strategy[node] = self.strategies.strategy(node, solved.runout)[:, solved.hands[actor]]
            given = self.locks.hands(node, solved.runout)
            if given.any():
                locked[node] = given[solved.hands[actor]]
            below, here = self._below(node), self.place[node]
            reach[actor][below] = reach[actor][here] * strategy[node]
            reach[1 - actor][below] = reach[1 - actor][here]
        return Betting((reach[0], reach[1]), strategy, locked, dealt)

    def lines_out(self, betting: Betting) -> IntArray:
        """Rows of the nodes that end a street with a card to come."""
        return self._rows(len(betting.dealt), Kind.CHANCE)

    def finish(self, betting: Betting, lines: Pair) -> Pair:
        """Values [2, entries, H] of a street from the values [2, lines out, H] of its lines into the next."""
        street, tree = len(betting.dealt), self.tree
        found = []
        for player in range(2):
            values = np.zeros((2, len(self.nodes[street]), len(self.held[player])))
            values[:, self._rows(street, Kind.CHANCE)] = lines[player]
            found.append(values)
        self._fold(betting, found)
        if street == self.streets - 1:
            self._show_down(betting, found)
        for node in reversed(self._decisions[street]):
            actor, below, here = int(tree.player[node]), self._below(node), self.place[node]
            found[1 - actor][:, here] = found[1 - actor][:, below].sum(axis=1)
            own = found[actor][:, below]
            followed = (own * betting.strategy[node]).sum(axis=1)
            best = own[BEST].max(axis=0)
            if node in betting.locked:
                best = np.where(betting.locked[node], followed[BEST], best)
            found[actor][MEAN, here], found[actor][BEST, here] = followed[MEAN], best
        entries = self.place[self._entries[street]]
        return found[0][:, entries], found[1][:, entries]

    def after(self, betting: Betting, card: int, evaluated: Callable[[], None]) -> Pair:
        """[2, lines out, H] values of the lines of a street into the next if `card` comes, times its probability.

        `evaluated` is called after every complete runout.
        """
        out = self.lines_out(betting)
        alive = tuple((cards != card).all(axis=1) for cards in self.cards)
        entering = betting.reach[0][out] * alive[0], betting.reach[1][out] * alive[1]
        following = self.begin((*betting.dealt, card), entering)
        lines = self.no_lines(following)
        if len(following.dealt) < self.streets - 1:
            for later in self.cards_left(following.dealt):
                for player, values in enumerate(self.after(following, later, evaluated)):
                    lines[player][:] += values
        else:
            evaluated()
        first, second = self.finish(following, lines)
        probability = self.deal_probability(len(betting.dealt))
        return first * (alive[0] * probability), second * (alive[1] * probability)

    def no_lines(self, betting: Betting) -> Pair:
        """Zeros for summing the values of the lines into the next street."""
        count = len(self.lines_out(betting))
        return np.zeros((2, count, len(self.held[0]))), np.zeros((2, count, len(self.held[1])))

    # --- terminals ---------------------------------------------------------------------------------------------------

    def _fold(self, betting: Betting, found: list[FloatArray]) -> None:
        rows = self._rows(len(betting.dealt), Kind.FOLD)
        if not len(rows):
            return
        nodes = self.nodes[len(betting.dealt)][rows]
        win, _, lose = self._pays(nodes)
        for player, compatible in enumerate((self.compatible.T, self.compatible)):
            met = _product(betting.reach[1 - player][rows], compatible)
            pay = np.where(self.tree.player[nodes] == player, lose[:, player], win[:, player])
            found[player][:, rows] = pay[:, None] * met

    def _show_down(self, betting: Betting, found: list[FloatArray]) -> None:
        rows = self._rows(len(betting.dealt), Kind.SHOWDOWN)
        if not len(rows):
            return
        win, tie, lose = self._pays(self.nodes[len(betting.dealt)][rows])
        strength = self._strengths(betting.dealt)
        mine, theirs = strength[0][:, None], strength[1]
        beats, ties, loses = (
            self.compatible * chosen for chosen in (mine > theirs, mine == theirs, mine < theirs)
        )  # of player 0
        seen = ((beats.T, ties.T, loses.T), (loses, ties, beats))
        for player in range(2):
            reach = betting.reach[1 - player][rows]
            stronger, equal, weaker = (_product(reach, matrix) for matrix in seen[player])
            pays = (each[:, player, None] for each in (win, tie, lose))
            found[player][:, rows] = sum(
                pay * met for pay, met in zip(pays, (stronger, equal, weaker), strict=True)
            )  # the same for the mean and for a best response

    def _strengths(self, dealt: tuple[int, ...]) -> tuple[IntArray, IntArray]:
        """[H] per player; -1 where the board blocks a hand. Computed once for all orders of the same cards."""
        key = frozenset(dealt)
        if key not in self._strengths_found:
            board = (*self.spot.board, *dealt)
            cards = np.concatenate(self.cards)
            alive = ~np.isin(cards, board).any(axis=1)
            found = np.full(len(cards), -1, dtype=np.int32)
            found[alive] = showdown_strengths(board, cards[alive])
            self._strengths_found[key] = found[: len(self.held[0])], found[len(self.held[0]) :]
        return self._strengths_found[key]

    def _pays(self, nodes: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """[nodes, 2] chips that each player takes out at terminals by winning, tying and losing, minus their own bets.

        The winner pays rake on the matched pot, also after a fold; on a tie each player pays half.
        """
        paid, pot = self.tree.paid[nodes], self.spot.pot
        rules = self.spot.rules
        rake = np.minimum(rules.rake * (pot + 2.0 * paid.min(axis=1)), rules.rake_cap)
        total = (pot + paid.sum(axis=1) - rake)[:, None]
        return total - paid, total / 2 - paid, -paid

    # --- where things are --------------------------------------------------------------------------------------------

    def solved(self, dealt: tuple[int, ...]) -> Solved:
        """The runout that was solved for these cards, found by the first renaming of suits that leads to one."""
        for row in self.group:
            runout = self.solved_runouts.get(tuple(int(CARD_MAPS[row, card]) for card in dealt))
            if runout is not None:
                first, second = (self._renamed(player, int(row)) for player in range(2))
                return Solved(runout, (first, second))
        raise InvalidFile("the solution", f"has no runout for the cards {dealt}")

    def _renamed(self, player: int, row: int) -> IntArray:
        """[H] position of the hand that each hand becomes."""
        held = self.held[player]
        place = np.full(len(HAND_CARDS), -1, dtype=np.int64)
        place[held] = np.arange(len(held))
        return np.asarray(place[hand_maps()[row, held]])

    @cached_property
    def _entries(self) -> list[IntArray]:
        """Nodes where the betting of each street begins: the root, or the nodes after a card."""
        kind, street = self.tree.kind, self.tree.street
        chances = [np.flatnonzero((kind == Kind.CHANCE) & (street == each)) for each in range(self.streets - 1)]
        return [np.zeros(1, dtype=np.int64)] + [self.tree.first_child[nodes].astype(np.int64) for nodes in chances]

    @cached_property
    def _decisions(self) -> list[list[int]]:
        return [[int(node) for node in nodes if self.tree.kind[node] == Kind.DECISION] for nodes in self.nodes]

    def _rows(self, street: int, kind: Kind) -> IntArray:
        rows: IntArray = np.flatnonzero(self.tree.kind[self.nodes[street]] == kind)
        return rows

    def _below(self, node: int) -> slice:
        """Rows of a decision's children, which are adjacent on its street."""
        first, last = int(self.tree.first_child[node]), int(self.tree.first_child[node + 1])
        return slice(int(self.place[first]), int(self.place[first]) + last - first)


def _product(rows: FloatArray, matrix: FloatArray) -> FloatArray:
    """rows @ matrix, in tiles too small for BLAS to start threads, which would take longer than the product."""
    found = np.zeros((len(rows), matrix.shape[1]))
    for row in range(0, len(rows), TILE):
        for column in range(0, matrix.shape[1], TILE):
            for inner in range(0, len(matrix), TILE):
                found[row : row + TILE, column : column + TILE] += (
                    rows[row : row + TILE, inner : inner + TILE] @ matrix[inner : inner + TILE, column : column + TILE]
                )
    return found


def _solved_runouts(form: PublicForm) -> dict[tuple[int, ...], int]:
    """The runout of each sequence of dealt cards."""
    found: dict[tuple[int, ...], int] = {(): 0}
    before: list[tuple[int, ...]] = [()]
    for street in form.streets[1:]:
        after = [
            (*before[int(parent)], int(cards[0])) for parent, cards in zip(street.parent, street.cards, strict=True)
        ]
        found |= {dealt: runout for runout, dealt in enumerate(after)}
        before = after
    return found
