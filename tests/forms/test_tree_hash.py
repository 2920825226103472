"""Equal trees have equal hashes; changing anything that matters changes the hash."""

from __future__ import annotations

from dataclasses import replace

import pytest

from regretless.forms import compile_history
from regretless.forms.tree_hash import tree_hash
from regretless.games import load


def test_the_name_does_not_matter() -> None:
    assert tree_hash(compile_history(load("leduc"))) == tree_hash(compile_history(load("leduc(ranks=3)")))


@pytest.mark.parametrize("other", ["leduc(ranks=4)", "leduc(bets=(2,5))", "leduc(raises=1)", "kuhn"])
def test_other_games_differ(other: str) -> None:
    assert tree_hash(compile_history(load("leduc"))) != tree_hash(compile_history(load(other)))


def test_payoffs_chance_and_texts_matter() -> None:
    form = compile_history(load("kuhn"))
    changed = [
        replace(form, payoff=form.payoff * 2),
        replace(form, chance=form.chance * 0.5),
        replace(form, keys=("9:", *form.keys[1:])),
        replace(form, actions=(("p", "x"), *form.actions[1:])),
        replace(form, information_set=form.information_set[::-1]),
    ]
    assert len({tree_hash(one) for one in [form, *changed]}) == 6


def test_the_hash_of_kuhn_is_the_same_on_every_machine() -> None:
    assert tree_hash(compile_history(load("kuhn"))).startswith("06cd3c525c55f801")
