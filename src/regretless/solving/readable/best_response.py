"""Values of a strategy profile and of best responses to it, by recursion over the rules of a game.

A best response of player i to σ:

1. For every information set I of i, collect its histories h with the probability π_{−i}(h) that chance and the others
   lead there.
2. In I, i picks one action for all histories: the one that maximises Σ_h π_{−i}(h) · v(h·a), where v(h) is the value
   of h if i plays a best response from there on.
3. v(root) is the value of the best response.

With perfect recall, the choice in I depends only on choices further down, so the recursion ends.

Both walk the whole game, so that an impossible strategy is refused wherever it is: each information set must give every
legal action, and no other, a probability, and these must sum to 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from functools import cache
from math import fsum
from typing import Generic

from regretless.engines import Evaluation
from regretless.errors import InvalidGame, InvalidOption
from regretless.forms.compile import action_probabilities, unknown_information_set
from regretless.forms.history import Strategy
from regretless.games.game import CHANCE, Action, Game, State
from regretless.games.registry import as_game

__all__ = ["BestResponse", "evaluate", "expected_values"]


def evaluate(game: Game[State] | str, strategy: Strategy) -> Evaluation:
    """Values of a profile and of every player's best response to it.

    >>> from regretless.games import Kuhn
    >>> from regretless.solving import uniform_strategy
    >>> round(evaluate(Kuhn(), uniform_strategy(Kuhn())).exploitability, 6)
    0.458333
    """
    rules: Game[State] = as_game(game)
    responses = [BestResponse(rules, strategy, player).value() for player in range(rules.num_players())]
    return Evaluation(values=expected_values(rules, strategy), best_response_values=tuple(responses))


def expected_values(game: Game[State] | str, strategy: Strategy) -> tuple[float, ...]:
    """Expected utility of every player if all follow `strategy`."""
    rules: Game[State] = as_game(game)
    moves = _Moves(rules, strategy)

    def value(state: State) -> tuple[float, ...]:
        if rules.is_terminal(state):
            return rules.utilities(state)
        totals = [0.0] * rules.num_players()
        for action, probability in moves.of(state):
            for player, below in enumerate(value(rules.next_state(state, action))):
                totals[player] += probability * below
        return tuple(totals)

    values = value(rules.initial_state())
    moves.check_all_known(())
    return values


class BestResponse(Generic[State]):
    """The best response of one player to the others' strategies; `strategy` need not have the player's own."""

    def __init__(self, game: Game[State] | str, strategy: Strategy, player: int) -> None:
        self.game: Game[State] = as_game(game)
        if player not in range(self.game.num_players()):
            raise InvalidOption("player", player, f"must be a whole number from 0 to {self.game.num_players() - 1}")
        self.strategy = strategy
        self.player = player
        self.histories: dict[str, list[tuple[State, float]]] = defaultdict(list)  # I -> (h, π_{−i}(h))
        self._moves = _Moves(self.game, strategy)
        self._collect(self.game.initial_state(), 1.0)
        self._moves.check_all_known(self.histories)
        self._best_actions: dict[str, Action] = {}
        self.history_value = cache(self._history_value)  # every action above a history visits it

    def value(self) -> float:
        """The player's expected value with the best response."""
        return self.history_value(self.game.initial_state())

    def action(self, key: str) -> Action:
        """The best action in the information set with that key; the first if several are equal."""
        best = self._best_actions.get(key)
        if best is None:
            if key not in self.histories:
                raise unknown_information_set(key, f"player {self.player} of {self.game}")
            histories = self.histories[key]
            best = max(
                self.game.actions(histories[0][0]),
                key=lambda action: fsum(
                    reach * self.history_value(self.game.next_state(state, action)) for state, reach in histories
                ),
            )
            self._best_actions[key] = best
        return best

    def _collect(self, state: State, reach: float) -> None:
        if self.game.is_terminal(state):
            return
        if self.game.player(state) == self.player:
            key = self.game.info_set_key(state)
            if key not in self.histories and key in self.strategy:
                self._moves.check(key, state)
            self.histories[key].append((state, reach))
            for action in self.game.actions(state):
                self._collect(self.game.next_state(state, action), reach)
        else:
            for action, probability in self._moves.of(state):
                self._collect(self.game.next_state(state, action), reach * probability)

    def _history_value(self, state: State) -> float:
        if self.game.is_terminal(state):
            return self.game.utility(state, self.player)
        if self.game.player(state) == self.player:
            return self.history_value(self.game.next_state(state, self.action(self.game.info_set_key(state))))
        return fsum(
            probability * self.history_value(self.game.next_state(state, action))
            for action, probability in self._moves.of(state)
        )


class _Moves(Generic[State]):
    """The moves of chance, and of players who follow a strategy; each information set is checked when first reached."""

    def __init__(self, game: Game[State], strategy: Strategy) -> None:
        self.game = game
        self.strategy = strategy
        self._checked: dict[str, Sequence[tuple[Action, float]]] = {}  # moves by information set

    def of(self, state: State) -> Iterable[tuple[Action, float]]:
        """Moves with their probabilities."""
        if self.game.player(state) == CHANCE:
            return self.game.chance_outcomes(state)
        key = self.game.info_set_key(state)
        if key not in self._checked:
            self.check(key, state)
            # 64-bit numbers, whatever the strategy's: with np.float32 the values would be of 32 bits, too
            self._checked[key] = [(action, float(number)) for action, number in self.strategy[key].items()]
        return self._checked[key]

    def check(self, key: str, state: State) -> None:
        """Refuse a strategy that is impossible in an information set, that of `state`."""
        if key not in self.strategy:
            raise InvalidGame(f"the strategy has no information set {key!r} of {self.game}")
        action_probabilities(self.strategy[key], key, self.game.actions(state))

    def check_all_known(self, others: Container[str]) -> None:
        """Refuse an information set of the strategy that was not reached and is none of the others."""
        for key in self.strategy:
            if key not in self._checked and key not in others:
                raise unknown_information_set(key, str(self.game))
