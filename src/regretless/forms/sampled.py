"""A public form of which each iteration walks only some runouts, drawn at random: partial vector CFR.

Runouts of the first streets are all walked. Below each runout of the last of them, an iteration walks about `count`
sequences of deals, with whole vectors of hands. With n deals after a runout, of which k are to be walked at a time,

    n deals, in a random order, are cut into L = ⌈n / k⌉ batches of n / L, rounded up or down;
    visit v of the runout (1, 2, …) walks batch (v − 1) mod L of order ⌊(v − 1) / L⌋, and no other.

Each order is random by itself, so a deal is in a batch of b with probability b / n, and its value counts n / b times:
the mean over all orders of the sums is the sum over all deals, and so on from street to street. Within L visits, each
deal comes up exactly once: visit v of a runout is visit ⌈v / L⌉ of the deals that it walks. All orders follow from the
seed, so what an iteration walks is a function of its number.

Deals that differ by the names of suits are one runout with copies. It is drawn as one, and its copies are added as if
all had been drawn: what a permutation of suits exchanges stays equal, bit for bit, as in a full walk.

With K sequences, k is K on the first street that is drawn, or n if that is less, and on the next K divided by the
number of deals in a batch of the first, rounded down, but at least 1.

What this means for CFR. The values of hands *before* a draw are unbiased, as in Monte Carlo CFR (Lanctot, Waugh,
Zinkevich & Bowling 2009) and in public chance sampling (Johanson, Bard, Lanctot, Gibson & Bowling 2012). *After* it,
the runout's decisions learn as if it had been dealt for certain: MCCFR would divide their regrets by the probability of
the draw, the same number in every iteration, which changes no strategy. Decisions on runouts that were not drawn are
not touched. A variant's numbers (`variants/variant.py`) depend on time, and each decision has its own: at its k-th
visit, it applies the numbers of iteration k. CFR's bound is a sum over decisions, of which each is a regret minimiser
by itself; and since all visits of a runout are L iterations apart, weights that are a power of k are the same power of
the iteration up to a factor, so averages of different streets belong together. Discounting every decision in every
iteration would instead forget most between two visits: with β = 0, negative regrets halve each time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regretless.errors import InvalidOption
from regretless.forms.bucketed import deal_order
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import PublicForm
from regretless.reprs import brief
from regretless.seeds import check_seed

__all__ = ["SampledRunouts", "StreetDraw"]


@dataclass(frozen=True)
class StreetDraw:
    """The n runouts of a street that an iteration walks, in order."""

    runout: IntArray  # [n]
    factor: FloatArray  # [n]  by how much the values of each count more than if all were walked
    visit: IntArray  # [n]     how often each has been walked, this time included

    __repr__ = brief


class SampledRunouts:
    """What each iteration walks of a form; streets from `first` on are drawn.

    >>> from regretless.forms.public_poker import compile_public
    >>> from regretless.games import Leduc
    >>> sampled = SampledRunouts(compile_public(Leduc()), first=1, count=1, seed=3)  # one card of six
    >>> [sampled.draw(iteration)[1].runout.tolist() for iteration in range(1, 7)]
    [[4], [2], [1], [0], [3], [5]]
    >>> seventh = sampled.draw(7)[1]
    >>> seventh.factor.tolist(), seventh.visit.tolist()
    ([6.0], [2])
    """

    def __init__(self, form: PublicForm, *, first: int, count: int, seed: int = 0) -> None:
        if count < 1:
            raise InvalidOption("sample_runouts", count, "must be at least 1")
        self.form, self.first, self.count, self.seed = form, first, count, check_seed(seed, bits=32)
        self._children = [np.diff(street.first_child) for street in form.streets[:-1]]
        # By street: what runouts of the street before walk at a time, and at most how many runouts that makes.
        self._walked: list[IntArray] = []
        most = [len(street.parent) for street in form.streets[:first]]
        for number in range(first, len(form.streets)):
            children, room = self._children[number - 1], np.full(1, count)
            if number > first:  # that the street before leaves
                room = np.maximum(count // np.maximum(self._walked[-1][form.streets[number - 1].parent], 1), 1)
            batches = np.maximum(-(-children // np.minimum(np.maximum(children, 1), room)), 1)
            walked = -(-children // batches)
            self._walked.append(walked)
            most.append(self._most_on(number, walked))
        self.most: tuple[int, ...] = tuple(most)

    def _most_on(self, number: int, walked: IntArray) -> int:
        """At most how many runouts of a street an iteration walks, given how many after each runout of the last."""
        chosen = walked
        for street in range(number - 1, self.first - 1, -1):
            parent, limit = self.form.streets[street].parent, self._walked[street - self.first]
            of_parent = np.zeros(len(limit), dtype=np.int64)
            np.maximum.at(of_parent, parent, chosen)
            chosen = of_parent * limit
        return int(chosen.sum())

    def draw(self, iteration: int) -> tuple[StreetDraw, ...]:
        """What an iteration (1, 2, …) walks, street by street."""
        streets = self.form.streets
        drawn: list[StreetDraw] = []
        for street in streets[: self.first]:
            runouts = len(street.parent)
            drawn.append(StreetDraw(np.arange(runouts), np.ones(runouts), np.full(runouts, iteration)))
        for number in range(self.first, len(streets)):
            drawn.append(self._draw(number, drawn[-1]))
        return tuple(drawn)

    def _draw(self, number: int, before: StreetDraw) -> StreetDraw:
        first_child, walked = self.form.streets[number - 1].first_child, self._walked[number - self.first]
        runouts: list[int] = []
        factors: list[float] = []
        visits: list[int] = []
        for parent, visit in zip(before.runout.tolist(), before.visit.tolist(), strict=True):
            first, deals = int(first_child[parent]), int(self._children[number - 1][parent])
            if deals == 0:
                continue
            batches = -(-deals // int(walked[parent]))
            cycle, batch = divmod(visit - 1, batches)
            order = deal_order(self.seed, number, parent, cycle, deals)
            chosen = sorted(order[batch * deals // batches : (batch + 1) * deals // batches])
            runouts += [first + deal for deal in chosen]
            factors += [deals / len(chosen)] * len(chosen)
            visits += [cycle + 1] * len(chosen)
        return StreetDraw(np.array(runouts, dtype=np.int64), np.array(factors), np.array(visits, dtype=np.int64))
