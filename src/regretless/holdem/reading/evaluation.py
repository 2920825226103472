"""Values of hands below a public node under given strategies, for one node at a time.

The engine evaluates whole trees; this reads single nodes of a solved one. With r the opponent's reach, every value of a
hand h is a sum over the opposing hands k that share no card with it:

    fold       pay · Σ r[k]
    showdown   win · Σ_{weaker} r[k] + tie · Σ_{equal} r[k] + lose · Σ_{stronger} r[k]
    decision   own: Σ_a σ[a, h] · value_a[h];   the opponent's: Σ_a value_a[h] with reach r · σ[a]
    chance     Σ over deals, probability · value after the deal

Dividing by Σ r[k] gives chips. Hands are those of the form, deals its runouts; `suits` maps between these and the cards
actually dealt.

At a showdown, the reach that a hand faces, beats or ties comes from running sums instead of tables of pairs. With P the
running sum of r in order of strength, and C the running sums of the reach that contains a given card, a hand h with
cards c and d faces, among the hands weaker than itself,

    W(h) = P[weaker than h] − C_c[weaker than h] − C_d[weaker than h]

and E(h) is the same with "weaker or equal", V(h) with all hands. The opponent's hand with the same two cards is as
strong as h: it is subtracted twice in E and V, so it is added back once.

Where h blocks nearly all of the reach, these sums cancel and mostly rounding error remains. Such hands are rare and
are compared pair by pair instead.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from regretless.cards.equity import add_pairs
from regretless.forms.blockers import compatible, met, nearly_blocked, same_reach
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import BettingTree, Hands, NodeKind, PublicForm
from regretless.forms.walking import children

__all__ = ["Evaluator", "Met", "Showdown", "Strategies", "street_rows"]

_STEP = 1 << 20  # above every strength, so that keys of different cards never mix

BoolArray = NDArray[np.bool_]
CACHED_PAIRS = 8  # tables of pairs in memory, each up to ten megabytes


class Met(NamedTuple):
    """[rows, H] reach of weaker hands, of weaker or equal ones, and of all that share no card."""

    weaker: FloatArray
    not_stronger: FloatArray
    all: FloatArray


class Showdown:
    """Which hands beat which on a final board, from one player's point of view."""

    def __init__(self, own: Hands, other: Hands, own_strength: IntArray, other_strength: IntArray, deck: int) -> None:
        self.own, self.other, self.deck = own, other, deck
        self.own_strength, self.other_strength = own_strength, other_strength
        self.alive = own_strength >= 0
        live = np.flatnonzero(other_strength >= 0)
        self.order = live[np.argsort(other_strength[live], kind="stable")]
        strength = other_strength[self.order].astype(np.int64)
        threshold = own_strength.astype(np.int64)
        keys = (other.cards[self.order].astype(np.int64) * _STEP + strength[:, None]).T.ravel()
        by_key = np.argsort(keys, kind="stable")
        self.by_card = by_key % len(self.order)  # positions in `order`, card by card, weakest first
        keys = keys[by_key]
        cards = own.cards.astype(np.int64) * _STEP
        self.start = np.searchsorted(keys, cards)  # [H, 2] where the hands with each own card begin
        self.until = [np.searchsorted(strength, threshold, side) for side in ("left", "right")]
        self.card_until = [np.searchsorted(keys, cards + threshold[:, None], side) for side in ("left", "right")]

    def met(self, reach: FloatArray) -> Met:
        """For rows of reach [rows, H of the opponent]; dead hands face nothing."""
        sorted_reach = reach[:, self.order]
        running = _running(sorted_reach)
        cards = _running(sorted_reach[:, self.by_card])
        begun = cards[:, self.start[:, 0]] + cards[:, self.start[:, 1]]
        weaker, not_stronger = (
            running[:, until] - cards[:, card_until[:, 0]] - cards[:, card_until[:, 1]] + begun
            for until, card_until in zip(self.until, self.card_until, strict=True)
        )
        live = np.zeros_like(reach)
        live[:, self.order] = sorted_reach
        everyone = met(self.own, self.other, live, self.deck)
        not_stronger += same_reach(self.own, live)
        inaccurate = nearly_blocked(everyone, live) & self.alive  # differences of sums: summed hand by hand instead
        if inaccurate.any():
            free, own_strength = compatible(self.own, self.other)[inaccurate], self.own_strength[inaccurate, None]
            weaker[:, inaccurate] = live @ (free & (self.other_strength < own_strength)).T
            not_stronger[:, inaccurate] = live @ (free & (self.other_strength <= own_strength)).T
        return Met(weaker * self.alive, not_stronger * self.alive, everyone * self.alive)


def _running(values: FloatArray) -> FloatArray:
    """[rows, n + 1] sums of the first 0, 1, … n."""
    sums = np.zeros((values.shape[0], values.shape[1] + 1))
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return sums


class Strategies(Protocol):
    """A source of strategies: a finished solve or a file."""

    def strategy(self, node: int, runout: int) -> FloatArray:
        """[actions, H] average strategy at a betting node on a runout of its street."""


def street_rows(tree: BettingTree) -> IntArray:
    """[N] a node's position among the nodes of its street."""
    row = np.zeros(len(tree.street), dtype=np.int64)
    for street in range(int(tree.street.max()) + 1):
        row[tree.street == street] = np.arange(np.count_nonzero(tree.street == street))
    return row


class Evaluator:
    """Reads values of a form under strategies."""

    def __init__(self, form: PublicForm, strategies: Strategies) -> None:
        self.form = form
        self.strategies = strategies
        self._pairs_by_runout: dict[tuple[int, int], tuple[NDArray[np.float32], NDArray[np.float32]]] = {}

    def dead(self, player: int, street: int, runout: int) -> BoolArray:
        dead: BoolArray = self.form.streets[street].dead[player][runout]
        return dead

    # --- values ------------------------------------------------------------------------------------------------------

    def values(self, player: int, node: int, runout: int, opponent_reach: FloatArray) -> dict[int, FloatArray]:
        """Values [H], times the opposing reach, of the betting nodes at and below `node` on its street."""
        return self._walk(player, int(self.form.tree.street[node]), runout, {node: opponent_reach})

    def _walk(self, player: int, street: int, runout: int, reach: dict[int, FloatArray]) -> dict[int, FloatArray]:
        """Values of every node of a street at and below those that `reach` enters."""
        tree = self.form.tree
        nodes = list(reach)
        strategies: dict[int, FloatArray] = {}
        for node in nodes:  # grows during the loop: parents before children
            if tree.kind[node] != NodeKind.DECISION:
                continue
            strategies[node] = self.strategies.strategy(node, runout)
            for action, child in enumerate(children(tree, node)):
                reach[child] = reach[node] if tree.player[node] == player else reach[node] * strategies[node][action]
                nodes.append(child)
        values = self._terminals(player, runout, nodes, reach)
        chances = [node for node in nodes if tree.kind[node] == NodeKind.CHANCE]
        if chances:
            values.update(self._deals(player, street, runout, {node: reach[node] for node in chances}))
        for node in reversed(nodes):
            if tree.kind[node] == NodeKind.DECISION:
                below = np.array([values[child] for child in children(tree, node)])
                values[node] = (below * strategies[node] if tree.player[node] == player else below).sum(axis=0)
        return values

    def _deals(self, player: int, street: int, runout: int, reach: dict[int, FloatArray]) -> dict[int, FloatArray]:
        """Values of chance nodes: every runout of the next street, and its copies."""
        current, following = self.form.streets[street], self.form.streets[street + 1]
        child = {node: int(self.form.tree.first_child[node]) for node in reach}
        total = {node: np.zeros(len(self.form.hands[player].weight)) for node in reach}
        for after in children(current, runout):
            alive = ~self.dead(1 - player, street + 1, after)
            entering = {child[node]: reach[node] * alive for node in reach}
            values = self._walk(player, street + 1, after, entering)
            copies = following.copies[following.first_copy[after] : following.first_copy[after + 1]]
            for node in reach:
                value = values[child[node]] * following.probability[after]
                for copy in copies:
                    total[node] += value[self.form.permutations[player][copy]]
        return total

    def _terminals(
        self, player: int, runout: int, nodes: list[int], reach: dict[int, FloatArray]
    ) -> dict[int, FloatArray]:
        """Values of the folds and showdowns among some nodes."""
        tree, pay = self.form.tree, self.form.payoffs
        values: dict[int, FloatArray] = {}
        folds = [node for node in nodes if tree.kind[node] == NodeKind.FOLD]
        showdowns = [node for node in nodes if tree.kind[node] == NodeKind.SHOWDOWN]
        if folds:
            alive = ~self.dead(player, int(tree.street[folds[0]]), runout)
            reaches = np.array([reach[node] for node in folds])
            rows = met(self.form.hands[player], self.form.hands[1 - player], reaches, self.form.deck) * alive
            for node, row in zip(folds, rows, strict=True):
                values[node] = row * (pay.lose if tree.player[node] == player else pay.win)[node, player]
        if showdowns:
            faced = self.showdown(player, runout).met(np.array([reach[node] for node in showdowns]))
            for node, weaker, not_stronger, everyone in zip(showdowns, *faced, strict=True):
                win, tie, lose = (each[node, player] for each in (pay.win, pay.tie, pay.lose))
                values[node] = (win - tie) * weaker + (tie - lose) * not_stronger + lose * everyone
        return values

    # --- showdowns ---------------------------------------------------------------------------------------------------

    def equity(self, player: int, street: int, runout: int, opponent_reach: FloatArray) -> FloatArray:
        """[H] share of the pot at showdown with no more betting; NaN where no opposing hand is possible."""
        shares, both = self._pairs(street, runout)
        if player == 1:
            shares, both = (both - shares).T, both.T
        # Not a matrix product: BLAS would start threads for it, which takes longer than the sum.
        won = (shares * opponent_reach).sum(axis=1)
        total = (both * opponent_reach).sum(axis=1)
        equity: FloatArray = np.divide(won, total, out=np.full(len(won), np.nan), where=total > 0)
        return equity

    def _pairs(self, street: int, runout: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """[H0, H1] for every pair of hands, over the deals to come: player 0's share, and deals that allow both."""
        if (street, runout) not in self._pairs_by_runout:
            if len(self._pairs_by_runout) >= CACHED_PAIRS:
                self._pairs_by_runout.pop(next(iter(self._pairs_by_runout)))
            self._pairs_by_runout[street, runout] = self._find_pairs(street, runout)
        return self._pairs_by_runout[street, runout]

    def _find_pairs(self, street: int, runout: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        size, last = [len(hands.weight) for hands in self.form.hands], len(self.form.streets) - 1
        shares, total = np.zeros(size, dtype=np.float32), np.zeros(size, dtype=np.float32)
        if street == last:
            self._add_pairs(runout, (slice(None), slice(None)), shares, total)
            return shares, total
        current, following = self.form.streets[street], self.form.streets[street + 1]
        for after in children(current, runout):
            pairs_after = self._find_pairs(street + 1, after) if street + 1 < last else None
            for copy in following.copies[following.first_copy[after] : following.first_copy[after + 1]]:
                first, second = (self.form.permutations[player][copy] for player in range(2))
                if pairs_after is None:
                    self._add_pairs(after, (first, second), shares, total)
                else:
                    shares_after, total_after = pairs_after
                    shares += shares_after[first[:, None], second]
                    total += total_after[first[:, None], second]
        return shares, total

    def _add_pairs(
        self,
        final: int,
        order: tuple[slice | IntArray, slice | IntArray],
        shares: NDArray[np.float32],
        total: NDArray[np.float32],
    ) -> None:
        """Add a final runout, with the hands in some order; which hands share a card is the same in all of them."""
        first, second = (self.form.strength[player][final][order[player]] for player in range(2))
        add_pairs(first, second, self._compatible, shares, total)

    @cached_property
    def _compatible(self) -> BoolArray:
        return compatible(*self.form.hands)

    def showdown(self, player: int, runout: int) -> Showdown:
        """Who beats whom on a final runout."""
        form, other = self.form, 1 - player
        return Showdown(
            form.hands[player],
            form.hands[other],
            form.strength[player][runout],
            form.strength[other][runout],
            form.deck,
        )
