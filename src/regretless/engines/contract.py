"""What a solver asks of an array library.

An engine holds one compiled game on one device together with the three arrays that CFR updates: regrets, the sum of
strategies, and the strategy to play next. `numpy_engine.py` is the plain reference; every other engine must equal it
within its stated tolerance, and one test body runs over all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from regretless.forms.history import FloatArray
from regretless.reprs import brief
from regretless.variants.variant import Schedule

__all__ = ["Engine", "Evaluation", "Sampling", "Snapshot", "Updates"]


class Updates(StrEnum):
    """Whether an iteration updates all players against the same strategies, or one after the other."""

    ALTERNATING = "alternating"
    SIMULTANEOUS = "simultaneous"


class Sampling(StrEnum):
    """How much of the tree an iteration walks."""

    FULL = "full"  # all of it
    CHANCE = "chance"  # one outcome at every chance node, all actions
    EXTERNAL = "external"  # one outcome, one action of the others, all actions of the player who is updated
    OUTCOME = "outcome"  # a single line of play


@dataclass(frozen=True)
class Evaluation:
    """What a strategy profile is worth, and what each player would gain by best-responding to it.

    >>> evaluation = Evaluation(values=(-0.1, 0.1), best_response_values=(0.2, 0.3))
    >>> round(evaluation.nash_conv, 6), round(evaluation.exploitability, 6)
    (0.5, 0.25)
    """

    values: tuple[float, ...]  # expected utility of each player when all follow the profile
    best_response_values: tuple[float, ...]  # the same when that player alone deviates to their best

    @property
    def nash_conv(self) -> float:
        """Sum over players of what each gains by best-responding; 0 exactly at a Nash equilibrium."""
        return sum(self.best_response_values) - sum(self.values)

    @property
    def exploitability(self) -> float:
        """Mean over players of what each gains by best-responding: NashConv / 2 for two players."""
        return self.nash_conv / len(self.values)


@dataclass(frozen=True)
class Snapshot:
    """Where a solve stands, on the host and in the pair order of the history form."""

    iteration: int  # iterations done
    regret: FloatArray  # [pairs]
    average: FloatArray  # [pairs]   weighted sum of strategies, not normalised
    strategy: FloatArray  # [pairs]  what is played next
    sampler: FloatArray | None = None  # [4]  where a sampling engine stands: seed, numbers drawn, two scales

    __repr__ = brief


class Engine(Protocol):
    """One game on one device, and the arrays that CFR updates there."""

    @property
    def name(self) -> str:
        """As a user types it: "numba"."""
        ...

    @property
    def device(self) -> str:
        """ "cpu", "cuda" or "mps"."""
        ...

    @property
    def threads(self) -> int: ...

    @property
    def tolerance(self) -> float:
        """How far its number format may move a result of order 1 from the float64 reference."""
        ...

    @property
    def memory_bytes(self) -> int:
        """What it holds, game included."""
        ...

    @property
    def iteration(self) -> int:
        """Iterations done."""
        ...

    def advance(self, schedule: Schedule) -> None:
        """Run as many iterations as `schedule` has rows."""
        ...

    def average_strategy(self) -> FloatArray:
        """The average strategy, normalised, uniform where nothing was accumulated, in pair order."""
        ...

    def evaluate(self, strategy: FloatArray | None = None) -> Evaluation:
        """Values and best responses of a strategy [pairs]; of the average strategy if none is given."""
        ...

    def snapshot(self) -> Snapshot:
        """A copy of the three arrays."""
        ...

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from there."""
        ...
