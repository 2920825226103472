"""Counterfactual regret minimization as a recursion, to be read beside the paper (Zinkevich et al., NeurIPS 2007).

One iteration, for each player i in turn (or for all at once):

1. Discount the accumulated regrets and averages as the variant says (`variants/variant.py`). Vanilla does not.
2. Walk the tree with the current strategy σ. At a history h where i moves, the regret of an action is

       π_{−i}(h) · (u_i(σ, h·a) − u_i(σ, h)),

   where π_{−i} is the probability that chance and the others lead to h. It is summed over the histories of the
   information set and over iterations: (7).
3. Add σ to the average, weighted by the player's own reach π_i: (4).
4. The next strategy is proportional to positive regret, uniform where there is none: (8).

Chance is either walked in full or sampled: then one outcome is drawn at every chance node visited, and the regrets are
unbiased. This is the reference that every fast engine is tested against, so it is plain Python in float64.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import prod
from operator import add
from typing import Generic

from regretless.engines import Evaluation, Sampling, Updates
from regretless.errors import InvalidOption
from regretless.forms.history import Strategy
from regretless.games.game import CHANCE, Action, Game, State
from regretless.games.registry import as_game
from regretless.solving.readable.best_response import evaluate
from regretless.variants.variant import ROW, Schedule, Weights

__all__ = ["CFR", "InformationSet", "matching", "uniform_strategy"]

Reach = tuple[float, ...]  # each player's factor in the probability of coming here, then chance's


@dataclass
class InformationSet:
    """The state of CFR for one information set; each list is over its actions."""

    player: int
    actions: tuple[Action, ...]
    regret: list[float] = field(init=False)  # R(I, a), equation (7) before dividing by T
    average: list[float] = field(init=False)  # Σ_t π_i · σ^t, the numerator of equation (4)
    strategy: list[float] = field(init=False)  # σ, played next
    new_regret: list[float] = field(init=False)  # r(I, a) of the current iteration
    own_reach: float = 0.0  # π_i(I) of the current iteration; 0 if sampling did not come here

    def __post_init__(self) -> None:
        count = len(self.actions)
        self.regret = [0.0] * count
        self.average = [0.0] * count
        self.strategy = [1.0 / count] * count
        self.new_regret = [0.0] * count

    def discount(self, weights: Weights) -> None:
        """Before the walk: discount what was accumulated so far."""
        self.regret = [
            regret * (weights.positive_discount if regret > 0 else weights.negative_discount) for regret in self.regret
        ]
        self.average = [total * weights.average_decay for total in self.average]
        self.new_regret = [0.0] * len(self.actions)
        self.own_reach = 0.0

    def add_regret(self, index: int, regret: float) -> None:
        """During the walk: one history's share of equation (7)."""
        self.regret[index] += regret
        self.new_regret[index] += regret

    def match(self, weights: Weights) -> None:
        """After the walk: add the strategy to the average, equation (4), and compute the next one, equation (8)."""
        gain = weights.average_weight * self.own_reach
        self.average = [
            total + gain * probability for total, probability in zip(self.average, self.strategy, strict=True)
        ]
        if weights.floor:
            self.regret = [max(regret, 0.0) for regret in self.regret]
        self.strategy = matching(
            [
                regret * weights.prediction_discount + weights.prediction * new
                for regret, new in zip(self.regret, self.new_regret, strict=True)
            ]
        )


def matching(regrets: Sequence[float]) -> list[float]:
    """Regret matching, equation (8): proportional to positive regret, uniform where there is none.

    >>> matching([3.0, -2.0, 1.0]), matching([-1.0, 0.0])
    ([0.75, 0.0, 0.25], [0.5, 0.5])
    """
    positive = [max(regret, 0.0) for regret in regrets]
    total = reduce(add, positive)
    if total < sys.float_info.min:  # 0, or so small that it has lost precision
        return [1.0 / len(positive)] * len(positive)
    return [regret / total for regret in positive]


class CFR(Generic[State]):
    """CFR on the rules of a game.

    >>> from regretless.games import Kuhn
    >>> from regretless.variants import Plus, schedule
    >>> cfr = CFR(Kuhn())
    >>> cfr.advance(schedule(Plus(), first=1, count=100))
    >>> round(cfr.evaluate().exploitability, 6)
    0.001194
    """

    def __init__(
        self,
        game: Game[State],
        *,
        updates: Updates = Updates.ALTERNATING,
        sampling: Sampling = Sampling.FULL,
        seed: int = 0,
    ) -> None:
        if sampling not in (Sampling.FULL, Sampling.CHANCE):
            raise InvalidOption("sampling", str(sampling), "is not for the reference engine, which has full and chance")
        self.game = game
        self.updates = updates
        self.sampling = sampling
        self.random = random.Random(seed)
        self.information_sets = _information_sets(game)
        self.iteration = 0

    def advance(self, schedule: Schedule) -> None:
        """Run one iteration per row of `schedule`."""
        if getattr(schedule, "dtype", None) != ROW:
            example = "variants.schedule(Plus(), first=1, count=100)"
            reason = f"is not a schedule, such as {example}; VanillaCFR(game).train(100) takes a number"
            raise InvalidOption("schedule", schedule, reason)
        everyone = tuple(range(self.game.num_players()))
        turns = [everyone] if self.updates is Updates.SIMULTANEOUS else [(player,) for player in everyone]
        certain = (1.0,) * (len(everyone) + 1)
        for row in schedule.tolist():
            weights = Weights(*row)
            for updating in turns:
                sets = [each for each in self.information_sets.values() if each.player in updating]
                for information_set in sets:
                    information_set.discount(weights)
                self._walk(self.game.initial_state(), certain, updating)
                for information_set in sets:
                    information_set.match(weights)
            self.iteration += 1

    def average_strategy(self) -> Strategy:
        """Equation (4): strategies weighted by the player's own reach; uniform where a set was never reached."""
        sets = self.information_sets.items()
        return {key: dict(zip(each.actions, matching(each.average), strict=True)) for key, each in sets}

    def evaluate(self) -> Evaluation:
        """Values and best responses of the average strategy."""
        return evaluate(self.game, self.average_strategy())

    def _walk(self, state: State, reach: Reach, updating: Sequence[int]) -> tuple[float, ...]:
        """Expected utility of every player from here on; regrets are added on the way back up."""
        game = self.game
        if game.is_terminal(state):
            return game.utilities(state)
        player = game.player(state)
        if player == CHANCE:
            return self._walk_chance(state, reach, updating)

        information_set = self.information_sets[game.info_set_key(state)]
        action_values = [
            self._walk(game.next_state(state, action), _scale_reach(reach, player, probability), updating)
            for action, probability in zip(information_set.actions, information_set.strategy, strict=True)
        ]
        values = _mixture(information_set.strategy, action_values)
        if player in updating:
            information_set.own_reach = reach[player]
            counterfactual_reach = prod(reach[:player]) * prod(reach[player + 1 :])
            for index, action_value in enumerate(action_values):
                information_set.add_regret(index, counterfactual_reach * (action_value[player] - values[player]))
        return values

    def _walk_chance(self, state: State, reach: Reach, updating: Sequence[int]) -> tuple[float, ...]:
        outcomes = self.game.chance_outcomes(state)
        probabilities = [probability for _, probability in outcomes]
        if self.sampling is Sampling.CHANCE:
            (outcome,) = self.random.choices([outcome for outcome, _ in outcomes], probabilities)
            return self._walk(self.game.next_state(state, outcome), reach, updating)
        return _mixture(
            probabilities,
            [
                self._walk(self.game.next_state(state, outcome), _scale_reach(reach, CHANCE, probability), updating)
                for outcome, probability in outcomes
            ],
        )


def _scale_reach(reach: Reach, mover: int, probability: float) -> Reach:
    """The reach after a move with that probability; chance (−1) comes last."""
    index = mover % len(reach)
    return (*reach[:index], reach[index] * probability, *reach[index + 1 :])


def _mixture(probabilities: Sequence[float], values: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    """Expected utilities over actions or outcomes, summed in order (`sum` rounds differently since Python 3.12)."""
    totals = [0.0] * len(values[0])
    for probability, value in zip(probabilities, values, strict=True):
        for player, of_player in enumerate(value):
            totals[player] += probability * of_player
    return tuple(totals)


def _information_sets(game: Game[State]) -> dict[str, InformationSet]:
    """Every information set of the game, in the order a walk visits them."""
    sets: dict[str, InformationSet] = {}
    pending = [game.initial_state()]
    while pending:
        state = pending.pop()
        if game.is_terminal(state):
            continue
        player = game.player(state)
        if player == CHANCE:
            actions = [outcome for outcome, _ in game.chance_outcomes(state)]
        else:
            actions = list(game.actions(state))
            key = game.info_set_key(state)
            if key not in sets:
                sets[key] = InformationSet(player, tuple(actions))
        pending.extend(game.next_state(state, action) for action in reversed(actions))
    return sets


def uniform_strategy(game: Game[State] | str) -> Strategy:
    """Every legal action with equal probability, in every information set.

    >>> from regretless.games import Kuhn
    >>> uniform_strategy(Kuhn())["2:pb"]
    {'p': 0.5, 'b': 0.5}
    """
    sets = _information_sets(as_game(game))
    return {key: dict(zip(each.actions, each.strategy, strict=True)) for key, each in sets.items()}
