"""Monte Carlo CFR: iterations that walk a random part of the tree (Lanctot, Waugh, Zinkevich & Bowling, NeurIPS 2009).

The counterfactual regret of action a at information set I is a sum over the terminals z below it. Sample a block of
terminals instead, and divide each by the probability q(z) that a block contains it:

    r̃(I, a) = Σ_{z drawn}  1/q(z) · u_i(z) · π_{−i}(z) · (π_i(h·a → z) − π_i(h → z)),    h the node of I above z

Its expectation is the exact regret r(I, a) for any choice of blocks in which every q(z) is positive. `Sampling` names
the choices; in each, chance is sampled from its own probabilities, which therefore cancel out of π_{−i}/q.

    chance     all actions are walked. q is chance's part of π_{−i}, so
                   r̃(I, a) = Σ_{h met} π_others(h) · (u(h·a) − u(h))
    external   chance and the other players are sampled; the updating player i tries every action. q = π_{−i}, so
                   r̃(I, a) = u(h·a) − u(h),    u(h) = Σ_a σ(a) · u(h·a)
               and a walk visits each information set at most once.
    outcome    one line of play. i samples from ξ = ε/|A| + (1 − ε) · σ, so q = π_{−i} · q_i, q_i the product of ξ:
                   r̃(I, a) = u_i(z)/q_i(z) · π_i(h·a → z) · (1 − σ(a))     for the sampled action
                   r̃(I, b) = −u_i(z)/q_i(z) · π_i(h·a → z) · σ(a)          for every other

Averages. Chance sampling adds π_i · σ at each visited set of i, as full CFR does; how often chance leads to a set is a
constant of that set and cancels when the average is normalised. External and outcome sampling add σ_j where the *next*
player j = i + 1 moves: j is sampled from σ_j there, so the frequency of visits replaces the weight π_j ("simple"
averaging in OpenSpiel). Outcome sampling divides by q_i(h), because i does not play by σ_i. With two players this is
the exact average up to a constant for each set; with more, sets are also weighted by how often the remaining players
reach them.

Variants. The sampled r̃ replaces r in `variants/variant.py`; sets that are not visited have r̃ = 0. `vanilla` and
`linear` suit sampling: they are sums, and a sum of unbiased estimates is unbiased. `plus` runs but loses its advantage:
flooring noisy estimates at 0 biases them upward. Variants that discount positive and negative regrets differently, or
predict the next regret from the last, are refused: a single random walk predicts nothing.

Batches. With `batch_size` B above 1, chance sampling walks B deals before it updates a player, and applies the variant
to the mean of their regrets, at every set of that player. The mean of B estimates has 1/B of the variance, so every
variant makes sense again; `torch/sampling.py` does the same on a GPU.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from regretless.engines.contract import LEARNED, Evaluation, Sampling, Snapshot
from regretless.engines.numba.sampling_kernels import (
    SamplingState,
    batch_walks,
    chance_walks,
    external_walks,
    outcome_walks,
)
from regretless.engines.numba.sequence import NumbaHistoryEngine, NumbaSequenceEngine
from regretless.engines.numba.sequence import estimate as estimate_exact
from regretless.engines.sampling import key_of, sampling_tree
from regretless.errors import InvalidOption
from regretless.forms.compile import uniform_array
from regretless.forms.history import FloatArray, HistoryForm
from regretless.forms.memory import memory_bytes
from regretless.forms.normalise import normalise
from regretless.forms.sequence import compile_sequence
from regretless.seeds import check_seed
from regretless.variants.vanilla import Vanilla
from regretless.variants.variant import Schedule, schedule

__all__ = ["PLAIN", "NumbaSamplingEngine", "estimate", "exact_engine"]

STATE_ARRAYS = 6  # regret, average and strategy, and three more over pairs while walking
LISTED_BYTES = {Sampling.CHANCE: 48, Sampling.EXTERNAL: 24, Sampling.OUTCOME: 24}  # of a node that a walk lists

PLAIN = schedule(Vanilla(), first=1, count=1)  # weights of walks whose results are only summed


def exact_engine(form: HistoryForm) -> NumbaHistoryEngine | NumbaSequenceEngine:
    """An engine that walks the whole game on the CPU, for evaluating strategies of a sampling engine."""
    return NumbaSequenceEngine(compile_sequence(form)) if form.players == 2 else NumbaHistoryEngine(form)


def estimate(form: HistoryForm) -> int:
    """Bytes that `NumbaSamplingEngine` allocates beside the compiled game."""
    nodes = len(form.parent)
    tree = (4 * 4 + 8 + 4) * nodes + form.payoff.nbytes
    state = STATE_ARRAYS * 8 * int(form.first_pair[-1]) + LISTED_BYTES[Sampling.CHANCE] * nodes
    return tree + state + estimate_exact(form)


class NumbaSamplingEngine:
    """External, outcome or chance sampling on one CPU thread; any number of players, all updated every iteration."""

    name = "numba"
    device = "cpu"
    threads = 1
    tolerance = 1e-10  # of one walk; sampling noise is far larger

    def __init__(
        self,
        form: HistoryForm,
        *,
        sampling: Sampling = Sampling.EXTERNAL,
        seed: int = 0,
        exploration: float = 0.6,  # ε of outcome sampling, above 0 and at most 1
        batch_size: int = 1,  # deals between two updates of a player; more than 1 only for chance sampling
    ) -> None:
        sampling = Sampling(sampling)
        if sampling is Sampling.FULL:
            raise InvalidOption("sampling", str(sampling), "must be external, outcome or chance")
        if form.players < 2 and sampling is not Sampling.CHANCE:
            raise InvalidOption("sampling", str(sampling), "needs two players or more: a single player samples nothing")
        if not 0.0 < exploration <= 1.0:
            raise InvalidOption("exploration", exploration, "must be above 0 and at most 1")
        if batch_size < 1:
            raise InvalidOption("batch_size", batch_size, "must be at least 1")
        if batch_size > 1 and sampling is not Sampling.CHANCE:
            raise InvalidOption("batch_size", batch_size, f"is for chance sampling; {sampling} sampling takes 1")
        self.form = form
        self.sampling = sampling
        self.batch_size = batch_size
        self.seed = check_seed(seed)
        self.exploration = exploration
        self.iteration = 0
        self._tree = sampling_tree(form)
        pairs = int(form.first_pair[-1])
        self._state = SamplingState(
            regret=np.zeros(pairs),
            average=np.zeros(pairs),
            strategy=uniform_array(form),
            random=np.array([key_of(seed), 0], np.uint64),
            scale=np.ones(2),
        )
        self._evaluator = exact_engine(form)  # compiles kernels, which is part of setup
        self.advance(PLAIN[:0])  # likewise

    @property
    def memory_bytes(self) -> int:
        walk = LISTED_BYTES[self.sampling] * len(self.form.parent)
        tree = sum(array.nbytes for array in self._tree)
        own = STATE_ARRAYS * self._state.regret.nbytes + walk + tree + memory_bytes(self.form)
        return own + self._evaluator.memory_bytes

    def advance(self, schedule: Schedule) -> None:
        if self.batch_size > 1:
            form, plain = self.form, PLAIN.repeat(self.batch_size)
            sets = np.asarray(form.first_pair), np.asarray(form.information_set_player)
            batch_walks(self._tree, self._state, np.ascontiguousarray(schedule), plain, *sets)
        else:
            self._check(schedule)
            self._walk(self._state, schedule, learning=True)
        self.iteration += len(schedule)

    def _check(self, schedule: Schedule) -> None:
        if np.any(schedule["prediction"] != 0.0):
            raise InvalidOption(
                "variant", "predictive", f"cannot be combined with {self.sampling} sampling: try linear"
            )
        if np.any(schedule["positive_discount"] != schedule["negative_discount"]):
            raise InvalidOption(
                "variant",
                "discounted",
                f"cannot be combined with {self.sampling} sampling, where positive and negative regrets need the "
                "same discount: try linear",
            )

    def _walk(self, state: SamplingState, schedule: Schedule, *, learning: bool) -> None:
        walks: Any
        options: tuple[Any, ...] = ()
        if self.sampling is Sampling.EXTERNAL:
            walks = external_walks
        elif self.sampling is Sampling.OUTCOME:
            walks, options = outcome_walks, (self.exploration, len(self.form.level) - 2)
        else:
            walks, options = chance_walks, (np.arange(self.form.players),)
        walks(self._tree, state, np.ascontiguousarray(schedule), learning, *options)

    def average_strategy(self) -> FloatArray:
        return normalise(self._state.average, self.form.first_pair)

    def evaluate(self, strategy: FloatArray | None = None) -> Evaluation:
        return self._evaluator.evaluate(self.average_strategy() if strategy is None else strategy)

    def snapshot(self, *, copy: bool = True) -> Snapshot:
        """Regrets and averages within a factor √2 of those of full CFR, and what an exact resume needs.

        Both are scaled by a power of two, which causes no rounding; the rest of the scale is in `sampler`.
        """
        regret, average, strategy, random, scale = self._state
        powers = [2.0 ** round(math.log2(number)) for number in scale.tolist()]
        arrays = {
            "regret": regret / powers[0],
            "average": average / powers[1],
            "strategy": strategy.copy() if copy else strategy,
            "sampler": np.array([self.seed, int(random[1]), *(scale / powers)], dtype=np.float64),
        }
        return Snapshot(self.iteration, arrays)

    def restore(self, snapshot: Snapshot) -> None:
        """Resume from a snapshot with its random numbers, or with this engine's own if it has none."""
        self.iteration = snapshot.iteration
        for name in LEARNED:
            getattr(self._state, name)[:] = snapshot.arrays[name]
        self._state.scale[:] = 1.0
        if (sampler := snapshot.arrays.get("sampler")) is not None:
            self.seed = int(sampler[0])
            self._state.random[:] = np.array([key_of(self.seed), int(sampler[1])], np.uint64)
            self._state.scale[:] = sampler[2:4]
