"""Two solutions of the same spot, or of flop hold'em, against each other, evaluated on one form.

Locks may rule out renamings of suits, so a spot that differs in its locks may have other runouts. Then the form has all
that either has, and each solution is read there as it is read on a page: by the deal that stands for the cards dealt.
"""

from __future__ import annotations

from functools import lru_cache, reduce

import numpy as np

from regretless import engines
from regretless.engines import PublicStrategy
from regretless.forms.history import FloatArray
from regretless.forms.public import PublicForm
from regretless.holdem.form.runouts import compile_spot, parts_of
from regretless.holdem.form.suits import Deal, find_deal
from regretless.holdem.reading.spot_reader import SpotReader
from regretless.solving.head_to_head import Seats

__all__ = ["seats_of_form", "seats_of_spots"]

RUNOUTS = 4096  # whose deals stay in memory


def seats_of_form(form: PublicForm, first: PublicStrategy, second: PublicStrategy) -> Seats:
    """Two strategies of a form against each other, on every runout; both are read twice, runout by runout."""
    evaluator = engines.StrategyEvaluator(form)
    evaluator.fixed.update(range(2))  # best responses are not needed

    def values(players: tuple[PublicStrategy, PublicStrategy]) -> tuple[float, ...]:
        return evaluator.evaluate(lambda node, runout: players[form.tree.player[node]](node, runout)).values

    own, other = values((first, second))
    others, owns = values((second, first))
    return (own, other), (owns, others)


def seats_of_spots(first: SpotReader, second: SpotReader) -> Seats:
    """Two solutions of a spot, which may differ in its locks, against each other; values in chips."""
    if np.array_equal(first.group, second.group):
        return seats_of_form(first.form, first.results.strategy, second.results.strategy)
    parts = parts_of(first.spot)
    group = np.intersect1d(first.group, second.group)
    form = compile_spot(first.spot, type(parts)(parts.betting, group, parts.hand_numbers))
    return seats_of_form(form, _on(form, first), _on(form, second))


def _on(form: PublicForm, reader: SpotReader) -> PublicStrategy:
    """What a solution plays on every runout of a form that has more of them."""
    cards: list[list[tuple[int, ...]]] = [[()]]
    for street in form.streets[1:]:
        cards.append(
            [(*cards[-1][parent], int(card)) for parent, (card,) in zip(street.parent, street.cards, strict=True)]
        )

    @lru_cache(RUNOUTS)
    def deal(dealt: tuple[int, ...]) -> Deal:
        return reduce(lambda before, card: find_deal(reader.form, reader.group, before, card), dealt, Deal())

    def played(node: int, runout: int) -> FloatArray:
        where = deal(cards[int(form.tree.street[node])][runout])
        strategy = reader.results.strategy(node, where.runout)
        return strategy[:, reader.read_by(where, int(form.tree.player[node]))]

    return played
