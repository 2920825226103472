"""Fitting a network to a memory, by Adam on batches of samples.

    value     loss = mean over samples of  w · Σ_a (V(o, a) − advantage(a))²         over legal actions
    policy    loss = mean over samples of  w · Σ_a (softmax(o)(a) − strategy(a))²    over legal actions

with w = t · 2/T for a sample of iteration t (linear CFR). A step clips its gradient and applies Adam (Kingma & Ba,
2015):

    g ← g · min(1, clip / |g|)
    m ← β₁ m + (1 − β₁) g,    v ← β₂ v + (1 − β₂) g²
    θ ← θ − η √(1 − β₂ᵗ) / (1 − β₁ᵗ) · m / (√v + ε)

Two things differ from the paper, and neither changes what is fitted:

- Targets of a value network are divided by their root mean square, and the head is multiplied by it at the end. Regret
  matching does not depend on the scale, but Adam's steps and the clipping do, and the chips of a game have any scale.
- If observations are numbered and there are no more of them than samples in a batch, each step takes the gradient of
  the whole memory, which only depends on the sums per observation (`Memory.merged`), and the fit ends early once its
  loss, now without noise, is below `SMALL_LOSS`. `merge_equal=False` draws batches everywhere, as the paper does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from regretless.deep.memories import Memory, ReservoirBatch
from regretless.deep.networks import Network, legal_softmax
from regretless.deep.settings import Precision, TrainingSettings

__all__ = ["STEPS_DRAWN", "Adam", "Fitting", "Replayed", "matrix_precision"]

STEPS_DRAWN = 64  # steps whose batches are drawn at once
SMALL_LOSS = 1e-5  # squared error, of targets with a mean square of about 1, below which more steps gain nothing
LOSS_EVERY = 10  # steps between reading the loss, which waits for the device

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
        settings = self.settings
        adam = Adam(
            network,
            steps=steps,
            learning_rate=settings.learning_rate,
            clip=settings.gradient_clip,
            decay=settings.decay,
        )
        whole: _Task | None = None
        if self._merged is not None:
            whole = _Task(memory.merged(self._merged, iteration=iteration, weighting=settings.weighting), scale)
        rows = torch.zeros(settings.batch, dtype=torch.int64, device=memory.storage)

        def step() -> Tensor:
            task = whole or _Task(memory.read(rows, iteration=iteration, weighting=settings.weighting), scale)
            loss = (error(network(task.observations), task.target, task.legal) * task.weights).mean()
            adam.step(loss)
            return loss.detach()

        recorded = Replayed(step, memory.storage)  # only work on a single device can be recorded
        random = torch.Generator(memory.storage).manual_seed(seed)
        loss = torch.zeros(())
        with matrix_precision(settings.precision, memory.device):
            for number in range(steps):
                if whole is None:
                    if number % STEPS_DRAWN == 0:
                        drawn = memory.draw(STEPS_DRAWN * settings.batch, random).view(STEPS_DRAWN, -1)
                    rows.copy_(drawn[number % STEPS_DRAWN])
                elif number % LOSS_EVERY == 0 and number > 0 and float(loss) < SMALL_LOSS:
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
        with torch.autocast("cuda", dtype=torch.bfloat16, cache_enabled=False):  # so that casts are recorded too
            yield
    else:
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("high")
        try:
            yield
        finally:
            torch.set_float32_matmul_precision(before)


# A step on a small network is a few dozen operations on small matrices, so what surrounds them matters: parameters and
# gradients are views of one vector each, which makes clipping and Adam eight operations however many layers there are,
# and `Replayed` records a step on a CUDA device once and replays it.

FIRST_DECAY, SECOND_DECAY, EPSILON = 0.9, 0.999, 1e-8  # β₁, β₂, ε
WARM_UP = 3  # calls before one is recorded


class Adam:
    """The optimiser of a network for a known number of steps; with `decay`, η falls to 0 over the second half."""

    def __init__(
        self, network: nn.Module, *, steps: int, learning_rate: float, clip: float, decay: bool = False
    ) -> None:
        self._parameters = list(network.parameters())
        self._clip = clip
        with torch.no_grad():
            self._values = torch.cat([parameter.reshape(-1) for parameter in self._parameters])
        self._gradient, self._first, self._second = (torch.zeros_like(self._values) for _ in range(3))
        start = 0
        for parameter in self._parameters:
            own = slice(start, start + parameter.numel())
            parameter.data = self._values[own].view_as(parameter)
            parameter.grad = self._gradient[own].view_as(parameter)
            start = own.stop
        rates = [
            learning_rate
            * (min(1.0, 2.0 - 2.0 * (step - 1) / steps) if decay else 1.0)
            * math.sqrt(1.0 - SECOND_DECAY**step)
            / (1.0 - FIRST_DECAY**step)
            for step in range(1, steps + 1)
        ]
        self._rates = torch.tensor(rates, dtype=torch.float32, device=self._values.device)
        # The rate of the current step, at an address that `Replayed` can record.
        self._rate = torch.zeros((), device=self._values.device)

    def set_step(self, step: int) -> None:
        """Which step comes next, from 0."""
        self._rate.copy_(self._rates[step])

    @torch.no_grad()
    def step(self, loss: Tensor) -> None:
        """Move the parameters against the gradient of the loss."""
        gradient = self._gradient.zero_()
        with torch.enable_grad():
            torch.autograd.backward(loss)
        gradient.mul_(self._clip / gradient.norm().clamp_(min=self._clip))
        self._first.lerp_(gradient, 1.0 - FIRST_DECAY)
        self._second.mul_(SECOND_DECAY).addcmul_(gradient, gradient, value=1.0 - SECOND_DECAY)
        self._values.sub_(self._first.div(self._second.sqrt().add_(EPSILON)).mul_(self._rate))

    def close(self) -> None:
        """Drop the gradients."""
        for parameter in self._parameters:
            parameter.grad = None


class Replayed:
    """A computation without arguments, which on a CUDA device is recorded after a few calls and then replayed."""

    def __init__(self, work: Callable[[], Tensor], device: torch.device) -> None:
        self._work = work
        self._warm_up = WARM_UP if device.type == "cuda" else -1
        self._graph: torch.cuda.CUDAGraph | None = None
        self._result = torch.zeros(())

    def __call__(self) -> Tensor:
        if self._warm_up < 0:
            return self._work()
        if self._warm_up > 0:  # on a stream of its own, as recording requires
            self._warm_up -= 1
            current, recording = torch.cuda.current_stream(), torch.cuda.Stream()  # type: ignore[no-untyped-call]
            recording.wait_stream(current)
            with torch.cuda.stream(recording):
                result = self._work()
            current.wait_stream(recording)
            return result
        if self._graph is None:
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._result = self._work()
        self._graph.replay()
        return self._result
