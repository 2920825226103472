from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from regretless.games import CHANCE, Game


class Node(NamedTuple):
    state: Any
    depth: int
    player: int  # CHANCE, or None where the game is over
    reach: float  # chance's part of the probability of getting here
    recall: tuple  # by player: keys and actions so far


def nodes_of(game: Game[Any]) -> Iterator[Node]:
    """Every history of a game, depth first."""
    pending = [(game.initial_state(), 0, 1.0, ((),) * game.num_players())]
    while pending:
        state, depth, reach, recall = pending.pop()
        if game.is_terminal(state):
            yield Node(state, depth, None, reach, recall)
            continue
        player = game.player(state)
        yield Node(state, depth, player, reach, recall)
        if player == CHANCE:
            for outcome, probability in game.chance_outcomes(state):
                pending.append((game.next_state(state, outcome), depth + 1, reach * probability, recall))
        else:
            key = game.info_set_key(state)
            for action in game.actions(state):
                mine = (*recall[player], (key, action))
                after = (*recall[:player], mine, *recall[player + 1 :])
                pending.append((game.next_state(state, action), depth + 1, reach, after))


@pytest.fixture(scope="session")
def walk() -> Callable[[Game[Any]], Iterator[Node]]:
    return nodes_of
