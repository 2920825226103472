"""What solving a spot answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regretless.holdem.reading.nodes import NodeView, RunoutReport
from regretless.holdem.reading.reading import SpotReader
from regretless.holdem.spots.lock_text import lock_text
from regretless.holdem.spots.spot import PlayerName, Spot
from regretless.reprs import brief
from regretless.solvers.loop import Measurement
from regretless.solvers.solution import Solution

if TYPE_CHECKING:
    from regretless.holdem.checking.verification import SpotVerification

__all__ = ["CURVE_UNIT", "SpotSolution", "percent_of_pot"]

CURVE_UNIT = "in % of the pot"


def percent_of_pot(history: tuple[Measurement, ...], spot: Spot) -> tuple[Measurement, ...]:
    """Measurements in percent of the starting pot instead of chips."""
    return tuple(replace(point, exploitability=100 * point.exploitability / spot.pot) for point in history)


@dataclass(frozen=True, kw_only=True)
class SpotSolution(Solution):
    """A solved spot. Chips are the spot's; `strategy` is that of the root, hand by hand.

    `node("check, bet 94, call, Th")` reads any node.
    """

    spot: Spot
    reader: SpotReader = field(repr=False)

    __repr__ = brief

    @property
    def exploitability_pct_pot(self) -> float:
        """Exploitability in percent of the starting pot."""
        return 100 * self.exploitability / self.spot.pot

    @property
    def curve(self) -> tuple[Measurement, ...]:
        """How exploitability fell, in percent of the starting pot."""
        return percent_of_pot(self.history, self.spot)

    @property
    def curve_unit(self) -> str:
        return CURVE_UNIT

    @property
    def ev(self) -> Mapping[PlayerName, float]:
        """Chips each player takes out of the hand, the starting pot included: they sum to the pot less rake."""
        return {"oop": self.values[1], "ip": self.values[0]}

    @property
    def equity(self) -> Mapping[PlayerName, float]:
        """Share of the pot at showdown if nobody bet."""
        return {"oop": self.root.equity("oop"), "ip": self.root.equity("ip")}

    @property
    def probability_bits(self) -> int:
        """Bits that are kept of a probability: in the file, or in memory after a solve."""
        return self.reader.answers.probability_bits

    @cached_property
    def root(self) -> NodeView:
        """The first decision."""
        return self.node("")

    def node(self, line: str = "", cards: Sequence[int] = ()) -> NodeView:
        """Everything known where a line of play leads: "check, bet 94, call, Th".

        `cards` are those that the line leaves out.
        """
        return self.reader.view(self.reader.find(line, cards))

    def runouts(self, line: str, *, then: str = "", cards: Sequence[int] = ()) -> RunoutReport:
        """Frequencies, EV and equity by the card that comes after a line: "check, check".

        `then` are actions after the card: "check" reports what the player in position does once out of position checks.
        """
        return self.reader.runout_report(self.reader.find(line, cards), then)

    def save(self, path: str | Path, *, resumable: bool = False) -> None:
        """Write a `.rgl` file; with `resumable`, also the regrets that a resume needs.

        Strategies are kept in 32 bits, those of large spots in 16: `postflop.probabilities` says how.
        """
        from regretless.holdem.files import save_solution

        save_solution(self, path, resumable=resumable)

    def verify(self, **options: Any) -> SpotVerification:
        """Recompute EVs and exploitability without merged suits, in float64; options as in `verify_spot`."""
        from regretless.holdem.checking.verification import verify_spot

        return verify_spot(self, **options)

    @classmethod
    def load(cls, path: str | Path) -> SpotSolution:
        """Read a `.rgl` file; strategies stay on the disk until a node is read."""
        from regretless.holdem.files import load_solution

        return load_solution(path)

    def as_json(self, *, strategy: bool = False) -> dict[str, Any]:
        """The object that `regretless solve SPOT.toml --json` prints."""
        answer = super().as_json()
        root = self.root
        answer |= {
            "exploitability_pct_pot": self.exploitability_pct_pot,
            "pot": self.spot.pot,
            "ev": dict(self.ev),
            "equity": dict(self.equity),
            "locks": [lock_text(lock) for lock in self.spot.locks],
            "root": {"player": root.player, "actions": list(root.actions), "frequencies": list(root.frequencies)},
        }
        if strategy:
            answer["root"]["hands"] = {
                player: {row.pop("hand"): row for row in root.rows(player)} for player in ("oop", "ip")
            }
        return answer
