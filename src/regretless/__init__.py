"""Regretless: counterfactual regret minimization for finite games with perfect recall, from Kuhn poker to hold'em.

    import regretless as rl

    solution = rl.solve("leduc", variant="plus", iterations=1000)
    solution.exploitability, solution.values, solution.strategy["Ks:"]

    solution = rl.solve(rl.Spot.read("spot.toml"), target=0.3)  # percent of the pot
    solution.ev, solution.node("check, bet 94").frequencies
    solution.save("spot.rgl")
    rl.load("spot.rgl")

    trained = rl.train("leduc", preset="small", seed=7)  # Deep CFR
    trained.exploitability, trained.strategy["Ks:"]

Names are loaded on first use, so that importing the package is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regretless import cards, cluster, deep, engines, errors, files, forms, games, holdem, plots, solving, variants
    from regretless.api import load, solve, train
    from regretless.deep.trained_policy import TrainedPolicy
    from regretless.errors import RegretlessError
    from regretless.games.registry import load as game
    from regretless.holdem.many import solve_many
    from regretless.holdem.solution import SpotSolution
    from regretless.holdem.spots.spot import Spot
    from regretless.holdem.studies.study import Study
    from regretless.solving.batch import solve_batch
    from regretless.solving.game_solution import GameSolution
    from regretless.solving.readable.vanilla import VanillaCFR
    from regretless.solving.solution import Solution
    from regretless.solving.solver import Solver

__all__ = [
    "GameSolution", "RegretlessError", "Solution", "Solver", "Spot", "SpotSolution", "Study", "TrainedPolicy",
    "VanillaCFR", "__version__", "cards", "cluster", "deep", "engines", "errors", "files", "forms", "game", "games",
    "holdem", "load", "plots", "solve", "solve_batch", "solve_many", "solving", "train", "variants",
]  # fmt: skip

__version__ = "0.1.0"

_HOMES = {
    "GameSolution": ("regretless.solving.game_solution", "GameSolution"),
    "RegretlessError": ("regretless.errors", "RegretlessError"),
    "Solution": ("regretless.solving.solution", "Solution"),
    "Solver": ("regretless.solving.solver", "Solver"),
    "Spot": ("regretless.holdem.spots.spot", "Spot"),
    "SpotSolution": ("regretless.holdem.solution", "SpotSolution"),
    "Study": ("regretless.holdem.studies.study", "Study"),
    "VanillaCFR": ("regretless.solving.readable.vanilla", "VanillaCFR"),
    "TrainedPolicy": ("regretless.deep.trained_policy", "TrainedPolicy"),
    "game": ("regretless.games.registry", "load"),
    "load": ("regretless.api", "load"),
    "solve": ("regretless.api", "solve"),
    "solve_batch": ("regretless.solving.batch", "solve_batch"),
    "solve_many": ("regretless.holdem.many", "solve_many"),
    "train": ("regretless.api", "train"),
}
_PACKAGES = (
    "cards",
    "cluster",
    "deep",
    "engines",
    "errors",
    "files",
    "forms",
    "games",
    "holdem",
    "plots",
    "solving",
    "variants",
)


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"regretless.{name}")
    if name in _HOMES:
        module, attribute = _HOMES[name]
        return getattr(import_module(module), attribute)
    raise AttributeError(f"module 'regretless' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
