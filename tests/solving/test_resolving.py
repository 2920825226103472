"""Subgames solved again, plainly and safely, on games small enough for exact best responses of the whole.

Best responses are those of `public_values`, by definition; nothing there is shared with what is tested.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, partial

import numpy as np
import pytest
from tests.engines.random_public import random_form
from tests.solving.public_values import PublicValues, evaluate_plainly, public_values

from regretless.engines import PublicEngine, create
from regretless.engines.contract import PublicStrategy
from regretless.engines.layout import make_layout
from regretless.forms.blockers import compatible
from regretless.forms.gadgets import with_gadgets
from regretless.forms.history import FloatArray
from regretless.forms.public import NodeKind, PublicForm
from regretless.forms.public_poker import compile_public
from regretless.games import Leduc
from regretless.solving.resolving import Resolver
from regretless.variants import PRESETS, schedule

LEDUC = compile_public(Leduc())


def resolver(iterations: int, engine: str = "numba") -> Resolver:
    def solve(engine: PublicEngine) -> None:
        engine.advance(schedule(PRESETS["predictive-plus"], 1, iterations))

    return Resolver(partial(create, engine, threads=1 if engine == "numba" else None), solve)


# --- blueprints ------------------------------------------------------------------------------------------------------


def solved(form: PublicForm, iterations: int, variant: str = "vanilla") -> PublicStrategy:
    engine = create("numba", form, threads=1)
    engine.advance(schedule(PRESETS[variant], 1, iterations))
    return engine.strategy


def drawn(form: PublicForm, seed: int, concentration: float = 1.0) -> PublicStrategy:
    """Each hand's mix at random; with a low concentration, nearly pure."""

    @cache
    def strategy(node: int, runout: int) -> FloatArray:
        actions = int(form.tree.first_child[node + 1] - form.tree.first_child[node])
        hands = len(form.hands[int(form.tree.player[node])].weight)
        return np.random.default_rng((seed, node, runout)).dirichlet(np.full(actions, concentration), size=hands).T

    return strategy


def mixed(first: PublicStrategy, second: PublicStrategy, share: float) -> PublicStrategy:
    return lambda node, runout: (1 - share) * first(node, runout) + share * second(node, runout)


BLUEPRINTS = {
    **{f"{count} iterations": partial(solved, LEDUC, count) for count in (1, 2, 5, 10, 50)},
    **{f"random {seed}": partial(drawn, LEDUC, seed) for seed in range(2)},
    "nearly pure": partial(drawn, LEDUC, 2, 0.2),
    "noisy equilibrium": lambda: mixed(solved(LEDUC, 300, "plus"), drawn(LEDUC, 3), 0.1),
    "equilibrium": lambda: solved(LEDUC, 300, "plus"),
}


# --- subgames --------------------------------------------------------------------------------------------------------


def after_the_deal(form: PublicForm) -> list[int]:
    """The decisions that begin the second street."""
    tree, decisions = form.tree, form.tree.kind == NodeKind.DECISION
    return [
        node
        for node in np.flatnonzero(decisions & (tree.street == 1)).tolist()
        if tree.kind[tree.parent[node]] == NodeKind.CHANCE
    ]


def trunk_of(form: PublicForm, roots: Iterable[int], strategy: PublicStrategy) -> dict[int, FloatArray]:
    """What stays: everything that is not below a root."""
    tree, below = form.tree, set(roots)
    for node in range(len(tree.kind)):  # parents come first
        if int(tree.parent[node]) in below:
            below.add(node)
    stays = [node for node in np.flatnonzero(tree.kind == NodeKind.DECISION).tolist() if node not in below]
    return {node: np.array([strategy(node, runout) for runout in runouts_of(form, node)]) for node in stays}


def runouts_of(form: PublicForm, node: int) -> range:
    return range(len(form.streets[int(form.tree.street[node])].parent))


def best_values(form: PublicForm, strategy: PublicStrategy, own: int) -> tuple[PublicValues, PublicValues]:
    return public_values(form, strategy, own, best=True)


def alternatives(form: PublicForm, roots: Iterable[int], strategy: PublicStrategy, own: int) -> dict[int, FloatArray]:
    """What each hand gains by best-responding below each root, per opposing hand that it can face."""
    values, met = best_values(form, strategy, own)

    def row(node: int, runout: int) -> FloatArray:
        faced = met[node, runout]
        return np.divide(values[node, runout], faced, out=np.zeros_like(faced), where=faced > 0)

    return {node: np.array([row(node, runout) for runout in runouts_of(form, node)]) for node in roots}


def solved_safely(form: PublicForm, roots: list[int], blueprint: PublicStrategy, solver: Resolver) -> PublicEngine:
    first, second = (alternatives(form, roots, blueprint, own) for own in range(2))
    return solver.safely(form, trunk_of(form, roots, blueprint), (first, second))


def allowed(form: PublicForm, roots: list[int], before: PublicStrategy, after: PublicStrategy, own: int) -> float:
    """The bound of CFR-D: what a player's hands gain below the roots above what they had, whoever brings them."""
    old, new = (best_values(form, strategy, own)[0] for strategy in (before, after))
    weight, total = form.hands[own].weight, 0.0
    for node in roots:
        for runout in runouts_of(form, node):
            chance = form.streets[int(form.tree.street[node])].probability[runout]
            total += chance * float(weight @ np.maximum(new[node, runout] - old[node, runout], 0.0))
    return total / float(form.hands[0].weight @ compatible(*form.hands) @ form.hands[1].weight)


def check_safety(form: PublicForm, roots: list[int], before: PublicStrategy, after: PublicStrategy) -> float:
    """That neither player's best response gains more than the bound; returns how much exploitability rose."""
    old, new = (evaluate_plainly(form, strategy) for strategy in (before, after))
    for own in range(2):
        bound = allowed(form, roots, before, after, own)
        assert bound < 0.004  # the solves are approximate
        assert new.best_response_values[own] <= old.best_response_values[own] + bound + 1e-6
    return new.exploitability - old.exploitability


@pytest.mark.parametrize("name", BLUEPRINTS)
def test_safe_is_never_worse_than_the_blueprint(name: str) -> None:
    blueprint, roots = BLUEPRINTS[name](), after_the_deal(LEDUC)
    engine = solved_safely(LEDUC, roots, blueprint, resolver(500))
    for node, rows in trunk_of(LEDUC, roots, blueprint).items():
        np.testing.assert_allclose(engine.strategy(node), rows[0], atol=1e-6)
    assert check_safety(LEDUC, roots, blueprint, engine.strategy) < 0.002
    assert engine.evaluate().exploitability == pytest.approx(
        evaluate_plainly(LEDUC, engine.strategy).exploitability, abs=1e-5
    )


def test_plain_is_sometimes_worse_than_the_blueprint() -> None:
    blueprint, roots = BLUEPRINTS["equilibrium"](), after_the_deal(LEDUC)
    plain = resolver(500).plainly(LEDUC, trunk_of(LEDUC, roots, blueprint))
    before = evaluate_plainly(LEDUC, blueprint).exploitability
    after = evaluate_plainly(LEDUC, plain.strategy).exploitability
    assert before < 0.003
    assert after > before + 0.05
    assert plain.evaluate().exploitability == pytest.approx(after, abs=1e-5)


def test_a_single_subgame_may_be_solved_again() -> None:
    blueprint, roots = BLUEPRINTS["10 iterations"](), after_the_deal(LEDUC)[1:2]
    engine = solved_safely(LEDUC, roots, blueprint, resolver(300))
    assert check_safety(LEDUC, roots, blueprint, engine.strategy) < -0.001
    kept = trunk_of(LEDUC, roots, blueprint)
    assert {int(LEDUC.tree.street[node]) for node in kept} == {0, 1}
    for node, rows in kept.items():
        for runout in runouts_of(LEDUC, node):
            np.testing.assert_allclose(engine.strategy(node, runout), rows[runout], atol=1e-6)


@pytest.mark.parametrize("seed", [4, 12])
def test_on_games_with_two_cards_and_blockers(seed: int) -> None:
    form = random_form(seed, deck=7, streets=2, most_hands=15, weighted=seed == 4)
    roots = after_the_deal(form)
    for blueprint in (drawn(form, seed), solved(form, 20, "plus")):
        engine = solved_safely(form, roots, blueprint, resolver(300))
        assert check_safety(form, roots, blueprint, engine.strategy) < 0.002


@pytest.mark.parametrize(("engine", "storage"), [("numpy", None), ("numba", 32), ("numba", 16)])
@pytest.mark.parametrize("opponent", [0, 1])
def test_every_engine_pays_what_leaving_is_worth(engine: str, storage: int | None, opponent: int) -> None:
    """Against the blueprint, each hand of a best response takes what is worth more: leaving or playing on."""
    blueprint = drawn(LEDUC, 5)
    [worth] = alternatives(LEDUC, [0], blueprint, opponent)[0]
    offered = worth + np.linspace(-1.0, 1.0, len(worth))
    gadgets = with_gadgets(LEDUC, opponent, {0: offered[None]})
    solving = create(engine, gadgets.form, storage=storage)
    for node, rows in trunk_of(LEDUC, [], blueprint).items():
        if LEDUC.tree.player[node] != opponent:
            for runout, row in enumerate(rows):
                solving.lock(int(gadgets.node[node]), row, runout)
    for (node, runout), row in gadgets.locks.items():
        solving.lock(node, row, runout)
    gained = solving.evaluate().best_response_values[opponent]
    assert gained == pytest.approx(np.maximum(offered, worth).mean(), abs=2e-3 if storage == 16 else 1e-6)


def test_a_gadget_leaves_the_decisions_of_the_other_player_in_their_order() -> None:
    """So averages of a solve with gadgets fit the form without them."""
    roots = after_the_deal(LEDUC)
    for opponent in range(2):
        gadgets = with_gadgets(LEDUC, opponent, alternatives(LEDUC, roots, drawn(LEDUC, 1), opponent))
        plain, changed = make_layout(LEDUC), make_layout(gadgets.form)
        own = np.flatnonzero((LEDUC.tree.kind == NodeKind.DECISION) & (LEDUC.tree.player != opponent))
        np.testing.assert_array_equal(changed.block[gadgets.node[own]], plain.block[own])
        assert changed.entries[1 - opponent] == plain.entries[1 - opponent]
        assert changed.entries[opponent] > plain.entries[opponent]
