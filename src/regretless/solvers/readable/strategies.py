"""Strategies that need no solving."""

from __future__ import annotations

from regretless.forms.history import Strategy
from regretless.games.game import CHANCE, Game, State

__all__ = ["uniform_strategy"]


def uniform_strategy(game: Game[State]) -> Strategy:
    """Every legal action with equal probability, in every information set.

    >>> from regretless.games import Kuhn
    >>> uniform_strategy(Kuhn())["2:pb"]
    {'p': 0.5, 'b': 0.5}
    """
    strategy: dict[str, dict[str, float]] = {}
    pending = [game.initial_state()]
    while pending:
        state = pending.pop()
        if game.is_terminal(state):
            continue
        actions = game.actions(state)
        if game.player(state) != CHANCE:
            strategy.setdefault(game.info_set_key(state), {action: 1.0 / len(actions) for action in actions})
        pending.extend(game.next_state(state, action) for action in actions)
    return strategy
