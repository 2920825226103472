"""Fitting a network to a memory, by Adam on batches of samples.

    value     loss = mean over samples of  w · Σ_a (V(o, a) − advantage(a))²         over legal actions
    policy    loss = mean over samples of  w · Σ_a (softmax(o)(a) − strategy(a))²    over legal actions

with w = t · 2/T for a sample of iteration t (linear CFR), and gradients clipped (`gradient_clip`).

Two things differ from the paper, and neither changes what is fitted:

- Targets of a value network are divided by their root mean square, and the head is multiplied by it at the end. Regret
  matching does not depend on the scale, but Adam's steps and the clipping do, and a chip may be worth anything.
- If observations are numbered and there are no more of them than samples in a batch, each step takes the gradient of
  the whole memory, which only depends on the sums per observation (`Memory.merged`), and the fit ends early once its
  loss, now without noise, is below `ENOUGH`. `merge_equal=False` draws batches
  everywhere, as the paper does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from regretless.deep.memories import Memory, ReservoirBatch
from regretless.deep.networks.network import Network, legal_softmax
from regretless.deep.networks.optimiser import Adam, Replayed
from regretless.deep.settings import Precision, TrainingSettings
from regretless.deep.streams import generator

__all__ = ["STEPS_DRAWN", "Fitting", "matrix_precision"]

STEPS_DRAWN = 64  # steps whose batches are drawn at once
ENOUGH = 1e-5  # squared error, of targets with a mean square of about 1, below which more steps gain nothing
STEPS_BETWEEN_LOOKS = 10  # reading the loss waits for the device

Error = Callable[[Tensor, Tensor, Tensor], Tensor]  # output, target (0 where not legal), legal -> [n]


class Fitting:
    """How networks are fitted; `distinct` is the world's `distinct_observations`."""

    def __init__(self, settings: TrainingSettings, distinct: int | None) -> None:
        self.settings = settings
        small = settings.merge_equal and distinct is not None and distinct <= settings.batch
        self._merged = distinct if small else None

    def values(self, network: Network, memory: Memory, *, iteration: int, seed: int) -> float:
        """Fit advantages; returns the last step's loss, in the game's units squared."""
        scale = memory.root_mean_square() or 1.0
        _scale_head(network, 1.0 / scale)
        loss = self._fit(network, memory, _squared_error, self.settings.value_steps, scale, iteration, seed)
        _scale_head(network, scale)
        return loss * scale**2

    def policy(self, network: Network, memory: Memory, *, iteration: int, seed: int) -> float:
        """Fit probabilities; returns the last step's loss."""
        return self._fit(network, memory, _policy_error, self.settings.policy_steps, 1.0, iteration, seed)

    def _fit(
        self, network: Network, memory: Memory, error: Error, steps: int, scale: float, iteration: int, seed: int
    ) -> float:
        chosen = self.settings
        adam = Adam(
            network,
            steps=steps,
            learning_rate=chosen.learning_rate,
            clip=chosen.gradient_clip,
            decay=chosen.decay,
        )
        whole: _Task | None = None
        if self._merged is not None:
            whole = _Task(memory.merged(self._merged, iteration=iteration, weighting=chosen.weighting), scale)
        rows = torch.zeros(chosen.batch, dtype=torch.int64, device=memory.storage)

        def step() -> Tensor:
            task = whole or _Task(memory.read(rows, iteration=iteration, weighting=chosen.weighting), scale)
            loss = (error(network(task.observations), task.target, task.legal) * task.weights).mean()
            adam.step(loss)
            return loss.detach()

        recorded = Replayed(step, memory.storage)  # only what happens on one device can be recorded
        drawing = generator(memory.storage, seed)
        loss = torch.zeros(())
        with matrix_precision(chosen.precision, memory.device):
            for number in range(steps):
                if whole is None:
                    if number % STEPS_DRAWN == 0:
                        drawn = memory.draw(STEPS_DRAWN * chosen.batch, drawing).view(STEPS_DRAWN, -1)
                    rows.copy_(drawn[number % STEPS_DRAWN])
                elif number % STEPS_BETWEEN_LOOKS == 0 and number > 0 and float(loss) < ENOUGH:
                    break
                adam.set_step(number)
                loss = recorded()
        adam.close()
        return float(loss)


class _Task:
    """A batch as the loss needs it."""

    def __init__(self, batch: ReservoirBatch, scale: float) -> None:
        self.observations, self.weights = batch.observations, batch.weights
        self.legal = ~batch.targets.isnan()
        self.target = batch.targets.nan_to_num() / scale


def _squared_error(output: Tensor, target: Tensor, legal: Tensor) -> Tensor:
    return ((output - target).square() * legal).sum(dim=1)


def _policy_error(output: Tensor, target: Tensor, legal: Tensor) -> Tensor:
    return (legal_softmax(output, legal) - target).square().sum(dim=1)


def _scale_head(network: Network, factor: float) -> None:
    with torch.no_grad():
        network.head.weight.mul_(factor)
        network.head.bias.mul_(factor)


@contextmanager
def matrix_precision(precision: Precision, device: torch.device) -> Iterator[None]:
    """A context in which matrix products on a CUDA device have this precision; sums and results stay float32."""
    if device.type != "cuda" or precision == "float32":
        yield
    elif precision == "bfloat16":
        with torch.autocast(
            "cuda", dtype=torch.bfloat16, cache_enabled=False
        ):  # recording needs casts to be part of it
            yield
    else:
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("high")
        try:
            yield
        finally:
            torch.set_float32_matmul_precision(before)
