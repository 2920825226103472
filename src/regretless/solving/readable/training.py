"""Kuhn poker trained hand by hand: the classic introduction to CFR (Neller & Lanctot, 2013).

Each iteration

1. deals one card to each player at random;
2. walks all actions after that deal with the current strategies, and computes the value of each history to both;
3. adds to every information set visited, weighted by the other player's reach, how much better each action would have
   been than the mixture: its regret;
4. adds the strategy just played to the average, weighted by the player's own reach.

The next strategy is proportional to positive regret. The average strategy approaches an equilibrium; the mean payoff of
player 0 approaches the value of the game, −1/18, but slowly, because it includes the early, badly played hands.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from regretless.engines import Evaluation
from regretless.errors import InvalidOption
from regretless.forms.history import Strategy
from regretless.games.kuhn import Kuhn, KuhnState
from regretless.reprs import brief
from regretless.solving.readable.best_response import evaluate
from regretless.solving.readable.cfr import uniform_strategy
from regretless.solving.readable.vanilla import CFRNode, VanillaCFR

__all__ = ["CARDS", "KUHN_VALUE", "KuhnTrainer", "NamedKuhn", "Training", "train_kuhn"]

CARDS = "JQK"  # the names of 0, 1 and 2
KUHN_VALUE = -1 / 18  # to player 0 in equilibrium
HANDS_PER_REPORT = 1000


@dataclass(frozen=True)
class Training:
    """The state of a training run."""

    iterations: int  # hands dealt
    seconds: float
    running_value: float  # mean payoff of player 0 over all hands, while the strategies were still changing
    strategy: Strategy  # the average strategy
    evaluation: Evaluation  # exact, of that strategy

    __repr__ = brief


class NamedKuhn(Kuhn):
    """Kuhn poker with the names of its cards in keys.

    >>> NamedKuhn().info_set_key(KuhnState(cards=(1, 2), history="pb"))  # a queen that checked and faces a bet
    'Qpb'
    """

    def info_set_key(self, state: KuhnState) -> str:
        return CARDS[state.cards[self.player(state)]] + state.history


class KuhnTrainer(VanillaCFR[KuhnState]):
    """Two players who learn Kuhn poker from dealt hands.

    >>> trainer = KuhnTrainer(seed=1)
    >>> for _ in range(5000):
    ...     trainer.play_hand()
    >>> print(trainer.nodes["Kb"])  # facing a bet, the king learns to call
    Kb  average p 0.0%, b 100.0%; regrets ...
    """

    def __init__(self, seed: int = 0) -> None:
        super().__init__(NamedKuhn())
        self.random = random.Random(seed)
        self.deals = self.game.initial_states()
        keys = uniform_strategy(self.game)
        by_history = sorted(keys, key=lambda key: (len(key), key[1:], CARDS.index(key[0])))  # first decisions first
        self.nodes = {key: CFRNode(key, tuple(keys[key])) for key in by_history}
        self.hands = 0
        self.value_sum = 0.0

    @property
    def running_value(self) -> float:
        """Mean payoff of player 0 per hand."""
        return self.value_sum / max(self.hands, 1)

    def play_hand(self) -> None:
        """One iteration: deal, walk, learn."""
        self.value_sum += self.iterate(self.random.choice(self.deals))[0]
        self.hands += 1


def train_kuhn(
    iterations: int = 100_000,
    *,
    seed: int = 0,
    report: Callable[[int, float], None] = lambda hands, running_value: None,
    interrupted: Callable[[], bool] = lambda: False,
) -> Training:
    """Train for this many hands; `report` is called with hands dealt and the running value.

    >>> training = train_kuhn(20_000, seed=1)
    >>> abs(training.evaluation.values[0] - KUHN_VALUE) < 0.01, training.evaluation.exploitability < 0.02
    (True, True)
    """
    if iterations < 1:
        raise InvalidOption("iterations", iterations, "must be at least 1")
    began = time.perf_counter()
    trainer = KuhnTrainer(seed)
    while trainer.hands < iterations and not interrupted():
        for _ in range(min(HANDS_PER_REPORT, iterations - trainer.hands)):
            trainer.play_hand()
        report(trainer.hands, trainer.running_value)
    seconds = time.perf_counter() - began
    strategy = trainer.get_all_average_strategies()
    return Training(trainer.hands, seconds, trainer.running_value, strategy, evaluate(trainer.game, strategy))
