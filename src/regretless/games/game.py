"""The rules of a game, following Definition 1 of Zinkevich et al. (2007).

| paper                  | here                                                                  |
|------------------------|-----------------------------------------------------------------------|
| history h in H         | a *state*: any hashable value; `initial_state()` is the empty history |
| terminal z in Z        | `is_terminal(state)`                                                  |
| actions A(h)           | `actions(state)`, and `next_state(state, action)` is the history (h, a) |
| player function P(h)   | `player(state)`, which is `CHANCE` where chance moves                 |
| chance f_c(a given h)  | `chance_outcomes(state)`: anywhere in the tree, any probabilities     |
| information partition  | `info_set_key(state)`: equal keys, same information set               |
| utility u_i(z)         | `utility(state, player)`                                              |

A game is written once, by subclassing `Game`. Everything else in the package uses these methods: the recursive solver
directly, the fast engines after the game is compiled into arrays.

Zinkevich, Johanson, Bowling, Piccione: Regret Minimization in Games with Incomplete Information. NeurIPS 2007.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from regretless.printable import printable
from regretless.reprs import shortened

__all__ = ["CHANCE", "Action", "AnyGame", "Game", "State", "TwoPlayerGame"]

Action = str
State = TypeVar("State", bound=Hashable)

CHANCE = -1  # returned by `player` where chance moves


class Game(ABC, Generic[State]):
    """A finite extensive-form game with perfect recall, for any number of players.

    >>> from regretless.games import Kuhn
    >>> game = Kuhn()
    >>> state = game.initial_states()[0]  # the first player holds the jack, the second the queen
    >>> game.player(state), game.actions(state), game.info_set_key(state)
    (0, ('p', 'b'), '0:')
    """

    name: str  # as a user types it, parameters included: "leduc(ranks=6)"; by default, the name of the class
    zero_sum: bool = True  # whether the utilities of every terminal sum to 0
    public_only: bool = False  # whether the rules are too large to enumerate: only a public form can be compiled
    solvable: bool = True  # whether some form of it is small enough to be solved

    @abstractmethod
    def num_players(self) -> int:
        """Number of players, not counting chance."""

    @abstractmethod
    def initial_state(self) -> State:
        """The empty history, before chance has dealt anything."""

    @abstractmethod
    def is_terminal(self, state: State) -> bool:
        """Whether the game is over here (z in Z)."""

    @abstractmethod
    def player(self, state: State) -> int:
        """Who moves here, P(h): 0, 1, … or `CHANCE`."""

    @abstractmethod
    def actions(self, state: State) -> Sequence[Action]:
        """Legal actions here, A(h), in a fixed order; where chance moves, its outcomes."""

    @abstractmethod
    def next_state(self, state: State, action: Action) -> State:
        """The history (h, a)."""

    @abstractmethod
    def utility(self, state: State, player: int) -> float:
        """What `player` gets at this terminal, u_i(z)."""

    @abstractmethod
    def info_set_key(self, state: State) -> str:
        """Everything the player to move knows, as text; unique across all players' information sets."""

    def chance_outcomes(self, state: State) -> Sequence[tuple[Action, float]]:
        """Outcomes of chance here with their probabilities, f_c; uniform unless a game overrides this."""
        outcomes = self.actions(state)
        return [(outcome, 1.0 / len(outcomes)) for outcome in outcomes]

    def utilities(self, state: State) -> tuple[float, ...]:
        """`utility` of every player at this terminal."""
        return tuple(self.utility(state, player) for player in range(self.num_players()))

    def deals(self) -> list[tuple[State, float]]:
        """States after the opening chance moves, each with its probability."""
        finished: list[tuple[State, float]] = []
        pending = [(self.initial_state(), 1.0)]
        while pending:
            state, probability = pending.pop()
            if self.is_terminal(state) or self.player(state) != CHANCE:
                finished.append((state, probability))
            else:
                pending.extend(
                    (self.next_state(state, outcome), probability * chance)
                    for outcome, chance in reversed(self.chance_outcomes(state))
                )
        return finished

    def initial_states(self) -> list[State]:
        """The states of `deals`, without their probabilities."""
        return [state for state, _ in self.deals()]

    if not TYPE_CHECKING:

        def __getattr__(self, attribute: str) -> str:
            """A game without a name is called like its class."""
            if attribute == "name":
                return type(self).__name__
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {attribute!r}")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {shortened(printable(self.name), 200)}>"

    def __str__(self) -> str:
        return self.name


AnyGame: TypeAlias = Game[Any]  # whatever its states are: only the game itself looks into them


class TwoPlayerGame(Game[State]):
    """A game for two that computes both utilities at once."""

    def num_players(self) -> int:
        return 2

    def utility(self, state: State, player: int) -> float:
        return self.utilities(state)[player]

    @abstractmethod
    def utilities(self, state: State) -> tuple[float, float]: ...
