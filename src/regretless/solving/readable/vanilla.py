"""Counterfactual regret minimization on one page: read this first, beside the paper (Zinkevich et al., NeurIPS 2007).

An iteration walks the whole tree once and updates all players at the same time:

1. The strategy σ of an information set I is proportional to its positive regrets, uniform if there are none: (8).
2. At a history h of I where player i moves, the regret of each action grows by

       π_{−i}(h) · (u_i(σ, h·a) − u_i(σ, h)),

   where π_{−i}(h) is the probability that chance and the other players lead to h: (7), times the iterations so far.
3. The sum of strategies grows by π_i(h) · σ, where π_i(h) is the player's own probability of coming to h. The average
   strategy is that sum, normalised: (4). It is the average that approaches an equilibrium.

`cfr.py` is the same recursion with alternating updates, sampling and the variants published since; engines compute the
same on arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Generic

from regretless.errors import InvalidOption
from regretless.forms.history import Strategy
from regretless.games.game import CHANCE, Action, Game, State
from regretless.games.registry import as_game

__all__ = ["CFRNode", "VanillaCFR"]


class CFRNode:
    """What one information set has learned.

    >>> node = CFRNode("Qpb", ("p", "b"))
    >>> node.regret_sum["b"], node.strategy_sum["p"], node.strategy_sum["b"] = 1.5, 1.0, 3.0
    >>> print(node)
    Qpb  average p 25.0%, b 75.0%; regrets p +0, b +1.5
    """

    def __init__(self, info_set_key: str, actions: Sequence[Action]) -> None:
        self.info_set_key = info_set_key
        self.regret_sum = dict.fromkeys(actions, 0.0)
        self.strategy_sum = dict.fromkeys(actions, 0.0)

    def get_strategy(self) -> dict[Action, float]:
        """Regret matching, equation (8)."""
        return _normalise({action: max(regret, 0.0) for action, regret in self.regret_sum.items()})

    def get_average_strategy(self) -> dict[Action, float]:
        """Equation (4)."""
        return _normalise(self.strategy_sum)

    def __str__(self) -> str:
        average = ", ".join(f"{action} {100 * share:.1f}%" for action, share in self.get_average_strategy().items())
        regrets = ", ".join(f"{action} {regret:+.4g}" for action, regret in self.regret_sum.items())
        return f"{self.info_set_key}  average {average}; regrets {regrets}"


class VanillaCFR(Generic[State]):
    """CFR as first published, for any number of players.

    >>> from regretless.games import Kuhn
    >>> cfr = VanillaCFR(Kuhn())
    >>> cfr.train(1000)
    >>> round(cfr.get_average_strategy("2:b")["b"], 2)  # facing a bet, the king calls
    1.0
    >>> len(cfr.get_all_average_strategies())
    12
    """

    def __init__(self, game: Game[State] | str) -> None:
        self.game: Game[State] = as_game(game)
        self.nodes: dict[str, CFRNode] = {}  # by the key of the information set, created on the first visit
        self.strategy: dict[str, dict[Action, float]] = {}  # of the current iteration, computed on the first visit

    def train(self, iterations: int) -> None:
        """Run this many iterations, in addition to those before."""
        if type(iterations) is not int or iterations < 1:
            raise InvalidOption("iterations", iterations, "must be a whole number, at least 1")
        for _ in range(iterations):
            self.iterate(self.game.initial_state())

    def iterate(self, state: State) -> Sequence[float]:
        """One iteration on the tree below a state; returns the value of that state to each player."""
        self.strategy = {}
        return self._walk(state, [1.0] * self.game.num_players(), 1.0)

    def get_average_strategy(self, info_set: str) -> dict[Action, float]:
        """Action -> probability in one information set."""
        if info_set not in self.nodes:
            visited = ", ".join([*self.nodes][:12]) or "none yet: train first"
            raise InvalidOption("info_set", info_set, f"is not an information set that was visited ({visited})")
        return self.nodes[info_set].get_average_strategy()

    def get_all_average_strategies(self) -> Strategy:
        """Information set -> action -> probability."""
        return {key: node.get_average_strategy() for key, node in self.nodes.items()}

    def _walk(self, state: State, reach: Sequence[float], chance: float) -> Sequence[float]:
        """Values to all players; `reach` is each player's own probability of coming here, `chance` that of chance."""
        game = self.game
        if game.is_terminal(state):
            return game.utilities(state)
        player = game.player(state)
        value = [0.0] * len(reach)
        if player == CHANCE:
            for outcome, probability in game.chance_outcomes(state):
                below = self._walk(game.next_state(state, outcome), reach, chance * probability)
                for i, of_player in enumerate(below):
                    value[i] += probability * of_player
            return value

        key = game.info_set_key(state)
        if key not in self.nodes:
            self.nodes[key] = CFRNode(key, game.actions(state))
        node = self.nodes[key]
        if key not in self.strategy:
            self.strategy[key] = node.get_strategy()  # (8)
        strategy = self.strategy[key]
        action_value = {}
        for action, probability in strategy.items():
            onward = [*reach[:player], reach[player] * probability, *reach[player + 1 :]]
            below = self._walk(game.next_state(state, action), onward, chance)
            action_value[action] = below[player]
            for i, of_player in enumerate(below):
                value[i] += probability * of_player
        others = chance * prod(reach[:player]) * prod(reach[player + 1 :])
        for action, probability in strategy.items():
            node.regret_sum[action] += others * (action_value[action] - value[player])  # (7)
            node.strategy_sum[action] += reach[player] * probability  # (4)
        return value


def _normalise(weights: Mapping[Action, float]) -> dict[Action, float]:
    """Probabilities in proportion to weights; uniform if all are 0."""
    total = sum(weights.values())
    if total == 0:
        return dict.fromkeys(weights, 1 / len(weights))
    return {action: weight / total for action, weight in weights.items()}
