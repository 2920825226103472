"""What all solved games of hold'em from the deal have in common: values in big blinds, charts of lines before the flop.

Exploitability is quoted in mbb/g, thousandths of a big blind per game, and so are targets.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from regretless.errors import InvalidGame, InvalidText
from regretless.forms.history import Strategy
from regretless.forms.public import NodeKind
from regretless.holdem.reading.line_reader import NodeStrategy
from regretless.reprs import brief
from regretless.solving.game_solution import GameSolution
from regretless.solving.verification import Verification

__all__ = ["MILLI", "UNIT", "BigBlindSolution", "DealtSolution"]

MILLI = 1000  # thousandths of a big blind
UNIT = "mbb/g"


@dataclass(frozen=True, kw_only=True)
class BigBlindSolution(GameSolution):
    """A solved game of hold'em. Values are in big blinds, the small blind's first."""

    lines: ClassVar[tuple[str, ...]] = ("",)  # whose charts are shown first

    __repr__ = brief

    @abstractmethod
    def node(self, line: str = "", cards: Sequence[int] = ()) -> NodeStrategy:
        """The acting player's strategy with each hand where a line of play leads; `cards` are those it omits."""

    def charts(self) -> Iterator[NodeStrategy]:
        """Every decision before the flop."""
        return map(self.node, self.lines)

    @property
    def scale(self) -> float:
        return MILLI

    @property
    def unit(self) -> str:
        return f"in {UNIT}"

    @property
    def exploitability_mbb(self) -> float:
        """Exploitability in thousandths of a big blind per game."""
        return MILLI * self.exploitability

    def as_json(self, *, strategy: bool = False) -> dict[str, Any]:
        root = self.node()
        return super().as_json(strategy=strategy) | {
            "exploitability_mbb": self.exploitability_mbb if self.is_measured else None,
            "root": {"player": root.player, "actions": list(root.actions), "frequencies": list(root.frequencies)},
        }


class DealtSolution(BigBlindSolution):
    """A game that goes on after the flop. Its `strategy` is that of the first round; `node` reads any line."""

    how_to_check: ClassVar[str] = ""  # what evaluates it, after "by its rules"

    @cached_property
    def strategy(self) -> Strategy:
        """The first round by information set."""
        strategy: Strategy = self.reader.preflop()
        return strategy

    def node(self, line: str = "", cards: Sequence[int] = ()) -> NodeStrategy:
        """The acting player's strategy with each hand where a line leads: "raise 5, call, Qs Jh 2h, check".

        `cards` is what the line omits of the board.
        """
        node = self.reader.find(line, cards)
        if self.reader.tree.kind[node.index] != NodeKind.DECISION:
            raise InvalidText("line", line, None, "nobody acts there")
        strategy: NodeStrategy = self.reader.played(node)
        return strategy

    def charts(self) -> Iterator[NodeStrategy]:
        return map(self.reader.played, self.reader.before_cards())

    def verify(self, **options: Any) -> Verification:
        raise InvalidGame(f"{self.game}: is too large to be checked by its rules{self.how_to_check}")
