"""Push or fold, solved: the game of `games.push_fold` with targets in mbb/g, and its two charts.

The game is solved in the sequence form of its 338 information sets, by default with predictive discounted CFR+ until it
is exploitable for at most `TARGET`, which takes a fraction of a second. Exploitability is exact, up to rounding in 64
bits: it is computed from the exact equities of all pairs of classes. `variant="lp"` gives the equilibrium of the linear
program; where several equilibria exist, the two may differ in hands that are indifferent, never in value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from regretless.cards.hands import CLASS_NAMES, HAND_CLASS, HAND_COUNT
from regretless.cards.preflop_equities import CLASS_SIZES, class_equities
from regretless.errors import InvalidFile, InvalidOption, InvalidText, RegretlessError
from regretless.files.container import Container
from regretless.forms.history import FloatArray
from regretless.games.push_fold import CALL, FOLD, PUSH, PushFold
from regretless.games.registry import load
from regretless.holdem.games.big_blinds import MILLI, UNIT, BigBlindSolution
from regretless.holdem.reading.line_reader import NodeStrategy
from regretless.reprs import brief
from regretless.solving.game_problem import GameProblem
from regretless.solving.options import NO_OPTIONS, SolveOptions

__all__ = ["PushFoldProblem", "PushFoldSolution"]

TARGET = 1e-5  # mbb/g


@dataclass(frozen=True, kw_only=True)
class PushFoldSolution(BigBlindSolution):
    """Push or fold, solved.

    >>> from regretless import solve
    >>> solution = solve("push-fold(stack=10)")
    >>> round(1000 * solution.values[0], 3), round(solution.pushed, 4), round(solution.called, 4)
    (-45.371, 0.5828, 0.3738)
    >>> solution.node("push").player, solution.node("push").actions
    ('oop', ('fold', 'call'))
    """

    lines: ClassVar[tuple[str, ...]] = ("", PUSH)

    __repr__ = brief

    @cached_property
    def rules(self) -> PushFold:
        """The game that was solved."""
        rules = load(self.game)
        assert isinstance(rules, PushFold)
        return rules

    @classmethod
    def read(cls, file: Container) -> Self:
        solution = super().read(file)
        charts = {f"{name}:{line}": (FOLD, CALL if line else PUSH) for name in CLASS_NAMES for line in cls.lines}
        if {key: tuple(played) for key, played in solution.strategy.items()} != charts:
            raise InvalidFile(file.path, "is damaged: its charts are not those of push or fold")
        try:
            rules = load(solution.game)
        except RegretlessError:
            rules = None
        if not isinstance(rules, PushFold):
            raise InvalidFile(file.path, "is damaged: its game is not push or fold")
        return solution

    @property
    def pushed(self) -> float:
        """Share of the 1,326 hands that the small blind pushes."""
        return self._share("", PUSH)

    @property
    def called(self) -> float:
        """Share of the 1,326 hands with which the big blind calls; not all are equally likely to face a push."""
        return self._share(PUSH, CALL)

    def node(self, line: str = "", cards: Sequence[int] = ()) -> NodeStrategy:
        """The acting player's strategy with each hand: of the small blind, or of the big blind after "push"."""
        line = line.strip().lower()
        if line not in self.lines:
            why = "nobody acts there" if line in (FOLD, f"{PUSH}, {FOLD}", f"{PUSH}, {CALL}") else "is not a line"
            raise InvalidText("line", line, None, f"{why}: the small blind acts first, the big blind after {PUSH!r}")
        if cards:
            raise InvalidOption("cards", list(cards), "must be empty: nobody acts after the flop")
        reach = self._chart("")[1] if line else np.ones(len(CLASS_NAMES))  # the other player's, by class
        weight = class_equities().pairs @ reach / CLASS_SIZES
        return NodeStrategy(
            line=line,
            player="oop" if line else "ip",
            actions=(FOLD, CALL if line else PUSH),
            hand=np.arange(HAND_COUNT),
            reach=np.ones(HAND_COUNT),
            weight=weight[HAND_CLASS],
            strategy=self._chart(line)[:, HAND_CLASS],
        )

    def as_json(self, *, strategy: bool = False) -> dict[str, Any]:
        return super().as_json(strategy=strategy) | {
            "stack": self.rules.stack,
            "ante": self.rules.ante,
            "ranges": {PUSH: self.pushed, CALL: self.called},
        }

    def _chart(self, line: str) -> FloatArray:
        """[2, 169] probabilities of folding and of not folding."""
        return np.array([list(self.strategy[f"{name}:{line}"].values()) for name in CLASS_NAMES]).T

    def _share(self, line: str, action: str) -> float:
        probabilities = [self.strategy[f"{name}:{line}"][action] for name in CLASS_NAMES]
        return float(np.array(probabilities) @ CLASS_SIZES) / HAND_COUNT


class PushFoldProblem(GameProblem):
    """Push or fold. Targets are in mbb/g."""

    unit = UNIT
    scale = MILLI
    variant = "predictive-discounted-plus"
    solution_type = PushFoldSolution
    default_target = TARGET
    default_iterations = 5_000

    def __init__(self, game: object, options: SolveOptions = NO_OPTIONS) -> None:
        super().__init__(game)
        if options.form == "public":
            raise InvalidOption("form", options.form, f"is not for {self.name}, which is solved in the history form")
        if options.sampling not in (None, "full"):  # which predictive variants do not support
            self.variant = GameProblem.variant
