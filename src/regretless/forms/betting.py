"""From a betting tree as nested branches to the arrays of `BettingTree`, breadth first.

>>> call = Branch(NodeKind.SHOWDOWN, paid=(2.0, 2.0))
>>> fold = Branch(NodeKind.FOLD, player=1, paid=(2.0, 1.0))
>>> bet = Branch(NodeKind.DECISION, player=1, paid=(2.0, 1.0), children={"fold": fold, "call": call})
>>> tree = flatten(bet)
>>> tree.kind.tolist(), tree.first_child.tolist(), tree.labels
([0, 2, 3], [1, 3, 3, 3], ('', 'fold', 'call'))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from regretless.errors import InvalidGame
from regretless.forms.history import AnyArray
from regretless.forms.public import BettingTree, NodeKind, Payoffs
from regretless.games.limit_betting import LimitBetting, Move, Point

__all__ = ["Branch", "flatten", "limit_branches", "poker_payoffs", "rake_of"]


@dataclass(frozen=True)
class Branch:
    """A betting node and everything below it."""

    kind: NodeKind
    paid: tuple[float, float]  # chips paid by player 0 and player 1 so far
    player: int = -1  # who acts, or who folded
    children: Mapping[str, Branch] = field(default_factory=dict)  # by action; a chance node has one, by ""


def limit_branches(betting: LimitBetting, name: Callable[[Point, Move], str]) -> Branch:
    """The betting tree of a limit game; `name` labels each action."""

    def decision(point: Point) -> Branch:
        children = {name(point, move): after(point, move) for move in betting.moves(point)}
        return Branch(NodeKind.DECISION, point.paid, point.player, children)

    def after(point: Point, move: Move) -> Branch:
        following = betting.after(point, move)
        if move is Move.FOLD:
            return Branch(NodeKind.FOLD, point.paid, point.player)
        if following is None:
            return Branch(NodeKind.SHOWDOWN, (max(point.paid), max(point.paid)))
        if following.round == point.round:
            return decision(following)
        return Branch(NodeKind.CHANCE, following.paid, children={"": decision(following)})

    return decision(betting.first())


def flatten(root: Branch, *, starting_pot: float = 0.0) -> BettingTree:
    """The arrays of a tree of branches; each chance node begins a new street."""
    branches, parents, streets, labels = [root], [-1], [0], [""]
    first_child = [1]
    for index, branch in enumerate(branches):  # the list grows during the loop: breadth first
        if branch.kind is NodeKind.CHANCE and len(branch.children) != 1:
            raise InvalidGame(f"a chance node of a betting tree has one child, not {len(branch.children)}")
        if branch.kind is NodeKind.DECISION and (branch.player not in (0, 1) or not branch.children):
            raise InvalidGame("a decision of a betting tree needs a player, 0 or 1, and at least one action")
        for label, child in branch.children.items():
            branches.append(child)
            parents.append(index)
            streets.append(streets[index] + 1 if branch.kind is NodeKind.CHANCE else streets[index])
            labels.append(label)
        first_child.append(len(branches))
    showdown_streets = {street for branch, street in zip(branches, streets) if branch.kind is NodeKind.SHOWDOWN}
    if showdown_streets - {max(streets)}:
        raise InvalidGame("a showdown before the last street: after an all-in, the remaining chance nodes must follow")
    return BettingTree(
        kind=_read_only(np.array([branch.kind for branch in branches], dtype=np.int8)),
        player=_read_only(np.array([branch.player for branch in branches], dtype=np.int8)),
        street=_read_only(np.array(streets, dtype=np.int8)),
        parent=_read_only(np.array(parents, dtype=np.int32)),
        first_child=_read_only(np.array(first_child, dtype=np.int32)),
        paid=_read_only(np.array([branch.paid for branch in branches], dtype=np.float64)),
        starting_pot=starting_pot,
        labels=tuple(labels),
    )


def poker_payoffs(tree: BettingTree, *, rake: float = 0.0, rake_cap: float = math.inf, first_raked: int = 0) -> Payoffs:
    """Chips each player takes out of the hand, including the starting pot, minus their own bets.

    Rake is min(rake · pot, rake_cap), paid by the winner, also after a fold, or half by each on a tie:

        win   pot − rake − paid        lose   −paid        tie   (pot − rake) / 2 − paid

    A hand that ends before the street `first_raked` is not raked.
    """
    win, lose, tie = (np.zeros_like(tree.paid) for _ in range(3))
    terminal = (tree.kind == NodeKind.FOLD) | (tree.kind == NodeKind.SHOWDOWN)
    showdown = tree.kind == NodeKind.SHOWDOWN
    rakes = rake_of(tree.paid, rake=rake, rake_cap=rake_cap, starting_pot=tree.starting_pot)
    rakes = np.where(tree.street >= first_raked, rakes, 0.0)
    pot = tree.paid.sum(axis=1) + tree.starting_pot - rakes
    win[terminal] = (pot[:, None] - tree.paid)[terminal]
    lose[terminal] = -tree.paid[terminal]
    tie[showdown] = (pot[:, None] / 2 - tree.paid)[showdown]
    return Payoffs(win=_read_only(win), lose=_read_only(lose), tie=_read_only(tie))


def rake_of(
    paid: NDArray[np.float64], *, rake: float, rake_cap: float = math.inf, starting_pot: float = 0.0
) -> NDArray[np.float64]:
    """[N] the rake from pots into which the players paid [N, 2]; an uncalled bet is returned before it is counted."""
    matched: NDArray[np.float64] = 2.0 * paid.min(axis=1) + starting_pot
    return np.minimum(rake * matched, rake_cap)


def _read_only(array: AnyArray) -> AnyArray:
    """The array, which forms of several spots may share."""
    array.flags.writeable = False
    return array
