"""Runouts drawn for an iteration: every one as often as any other, and no value counts more than it should."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from tests.engines.random_public import random_form

from regretless.errors import InvalidOption
from regretless.forms.public_poker import compile_public
from regretless.forms.sampled import SampledRunouts
from regretless.games import Leduc

FORM = random_form(3, deck=7, streets=3, most_hands=6)  # 7 deals on the second street, then 6


@pytest.mark.parametrize("count", [1, 3, 5, 7, 14, 20, 42, 1000])
def test_each_runout_comes_up_once_in_every_cycle(count: int) -> None:
    sampled = SampledRunouts(FORM, first=1, count=count, seed=5)
    second = -(-7 // min(count, 7))
    batches = second, -(-6 // min(6, max(count // -(-7 // second), 1)))
    draws = [sampled.draw(iteration) for iteration in range(1, 2 * batches[0] * batches[1] + 1)]
    for street, cycle in ((1, batches[0]), (2, batches[0] * batches[1])):
        for first in (0, cycle):
            drawn = np.concatenate([draw[street].runout for draw in draws[first : first + cycle]])
            assert sorted(drawn.tolist()) == list(range(len(FORM.streets[street].parent)))
            for draw in draws[first : first + cycle]:
                assert (draw[street].visit == first // cycle + 1).all()
    for draw in draws:
        assert len(draw[2].runout) <= max(count, 1)
        assert [len(street.runout) for street in draw] <= list(sampled.most)
        for before, after, number in zip(draw, draw[1:], (1, 2), strict=False):
            parents = FORM.streets[number].parent[after.runout]
            assert set(parents.tolist()) == set(before.runout.tolist())
            assert all(one < two for one, two in pairwise(after.runout.tolist()))
    assert max(len(draw[1].runout) for draw in draws) == sampled.most[1]


def test_what_all_samples_say_on_average_is_the_whole() -> None:
    """Any numbers on the runouts: their weighted sums, over many seeds, are the sum over all."""
    values = np.random.default_rng(0).normal(size=len(FORM.streets[2].parent))
    for iteration in (1, 4):
        sums = []
        for seed in range(4000):
            _, second, third = SampledRunouts(FORM, first=1, count=3, seed=seed).draw(iteration)
            factor = dict(zip(second.runout.tolist(), second.factor.tolist(), strict=True))
            parents = FORM.streets[2].parent[third.runout]
            sums.append(sum(values[third.runout] * third.factor * [factor[each] for each in parents.tolist()]))
        error = np.std(sums) / np.sqrt(len(sums))
        assert np.mean(sums) == pytest.approx(values.sum(), abs=3 * error)
        assert error < 0.1 * np.abs(values).sum()


def test_seeds_draw_differently_and_reproducibly() -> None:
    def drawn(seed: int) -> list[list[int]]:
        sampled = SampledRunouts(FORM, first=1, count=2, seed=seed)
        return [sampled.draw(iteration)[2].runout.tolist() for iteration in (9, 3, 5)]

    assert drawn(1) == drawn(1) != drawn(2)


def test_early_streets_are_walked_whole() -> None:
    first, second, third = SampledRunouts(FORM, first=2, count=2).draw(11)
    assert (first.runout.tolist(), second.runout.tolist()) == ([0], list(range(7)))
    assert set(first.visit.tolist()) == set(second.visit.tolist()) == {11}
    assert len(third.runout) == 14  # two after each of seven


def test_nothing_is_drawn_from_nothing() -> None:
    form = compile_public(Leduc())
    with pytest.raises(InvalidOption, match="sample_runouts: 0 must be at least 1"):
        SampledRunouts(form, first=1, count=0)
    with pytest.raises(InvalidOption, match="seed: -1"):
        SampledRunouts(form, first=1, count=1, seed=-1)
