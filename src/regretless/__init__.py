"""Regretless: counterfactual regret minimization for every extensive-form game, from Kuhn poker to hold'em.

    import regretless as rl

    solution = rl.solve("leduc", variant="plus", iterations=1000)
    solution.exploitability, solution.values, solution.strategy["Ks:"]

    solution = rl.solve(rl.Spot.read("spot.toml"), target=0.3)  # percent of the pot
    solution.ev, solution.node("check, bet 94").frequencies

Names load when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regretless import cards, engines, errors, forms, games, holdem, plots, solvers, storage, variants
    from regretless.api import solve
    from regretless.errors import RegretlessError
    from regretless.games.registry import load
    from regretless.holdem.many import solve_many
    from regretless.holdem.solution import SpotSolution
    from regretless.holdem.spots.spot import Spot
    from regretless.solvers.batch import solve_batch
    from regretless.solvers.solution import Solution
    from regretless.solvers.solver import Solver

__all__ = [
    "RegretlessError",
    "Solution",
    "Solver",
    "Spot",
    "SpotSolution",
    "__version__",
    "cards",
    "engines",
    "errors",
    "forms",
    "games",
    "holdem",
    "load",
    "plots",
    "solve",
    "solve_batch",
    "solve_many",
    "solvers",
    "storage",
    "variants",
]

__version__ = "0.1.0"

_HOMES = {
    "RegretlessError": "regretless.errors",
    "Solution": "regretless.solvers.solution",
    "Solver": "regretless.solvers.solver",
    "Spot": "regretless.holdem.spots.spot",
    "SpotSolution": "regretless.holdem.solution",
    "load": "regretless.games.registry",
    "solve": "regretless.api",
    "solve_batch": "regretless.solvers.batch",
    "solve_many": "regretless.holdem.many",
}
_PACKAGES = ("cards", "engines", "errors", "forms", "games", "holdem", "plots", "solvers", "storage", "variants")


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"regretless.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'regretless' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
