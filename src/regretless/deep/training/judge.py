"""How a training is measured: the policy at every information set, handed to an existing engine."""

from __future__ import annotations

from typing import Any, Protocol

from regretless import engines
from regretless.deep.exact import pair_strategy
from regretless.deep.policies import MixturePolicy, Policy
from regretless.deep.worlds.history_world import HistoryWorld
from regretless.engines import Evaluation
from regretless.forms.compile import invert
from regretless.forms.history import Strategy

__all__ = ["AnyPolicy", "EnumeratingJudge", "Judge"]

AnyPolicy = Policy | MixturePolicy


class Judge(Protocol):
    """Measures policies."""

    def evaluate(self, policy: AnyPolicy) -> Evaluation:
        """Exact values and best responses, in the game's units."""

    def strategy(self, policy: AnyPolicy) -> Any:
        """The policy at every information set, as the game's solutions read it."""


class EnumeratingJudge:
    """For games whose information sets can be enumerated."""

    def __init__(self, world: HistoryWorld) -> None:
        self.world = world
        self._engine = engines.create("numpy", world.form)  # which has no kernels to load, and one pass is quick

    def evaluate(self, policy: AnyPolicy) -> Evaluation:
        return self._engine.evaluate(pair_strategy(self.world, policy))

    def strategy(self, policy: AnyPolicy) -> Strategy:
        """Information set -> action -> probability."""
        return invert(self.world.form, pair_strategy(self.world, policy))
