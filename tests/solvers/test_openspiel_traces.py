"""Exploitability after every few iterations equals OpenSpiel's.

Settings. Both update players alternately, player 0 first, and weigh the average by own reach. OpenSpiel's CFR+ weighs
iteration t by t, as our `plus` does; its LCFRSolver and DCFRSolver are `linear` and `discounted` with the paper's
parameters, and discount after adding where we discount before: the same strategies. There is no setting to differ.
"""

import pytest

from regretless import engines, load
from regretless.forms.compile import compile_history
from regretless.rules import PRESETS, schedule
from regretless.solvers import Reference

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
from open_spiel.python.algorithms import cfr, discounted_cfr, exploitability  # noqa: E402

GAMES = {"kuhn": "kuhn_poker", "leduc": "leduc_poker"}
TRACED = [1, 2, 3, 5, 10, 20, 50, 100]
SOLVERS = {
    "vanilla": cfr.CFRSolver,
    "plus": cfr.CFRPlusSolver,
    "linear": discounted_cfr.LCFRSolver,
    "discounted": discounted_cfr.DCFRSolver,
}


def openspiel_trace(game: str, variant: str, iterations: list[int]) -> list[float]:
    rules = pyspiel.load_game(GAMES[game])
    if variant in ("vanilla", "plus"):  # its C++ solvers; discounting exists in its Python alone
        solver = {"vanilla": pyspiel.CFRSolver, "plus": pyspiel.CFRPlusSolver}[variant](rules)
        measure = lambda: pyspiel.exploitability(rules, solver.average_policy())  # noqa: E731
    else:
        solver = SOLVERS[variant](rules)
        measure = lambda: exploitability.exploitability(rules, solver.average_policy())  # noqa: E731
    trace = []
    for iteration in range(1, iterations[-1] + 1):
        solver.evaluate_and_update_policy()
        if iteration in iterations:
            trace.append(measure())
    return trace


def our_trace(engine, variant: str, iterations: list[int]) -> list[float]:
    trace = []
    for iteration in iterations:
        engine.advance(schedule(PRESETS[variant], engine.iteration + 1, iteration - engine.iteration))
        trace.append(engine.evaluate().exploitability)
    return trace


def reference(game: str) -> Reference:
    rules = load(game)
    return Reference(rules, compile_history(rules))


@pytest.mark.parametrize("variant", SOLVERS)
def test_kuhn_trace(variant: str) -> None:
    ours = our_trace(reference("kuhn"), variant, [*TRACED, 1000])
    theirs = openspiel_trace("kuhn", variant, [*TRACED, 1000])
    assert ours[:-1] == pytest.approx(theirs[:-1], abs=1e-9)
    assert ours[-1] == pytest.approx(theirs[-1], rel=0.1)


@pytest.mark.parametrize("variant", SOLVERS)
def test_leduc_trace(variant: str) -> None:
    assert our_trace(reference("leduc"), variant, TRACED) == pytest.approx(
        openspiel_trace("leduc", variant, TRACED), abs=1e-9
    )


@pytest.mark.parametrize(
    "variant", ["vanilla", "plus", *(pytest.param(name, marks=pytest.mark.slow) for name in ("linear", "discounted"))]
)
def test_leduc_after_a_thousand_iterations(variant: str) -> None:
    """Rounding moves correct implementations apart by then, so the two only have to be close."""
    (ours,) = our_trace(engines.create("numpy", compile_history(load("leduc"))), variant, [1000])
    (theirs,) = openspiel_trace("leduc", variant, [1000])
    assert ours == pytest.approx(theirs, rel=0.1)
