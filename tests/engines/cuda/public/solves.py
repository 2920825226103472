"""Forms, devices and comparisons that the tests of the CUDA engine share."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.engines.cuda_host_device import HostDevice
from tests.engines.random_public import random_form

from regretless.engines.cuda.public.engine import CudaPublicEngine
from regretless.engines.numba.public.engine import NumbaPublicEngine
from regretless.engines.numpy.public import PublicReference
from regretless.forms.betting import Branch, flatten, poker_payoffs
from regretless.forms.public import NodeKind, PublicForm
from regretless.forms.public_poker import compile_public
from regretless.games import Kuhn
from regretless.variants import PRESETS, schedule
from regretless.variants.variant import Schedule

needs_gcc = pytest.mark.skipif(
    shutil.which("g++") is None or not sys.platform.startswith("linux"), reason="needs g++ and fibers"
)


class NoKernels(HostDevice):
    """A device for tests that launch nothing that matters."""

    def compile(self, source: str, flags: tuple[str, ...], kernels: tuple[str, ...] = ()) -> dict:
        class Kernels(dict):
            def __missing__(self, name: str):
                return lambda *arguments: None

        return Kernels()


@cache
def form_of(name: str) -> PublicForm:
    """Kuhn, or a random game of a seed; those used here have 5 or 6 terminals, for which the same kernels serve."""
    if name == "kuhn":
        return compile_public(Kuhn())
    seed, streets = map(int, name.split("-")[1:])
    return random_form(seed, deck=8 - streets, streets=streets, most_hands=10, rake=0.03, weighted=bool(seed % 2))


def rows(first: int, count: int, variant: str = "discounted") -> Schedule:
    return schedule(PRESETS[variant], first, count)


def begin(form: PublicForm, *engines: CudaPublicEngine | NumbaPublicEngine | PublicReference) -> None:
    """Give all engines the same regrets and averages after three iterations, so that no two actions tie."""
    random = np.random.default_rng(3)
    drawn = {
        name: random.normal(size=numbers.shape) if "regret" in name else random.uniform(0.1, 1.0, size=numbers.shape)
        for name, numbers in engines[0].snapshot().arrays.items()
    }
    for engine in engines:
        taken = engine.snapshot()
        for name, numbers in taken.arrays.items():
            rounded = drawn[name.replace("matched", "regret")].astype(np.float32)
            one = 1.0 if numbers.dtype.kind == "f" else engine.format.one / 8
            numbers[:] = (rounded * one).astype(numbers.dtype)
        engine.restore(replace(taken, iteration=3))


def assert_same(one: CudaPublicEngine, two, tolerance: float) -> None:
    first, second = one.evaluate(), two.evaluate()
    np.testing.assert_allclose(first.values, second.values, atol=tolerance)
    np.testing.assert_allclose(first.best_response_values, second.best_response_values, atol=tolerance)
    for player in range(2):
        np.testing.assert_allclose(one.root_values(player), two.root_values(player), atol=tolerance)


def with_tree(form: PublicForm, root: Branch) -> PublicForm:
    tree = flatten(root, starting_pot=1.0)
    return replace(form, tree=tree, payoffs=poker_payoffs(tree, rake=0.03, rake_cap=1.5))


def many_actions(streets: int, sizes: int, deep: int) -> Branch:
    """A betting tree in which every first bet has `sizes` sizes, and `deep` raises follow."""

    def after(paid: tuple[float, float], player: int, street: int, depth: int) -> Branch:
        level = (max(paid), max(paid))
        children: dict[str, Branch] = {}
        if paid[player] < paid[1 - player]:
            children["fold"] = Branch(NodeKind.FOLD, paid, player)
        if depth == 0:
            children["check"] = after(paid, 1 - player, street, 1)
        elif street + 1 == streets:
            children["call"] = Branch(NodeKind.SHOWDOWN, level)
        else:
            children["call"] = Branch(NodeKind.CHANCE, level, children={"": after(level, street % 2, street + 1, 0)})
        for size in range(sizes if depth == 0 else 1 if depth < deep else 0):
            owed = max(paid) + 0.7 + size + 0.3 * depth
            raised = (owed, paid[1]) if player == 0 else (paid[0], owed)
            children[f"bet {size}"] = after(raised, 1 - player, street, depth + 1)
        return Branch(NodeKind.DECISION, paid, player, children)

    return after((1.0, 1.0), 0, 0, 0)


def busy_form(streets: int) -> PublicForm:
    """Decisions with five actions and more, lines with many rows, and different numbers of hands."""
    form = random_form(7, deck=7 if streets == 1 else 5, streets=streets, most_hands=10)
    return with_tree(form, many_actions(streets, 5 if streets == 1 else 4, 3 if streets == 1 else 1))


def lock_some(form: PublicForm, *engines: CudaPublicEngine | PublicReference) -> None:
    """Lock the root, and some hands at a decision of the last street."""
    last = len(form.streets) - 1
    nodes = np.flatnonzero((form.tree.kind == NodeKind.DECISION) & (form.tree.street == last))
    some = np.arange(len(form.hands[int(form.tree.player[nodes[-1]])].weight)) % 2 == 0
    for engine in engines:
        for node, runout, hands in ((0, 0, None), (int(nodes[-1]), len(form.streets[last].parent) - 1, some)):
            chosen = np.full(engine.strategy(node, runout).shape, 0.125)
            chosen[0] = 1.0 - 0.125 * (len(chosen) - 1)
            engine.lock(node, chosen, runout, hands)


def assert_equal(one: CudaPublicEngine, two: CudaPublicEngine) -> None:
    """All bits of both are the same."""
    assert one.evaluate() == two.evaluate()
    expected = two.snapshot().arrays
    for name, numbers in one.snapshot().arrays.items():
        np.testing.assert_array_equal(numbers, expected[name])
    for values, same in zip(one.values_before_last(1), two.values_before_last(1), strict=True):
        np.testing.assert_array_equal(values, same)


def solved(
    form: PublicForm, *, storage: int = 32, locks: bool = False, variant: str = "discounted"
) -> CudaPublicEngine:
    engine = CudaPublicEngine(form, device=HostDevice(), storage=storage)
    begin(form, engine)
    if locks:
        lock_some(form, engine)
    engine.advance(rows(4, 2, variant))
    return engine


def all_in(streets: int) -> Branch:
    """A betting tree in which the first player moves all-in or checks; only after checks do players decide again."""

    def dealt(paid: tuple[float, float], street: int, last: Branch) -> Branch:
        return (
            last if street == streets else Branch(NodeKind.CHANCE, paid, children={"": dealt(paid, street + 1, last)})
        )

    def after(street: int) -> Branch:
        push = {
            "fold": Branch(NodeKind.FOLD, (5.0, 1.0), 1),
            "call": dealt((5.0, 5.0), street, Branch(NodeKind.SHOWDOWN, (5.0, 5.0))),
        }
        check = Branch(NodeKind.SHOWDOWN, (1.0, 1.0))
        if street < streets:
            check = Branch(NodeKind.CHANCE, (1.0, 1.0), children={"": after(street + 1)})
        return Branch(
            NodeKind.DECISION, (1.0, 1.0), 0, {"check": check, "all-in": Branch(NodeKind.DECISION, (5.0, 1.0), 1, push)}
        )

    return after(1)


def one_line() -> Branch:
    """A betting tree with one way to the next card, after which nobody can bet."""
    fold = Branch(NodeKind.FOLD, (1.0, 1.0), 1)
    last = Branch(NodeKind.DECISION, (1.0, 1.0), 1, {"fold": fold, "call": Branch(NodeKind.SHOWDOWN, (1.0, 1.0))})
    deal = Branch(NodeKind.CHANCE, (1.0, 1.0), children={"": last})
    return Branch(NodeKind.DECISION, (1.0, 1.0), 0, {"fold": Branch(NodeKind.FOLD, (1.0, 1.0), 0), "check": deal})
