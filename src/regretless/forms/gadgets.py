"""A form in which one player may decline a subgame: the gadget of CFR-D, with which subgames are solved again safely.

A strategy σ of the whole game, the blueprint, is known. Below some public states S the *re-solver* p shall play another
one; the other player is the *opponent* o. If the subgame were solved with the ranges that σ brings to it, an opponent
who brings other hands could gain. So before the subgame begins, the opponent sees his hand h and chooses: take what
it is worth under the blueprint, or play on.

    v(h) = Σ_k  reach_p(k) · u_o(σ_p, best response of o | h, k)  /  Σ_k  reach_p(k)      over hands k that h can face

    at S, hand h of the opponent:   leave    v(h)
                                    play on  the subgame

v is the value of a best response to σ_p *within* the subgame (the paper's counterfactual best-response value). The
opponent reaches S with every hand, however he played before; how likely each hand is does not matter as long as it is
above 0.

1. σ_p itself holds the opponent to v(h) with every hand, so the value of this game to the opponent is Σ_h v(h), and a
   solution of it holds each hand to v(h), too: no hand gains from the exchange.
2. So with the new strategy in place of the old one in every S, a best response of the opponent gains no more than it
   did against σ. If the solution is only approximate, and a best response in the gadget game gains ε(h) ≥ 0 above
   v(h), then it gains at most Σ_S Σ_h ε(h) more than against σ.

Nothing new is needed in the form or in engines to express a payoff per hand. To leave is a decision of the opponent
which is *locked*: with probability q(h) it leads to a fold that pays `high`, otherwise to one that pays `low`.

    q(h) · high + (1 − q(h)) · low = v(h)

Neil Burch, Michael Johanson and Michael Bowling, "Solving Imperfect Information Games Using Decomposition", AAAI 2014
(arXiv 1303.4441), section "Re-solving": theorem 1 is step 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import NamedTuple

import numpy as np

from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import BettingTree, NodeKind, Payoffs, PublicForm
from regretless.forms.walking import children
from regretless.reprs import brief

__all__ = ["GadgetForm", "with_gadgets"]


@dataclass(frozen=True)
class GadgetForm:
    """A form with gadgets. The decisions of the player who re-solves keep their order, and so their layout in engines.

    `locks` are to be applied before it is solved: at a node on a runout, what leaving is worth to each hand.
    """

    form: PublicForm
    node: IntArray  # [nodes of the original form] its number in `form`
    locks: Mapping[tuple[int, int], FloatArray]  # (node, runout) -> [2, H]

    __repr__ = brief


class _Role(Enum):
    """What a node of the tree with gadgets is."""

    ORIGINAL = auto()
    CHOICE = auto()  # the opponent leaves or plays on
    LEAVE = auto()  # the locked decision
    HIGH = auto()
    LOW = auto()


def with_gadgets(form: PublicForm, opponent: int, values: Mapping[int, FloatArray]) -> GadgetForm:
    """The form with a gadget above each node in `values`, [runouts of its street, H]: what the opponent may leave with.

    Values are in chips, per opposing hand that a hand can face. No such node is below another.

    >>> from regretless.forms.public_poker import compile_public
    >>> from regretless.games import Kuhn
    >>> gadgets = with_gadgets(compile_public(Kuhn()), 1, {0: np.array([[-1.0, 0.0, 1.0]])})
    >>> gadgets.form.tree.labels[:5], gadgets.locks[1, 0].tolist()
    (('', 'leave', 'play on', 'high', 'low'), [[0.0, 0.5, 1.0], [1.0, 0.5, 0.0]])
    """
    tree, outline = form.tree, _outline(form.tree, values)
    original = np.array([node for node, _ in outline.nodes])
    kind, player = tree.kind[original], tree.player[original]
    payoffs = Payoffs(*(each[original] for each in (form.payoffs.win, form.payoffs.lose, form.payoffs.tie)))
    row_of = np.empty(len(tree.kind), dtype=np.int64)
    locks: dict[tuple[int, int], FloatArray] = {}
    for row, (node, role) in enumerate(outline.nodes):
        if role is _Role.ORIGINAL:
            row_of[node] = row
            continue
        is_end = role in (_Role.HIGH, _Role.LOW)
        kind[row], player[row] = NodeKind.FOLD if is_end else NodeKind.DECISION, opponent
        for each in (payoffs.win, payoffs.lose, payoffs.tie):
            each[row] = 0.0
        low, high = float(values[node].min()), float(values[node].max())
        if role is _Role.LEAVE:
            share = (values[node] - low) / (high - low) if high > low else np.ones_like(values[node])
            locks |= {(row, runout): np.stack([each, 1.0 - each]) for runout, each in enumerate(share)}
        elif is_end:
            payoffs.lose[row, opponent] = high if role is _Role.HIGH else low
            payoffs.win[row, 1 - opponent] = -payoffs.lose[row, opponent]
    with_choices = BettingTree(
        kind=kind,
        player=player,
        street=tree.street[original],
        parent=np.array(outline.parents, dtype=np.int32),
        first_child=np.array(outline.first_child, dtype=np.int32),
        paid=tree.paid[original],
        starting_pot=tree.starting_pot,
        labels=tuple(outline.labels),
    )
    for array in (*vars(payoffs).values(), *vars(with_choices).values()):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return GadgetForm(replace(form, tree=with_choices, payoffs=payoffs), row_of, locks)


class _Outline(NamedTuple):
    """The shape of the tree with gadgets, breadth first."""

    nodes: list[tuple[int, _Role]]  # the node of the original tree, and the role
    parents: list[int]
    labels: list[str]
    first_child: list[int]


def _outline(tree: BettingTree, gadgets: Mapping[int, FloatArray]) -> _Outline:
    outline = _Outline([(0, _Role.CHOICE if 0 in gadgets else _Role.ORIGINAL)], [-1], [""], [1])
    for row, (node, role) in enumerate(outline.nodes):  # grows during the loop
        for child, child_role, label in _children(tree, node, role, gadgets):
            outline.nodes.append((child, child_role))
            outline.parents.append(row)
            outline.labels.append(label)
        outline.first_child.append(len(outline.nodes))
    return outline


def _children(
    tree: BettingTree, node: int, role: _Role, gadgets: Mapping[int, FloatArray]
) -> list[tuple[int, _Role, str]]:
    """The children of a node: of which original node, in which role, by which action."""
    if role is _Role.CHOICE:
        return [(node, _Role.LEAVE, "leave"), (node, _Role.ORIGINAL, "play on")]
    if role is _Role.LEAVE:
        return [(node, _Role.HIGH, "high"), (node, _Role.LOW, "low")]
    if role is not _Role.ORIGINAL:
        return []
    return [
        (child, _Role.CHOICE if child in gadgets else _Role.ORIGINAL, tree.labels[child])
        for child in children(tree, node)
    ]
