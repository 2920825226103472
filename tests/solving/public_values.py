"""Values in the public form by definition, public node by public node: for tests, independent of engines."""

from __future__ import annotations

import numpy as np

from regretless.engines import Evaluation
from regretless.engines.contract import PublicStrategy
from regretless.forms.blockers import compatible
from regretless.forms.history import FloatArray
from regretless.forms.public import NodeKind, PublicForm

PublicValues = dict[tuple[int, int], FloatArray]


def public_values(
    form: PublicForm, strategy: PublicStrategy, own: int, *, best: bool
) -> tuple[PublicValues, PublicValues]:
    """[H] of every public node: the own player's values times the opposing reach, and the reach that a hand meets.

    The form must not have copies of runouts.
    """
    tree = form.tree
    meets = compatible(form.hands[own], form.hands[1 - own]).astype(np.float64)
    values: PublicValues = {}
    met: PublicValues = {}

    def walk(node: int, runout: int, reach: FloatArray) -> FloatArray:
        street = form.streets[int(tree.street[node])]
        dead = street.dead[own][runout]
        children = range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
        if tree.kind[node] == NodeKind.DECISION:
            played = strategy(node, runout)
            acts = tree.player[node] == own
            rows = zip(children, played, strict=True)
            below = np.array([walk(child, runout, reach if acts else reach * row) for child, row in rows])
            value = below.sum(axis=0)
            if acts:
                value = below.max(axis=0) if best else (played * below).sum(axis=0)
        elif tree.kind[node] == NodeKind.CHANCE:
            following = form.streets[int(tree.street[node]) + 1]
            value = np.zeros(len(meets))
            for deal in np.flatnonzero(following.parent == runout).tolist():
                alive = ~following.dead[1 - own][deal]
                value = value + following.probability[deal] * walk(children[0], deal, reach * alive)
        else:
            win, lose, tie = (each[node, own] for each in (form.payoffs.win, form.payoffs.lose, form.payoffs.tie))
            if tree.kind[node] == NodeKind.FOLD:
                pays = np.full(meets.shape, lose if tree.player[node] == own else win)
            else:
                mine, theirs = form.strength[own][runout][:, None], form.strength[1 - own][runout][None, :]
                pays = np.where(mine > theirs, win, np.where(mine < theirs, lose, tie))
            value = (meets * pays) @ reach
        value = np.where(dead, 0.0, value)
        values[node, runout], met[node, runout] = value, np.where(dead, 0.0, meets @ reach)
        return value

    walk(0, 0, form.hands[1 - own].weight)
    return values, met


def evaluate_plainly(form: PublicForm, strategy: PublicStrategy) -> Evaluation:
    """Values and best responses of a strategy, from `public_values`."""
    pairs = float(form.hands[0].weight @ compatible(*form.hands) @ form.hands[1].weight)

    def value(own: int, best: bool) -> float:
        values, _ = public_values(form, strategy, own, best=best)
        return float(values[0, 0] @ form.hands[own].weight) / pairs / form.unit

    mean, response = ((value(0, best), value(1, best)) for best in (False, True))
    return Evaluation(mean, response)
