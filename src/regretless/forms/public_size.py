"""The size of a public form, counted before anything that grows with it is built.

Public nodes are betting nodes × runouts, street by street. An *entry* is an action of a hand at a decision, for which a
regret and an average are stored. Repeated subtrees of a betting tree are counted once and multiplied.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import inf

import numpy as np
from numpy.typing import NDArray

from regretless.forms.betting import Branch, rake_of
from regretless.forms.history import IntArray
from regretless.forms.public import BettingTree, NodeKind, PublicForm
from regretless.forms.walking import has_even_ties
from regretless.reprs import brief

__all__ = [
    "BettingSize", "PublicSize", "count_holders", "count_live", "size_of_branches", "size_of_form", "size_of_tree",
]  # fmt: skip

Holders = tuple[tuple[int, ...], tuple[int, ...]]

MIN_DIFFERENCE = 1e-8  # of the largest pot: `has_even_ties` may ignore rakes that differ by less


@dataclass(frozen=True, eq=False)
class PublicSize:
    """Counts of a form with S streets, as Python integers, which do not overflow."""

    deck: int
    hands: tuple[int, int]  # of each player
    permutations: int  # of suits, including the identity
    runouts: IntArray  # [S]
    nodes: IntArray  # [S, 4]      betting nodes of each `NodeKind`
    decisions: IntArray  # [S, 2]  of each player
    actions: IntArray  # [S, 2]    of each player, over all decisions
    longest_line: int  # most betting nodes below one chance node before the last street; all if there is none
    even_ties: bool = True  # whether a tie may be worth the same at every showdown, as without rake (`has_even_ties`)
    holders: Holders = ((), ())  # of each player: `count_holders`; empty if not known
    live: tuple[int, int] | None = None  # of each player: the most hands that a last runout leaves; None if not known

    __repr__ = brief

    @cached_property
    def public_nodes(self) -> IntArray:
        """[4] of each kind."""
        nodes = np.asarray(self.runouts @ self.nodes)
        nodes.flags.writeable = False
        return nodes

    @cached_property
    def lines(self) -> tuple[int, ...]:
        """[S] lines into each street (`forms/walking.py`)."""
        return (1, *map(int, self.nodes[:-1, NodeKind.CHANCE]))

    @cached_property
    def entries(self) -> int:
        """Actions × hands over all decisions."""
        return int(self.runouts @ self.actions @ self.hands)

    @cached_property
    def information_sets(self) -> int:
        """Hands over all decisions."""
        return int(self.runouts @ self.decisions @ self.hands)


@dataclass(frozen=True, eq=False)
class BettingSize:
    """Counts of a betting tree with S streets, without cards; read-only."""

    nodes: IntArray  # [S, 4]      of each `NodeKind`
    decisions: IntArray  # [S, 2]  of each player
    actions: IntArray  # [S, 2]    of each player, over all decisions
    longest_line: int  # as in `PublicSize`
    even_ties: bool = True  # as in `PublicSize`

    __repr__ = brief

    @lru_cache(maxsize=256)  # noqa: B019  (these are small)
    def with_cards(
        self,
        *,
        deck: int,
        hands: tuple[int, int],
        permutations: int,
        runouts: tuple[int, ...],
        holders: Holders = ((), ()),
        live: tuple[int, int] | None = None,
    ) -> PublicSize:
        """The size of a form with this betting; the same object for all forms of that size."""
        runout_counts = np.array(runouts, dtype=object)
        runout_counts.flags.writeable = False
        return PublicSize(
            deck=deck,
            hands=hands,
            permutations=permutations,
            runouts=runout_counts,
            nodes=self.nodes,
            decisions=self.decisions,
            actions=self.actions,
            longest_line=self.longest_line,
            even_ties=self.even_ties,
            holders=holders,
            live=live,
        )


def size_of_branches(
    root: Branch, streets: int, *, rake: float = 0.0, rake_cap: float = inf, starting_pot: float = 0.0
) -> BettingSize:
    """The size of a betting tree that is still in branches; rake as in `poker_payoffs`, taken at showdowns."""
    counts: dict[int, IntArray] = {}  # by branch: [S, 8] nodes by kind, decisions and actions by player
    lines: set[int] = set()  # sizes of the subtrees on the last street
    showdown_paid: set[tuple[float, float]] = set()  # what players paid at showdowns

    def count(branch: Branch, street: int) -> IntArray:
        if id(branch) not in counts:  # a shared branch is always on one street
            total = np.zeros((streets, 8), dtype=np.int64)
            total[street, branch.kind] = 1
            if branch.kind is NodeKind.SHOWDOWN:
                showdown_paid.add(branch.paid)
            if branch.kind is NodeKind.DECISION:
                total[street, 4 + branch.player] = 1
                total[street, 6 + branch.player] = len(branch.children)
            for child in branch.children.values():
                below = count(child, street + (branch.kind is NodeKind.CHANCE))
                total += below
                if branch.kind is NodeKind.CHANCE and street + 2 == streets:
                    lines.add(int(below[-1, :4].sum()))
            counts[id(branch)] = total
        return counts[id(branch)]

    counted = count(root, 0).astype(object)
    counted.flags.writeable = False
    longest = max(lines) if lines else int(counted[-1, :4].sum())
    paid = np.array([*showdown_paid], dtype=np.float64).reshape(-1, 2)
    rakes = rake_of(paid, rake=rake, rake_cap=rake_cap, starting_pot=starting_pot)
    even_ties = True
    if len(paid):
        largest_pot = float(paid.sum(axis=1).max()) + starting_pot
        even_ties = float(np.ptp(rakes)) <= MIN_DIFFERENCE * largest_pot
    return BettingSize(counted[:, :4], counted[:, 4:6], counted[:, 6:], longest, even_ties=even_ties)


def size_of_tree(tree: BettingTree, streets: int, *, even_ties: bool = True) -> BettingSize:
    """The size of a betting tree that is built; by default as if there were no rake."""
    children = np.diff(tree.first_child)
    nodes, decisions, actions = (np.zeros((streets, width), dtype=object) for width in (4, 2, 2))
    below = np.ones(len(tree.kind), dtype=np.int64)  # nodes of the same street below and including each
    for node in range(len(tree.kind) - 1, -1, -1):
        street, kind, player = tree.street[node], tree.kind[node], tree.player[node]
        nodes[street, kind] += 1
        if kind == NodeKind.DECISION:
            decisions[street, player] += 1
            actions[street, player] += int(children[node])
        if node > 0 and tree.street[tree.parent[node]] == street:
            below[tree.parent[node]] += below[node]
    for counts in (nodes, decisions, actions):
        counts.flags.writeable = False
    longest = int(below[tree.street == streets - 1].max(initial=0))
    return BettingSize(nodes, decisions, actions, longest, even_ties)


def size_of_form(form: PublicForm) -> PublicSize:
    """The size of a form that is built."""
    return size_of_tree(form.tree, len(form.streets), even_ties=has_even_ties(form)).with_cards(
        deck=form.deck,
        hands=(len(form.hands[0].weight), len(form.hands[1].weight)),
        permutations=len(form.permutations[0]),
        runouts=tuple(len(street.parent) for street in form.streets),
        holders=(count_holders(form.hands[0].cards), count_holders(form.hands[1].cards)),
        live=(count_live(form, 0), count_live(form, 1)),
    )


def count_live(form: PublicForm, player: int) -> int:
    """The most hands of a player that a runout of the last street leaves; all if there is no such runout."""
    dead = form.streets[-1].dead[player]
    return int(dead.shape[1] - np.count_nonzero(dead, axis=1).min()) if len(dead) else dead.shape[1]


def count_holders(cards: NDArray[np.integer]) -> tuple[int, ...]:
    """How many hands hold each card that occurs, in ascending order, given the cards of every hand; -1 is no card.

    Sorted, they are the same for all boards on which players hold everything that is left.
    """
    counts = np.bincount(cards[cards >= 0])
    return tuple(np.sort(counts[counts > 0]).tolist())
