"""What a solve returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from regretless.engines.contract import Evaluation, Snapshot
from regretless.forms.history import Strategy
from regretless.reprs import brief
from regretless.solvers.loop import Measurement

if TYPE_CHECKING:
    from regretless.solvers.verification import Verification

__all__ = ["Reason", "Settings", "Solution"]

Reason = Literal["iterations", "target", "interrupted", "exact"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What was asked of a solve and is needed to go on with it in the same way."""

    iterations: int  # where it was to end
    target: float | None = None  # exploitability at which it was to end sooner
    measure_every: int | None = None
    updates: str = "alternating"
    sampling: str = "full"
    batch_size: int | None = None
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Solution:
    """The average strategy of a game, how exploitable it is, and what it took to find it."""

    game: str  # as a user types it
    variant: str
    engine: str
    device: str
    threads: int
    iterations: int  # done, those before a resume included
    evaluation: Evaluation
    reason: Reason  # why the solve ended
    history: tuple[Measurement, ...] = field(repr=False)
    seconds: float  # solving, exploitability checks included
    setup_seconds: float  # compiling the game and the engine
    seconds_per_iteration: float  # iterations alone
    memory_bytes: int
    nodes: int
    information_sets: int
    settings: Settings = field(repr=False)
    tree_hash: str = field(repr=False)  # of the compiled game: what `snapshot` fits
    snapshot: Snapshot | None = field(repr=False)  # what a resume starts from; None where nothing iterates
    zero_sum: bool = True  # whether the payoffs of every terminal sum to 0
    read_strategy: Callable[[], Strategy] = field(repr=False)  # arrays to text, when it is first asked for

    __repr__ = brief

    @property
    def exploitability(self) -> float:
        """NashConv / players, in the game's units."""
        return self.evaluation.exploitability

    @property
    def nash_conv(self) -> float:
        return self.evaluation.nash_conv

    @property
    def values(self) -> tuple[float, ...]:
        """Expected utility of each player."""
        return self.evaluation.values

    @property
    def curve(self) -> tuple[Measurement, ...]:
        """How exploitability fell, in `curve_unit`."""
        return self.history

    @property
    def curve_unit(self) -> str:
        """What a picture of the solve measures exploitability in."""
        return "in the game's units"

    @cached_property
    def strategy(self) -> Strategy:
        """Information set -> action -> probability."""
        return self.read_strategy()

    def verify(self, **options: Any) -> Verification:
        """Recompute values and exploitability from the rules of the game; options as in `verify_game`."""
        from regretless.solvers.verification import verify_game

        return verify_game(self, **options)

    def as_json(self, *, strategy: bool = False) -> dict[str, Any]:
        """The object that `regretless solve --json` prints."""
        answer: dict[str, Any] = {
            "game": self.game,
            "variant": self.variant,
            "engine": self.engine,
            "device": self.device,
            "threads": self.threads,
            "iterations": self.iterations,
            "exploitability": self.exploitability,
            "nash_conv": self.nash_conv,
            "values": list(self.values),
            "seconds": self.seconds,
            "setup_seconds": self.setup_seconds,
            "seconds_per_iteration": self.seconds_per_iteration,
            "memory_bytes": self.memory_bytes,
            "nodes": self.nodes,
            "information_sets": self.information_sets,
            "history": [[point.iteration, point.seconds, point.exploitability] for point in self.history],
        }
        if strategy:
            answer["strategy"] = {key: dict(actions) for key, actions in self.strategy.items()}
        return answer
