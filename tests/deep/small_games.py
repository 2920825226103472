"""Games that the tests of worlds and traversals share."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from regretless.games.game import CHANCE, TwoPlayerGame


class Moves(NamedTuple):
    line: str


class RandomTree(TwoPlayerGame[Moves]):
    """A tree of random shape: players, numbers of actions (1 to 3), depths, payoffs and chance anywhere.

    Actions are seen by both players, so every decision is an information set of its own; chance is optional.
    """

    def __init__(self, seed: int, *, chance: bool) -> None:
        self.name = f"random tree {seed}"
        self.seed, self.chance = seed, chance

    def _random(self, state: Moves) -> random.Random:
        return random.Random(f"{self.seed} {state.line}")

    def initial_state(self) -> Moves:
        return Moves("")

    def is_terminal(self, state: Moves) -> bool:
        depth = len(state.line)
        return depth == 6 or (depth >= 2 and self._random(state).random() < 0.2)

    def player(self, state: Moves) -> int:
        return self._random(state).choice([0, 1, 0, 1, CHANCE] if self.chance else [0, 1])

    def actions(self, state: Moves) -> Sequence[str]:
        return "abc"[: self._random(state).choice([1, 2, 2, 3])]

    def chance_outcomes(self, state: Moves) -> Sequence[tuple[str, float]]:
        outcomes = self.actions(state)
        total = sum(range(1, len(outcomes) + 1))
        return [(outcome, number / total) for number, outcome in enumerate(outcomes, start=1)]

    def next_state(self, state: Moves, action: str) -> Moves:
        return Moves(state.line + action)

    def info_set_key(self, state: Moves) -> str:
        return f"{self.player(state)}:{state.line}"

    def utilities(self, state: Moves) -> tuple[float, float]:
        payoff = self._random(state).uniform(-5.0, 5.0)
        return payoff, -payoff


class OneChoice(TwoPlayerGame[Moves]):
    """One player moves a (worth 1 to the player) or b (worth 0); the other can only pass. Actions are public."""

    def __init__(self, chooser: int) -> None:
        self.name = f"choice of player {chooser}"
        self.chooser = chooser

    def initial_state(self) -> Moves:
        return Moves("")

    def is_terminal(self, state: Moves) -> bool:
        return len(state.line) == 2

    def player(self, state: Moves) -> int:
        return len(state.line)

    def actions(self, state: Moves) -> Sequence[str]:
        return "ab" if self.player(state) == self.chooser else "p"

    def next_state(self, state: Moves, action: str) -> Moves:
        return Moves(state.line + action)

    def info_set_key(self, state: Moves) -> str:
        return f"{self.player(state)}:{state.line}"

    def utilities(self, state: Moves) -> tuple[float, float]:
        payoff = float("a" in state.line)
        return (payoff, -payoff) if self.chooser == 0 else (-payoff, payoff)
