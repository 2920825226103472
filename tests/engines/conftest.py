"""Games nobody tuned for: random trees with perfect recall, chance anywhere, varying numbers of actions."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from regretless.games.game import CHANCE, Game

Path = tuple[int, ...]


@dataclass
class Node:
    player: int = CHANCE
    key: str = ""
    payoffs: tuple[float, ...] = ()  # of a terminal
    probabilities: tuple[float, ...] = ()  # of a chance node
    children: list[Node] = field(default_factory=list)


class RandomGame(Game[Path]):
    """A random game, by seed. A key contains everything its player did and saw, so recall is perfect."""

    def __init__(self, seed: int, players: int = 2, depth: int = 6, zero_sum: bool = True) -> None:
        self.name = f"random(seed={seed})"
        self.players, self.zero_sum = players, zero_sum
        self.random = random.Random(seed)
        self.whole = self.random.random() < 0.5  # payoffs in whole numbers make equal rows, sums of 0 and ties
        self.root = self._grow(depth, ("",) * players)

    def _grow(self, depth: int, known: tuple[str, ...]) -> Node:
        if depth == 0 or (self.random.random() < 0.15 and depth < 5):
            return Node(payoffs=self._payoffs())
        player = self.random.randrange(-1, self.players)
        if player == CHANCE:
            weights = [self.random.random() + 0.01 for _ in range(self.random.randint(1, 3))]
            probabilities = tuple(weight / sum(weights) for weight in weights)
            return Node(probabilities=probabilities, children=[self._grow(depth - 1, known) for _ in weights])
        key = f"{player}{known[player]}/{self.random.randrange(2)}"
        actions = random.Random(key).choice((1, 2, 2, 3, 4))  # the same wherever the key is the same
        children = [
            self._grow(depth - 1, (*known[:player], f"{key}.{action}", *known[player + 1 :]))
            for action in range(actions)
        ]
        return Node(player=player, key=key, children=children)

    def _payoffs(self) -> tuple[float, ...]:
        draw = (lambda: float(self.random.randint(-2, 2))) if self.whole else (lambda: self.random.gauss(0, 1))
        payoffs = [draw() for _ in range(self.players)]
        if self.zero_sum:
            payoffs[-1] = -sum(payoffs[:-1])
        return tuple(payoffs)

    def _node(self, state: Path) -> Node:
        node = self.root
        for child in state:
            node = node.children[child]
        return node

    def num_players(self) -> int:
        return self.players

    def initial_state(self) -> Path:
        return ()

    def is_terminal(self, state: Path) -> bool:
        return bool(self._node(state).payoffs)

    def player(self, state: Path) -> int:
        return self._node(state).player

    def actions(self, state: Path) -> Sequence[str]:
        return [str(child) for child in range(len(self._node(state).children))]

    def chance_outcomes(self, state: Path) -> Sequence[tuple[str, float]]:
        return list(zip(self.actions(state), self._node(state).probabilities, strict=True))

    def next_state(self, state: Path, action: str) -> Path:
        return (*state, int(action))

    def info_set_key(self, state: Path) -> str:
        return self._node(state).key

    def utility(self, state: Path, player: int) -> float:
        return self._node(state).payoffs[player]


@pytest.fixture(scope="session")
def random_game() -> Callable[..., RandomGame]:
    return RandomGame
