"""Strategies per bucket, evaluated with real cards: equal to the reference on random forms."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engines.random_public import random_form
from tests.engines.test_bucketed_engine import small_form

from regretless.engines.bucketed.priced import bucket_strategy, with_real_cards
from regretless.engines.public.compiled.bucket_evaluator import BucketEvaluator, Stopped
from regretless.engines.public.compiled.sizes import bucket_evaluation_bytes
from regretless.engines.public.reference import PublicReference
from regretless.forms.public import Kind, PublicForm
from regretless.forms.public_size import size_of_form

CASES = [(seed, streets) for streets in (1, 2, 3) for seed in (4, 7, 13)]


class Strategy:
    """Random buckets and a random strategy."""

    def __init__(self, form: PublicForm, seed: int) -> None:
        random, tree = np.random.default_rng(seed), form.tree
        counts = random.integers(1, 6, size=(2, len(form.streets)))
        self.maps = tuple(
            tuple(
                random.integers(0, count, size=(len(street.parent), len(held.weight)))
                for count, street in zip(numbers, form.streets, strict=True)
            )
            for numbers, held in zip(counts, form.hands, strict=True)
        )
        actions = np.diff(tree.first_child)
        self.tables = {
            int(node): random.dirichlet(np.full(actions[node], 0.3), counts[tree.player[node], tree.street[node]]).T
            for node in np.flatnonzero(tree.kind == Kind.DECISION)
        }
        self.in_buckets = bucket_strategy(form, (self.maps[0], self.maps[1]), self.tables.__getitem__)
        self.by_hand = with_real_cards(form, (self.maps[0], self.maps[1]), self.tables.__getitem__)


@pytest.mark.parametrize(("seed", "streets"), CASES)
def test_it_finds_what_the_reference_finds(seed: int, streets: int) -> None:
    form = small_form(seed, streets)
    strategy = Strategy(form, seed)
    wanted = PublicReference(form).evaluate(strategy.by_hand)
    found = BucketEvaluator(form).evaluate(strategy.in_buckets)
    assert found.values == pytest.approx(wanted.values, abs=1e-5)
    assert found.best_response_values == pytest.approx(wanted.best_response_values, abs=1e-5)
    assert BucketEvaluator(form, threads=3).evaluate(strategy.in_buckets) == found


def test_its_tables_are_counted_and_it_stops_when_asked() -> None:
    form = random_form(3, deck=9, streets=3, most_hands=30)
    assert 0 < BucketEvaluator(form).memory_bytes < bucket_evaluation_bytes(size_of_form(form), probabilities=0)
    with pytest.raises(Stopped):
        BucketEvaluator(form, interrupted=lambda: True).evaluate(Strategy(form, 3).in_buckets)
