"""Whether showdowns are a sign times a stake: then one matrix product can evaluate them all.

A tie must be worth the same everywhere, midway between winning and losing. That is so without rake, since a tie returns
half of the starting pot. With rake it is so only if all showdowns pay the same, for example the cap.
"""

from __future__ import annotations

import numpy as np

from regretless.forms.public import NodeKind, PublicForm

__all__ = ["has_even_ties", "middle_of"]


def has_even_ties(form: PublicForm) -> bool:
    """Whether a tie is worth the same everywhere, midway between winning and losing, to each player."""
    return all(middle_of(form, own) is not None for own in range(2))


def middle_of(form: PublicForm, own: int) -> float | None:
    """What a tie is worth to a player, if that is the same everywhere, midway between winning and losing."""
    shown = form.tree.kind == NodeKind.SHOWDOWN
    win, lose, tie = (each[shown, own] for each in (form.payoffs.win, form.payoffs.lose, form.payoffs.tie))
    if not len(tie):
        return 0.0
    close = 1e-9 * float(np.abs([win, lose]).max())
    same = np.all(np.abs(tie - tie[0]) <= close) and np.all(np.abs(win + lose - 2 * tie) <= 2 * close)
    return float(tie[0]) if same and np.all(win - lose > close) else None
