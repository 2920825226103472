"""Adam with clipped gradients (Kingma & Ba, 2015) for all parameters of a network at once.

A step on a small network is a few dozen operations on small matrices, so what surrounds them matters: parameters and
gradients are views of one vector each, which makes clipping and Adam eight operations however many layers there are,
and `Replayed` records a step on a CUDA device once and replays it.

    g ← g · min(1, clip / |g|)
    m ← β₁ m + (1 − β₁) g,    v ← β₂ v + (1 − β₂) g²
    θ ← θ − η √(1 − β₂ᵗ) / (1 − β₁ᵗ) · m / (√v + ε)
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

__all__ = ["Adam", "Replayed"]

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
        self._rate = torch.zeros((), device=self._values.device)  # of the current step; `Replayed` needs a fixed place

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
            here, aside = torch.cuda.current_stream(), torch.cuda.Stream()  # type: ignore[no-untyped-call]
            aside.wait_stream(here)
            with torch.cuda.stream(aside):
                result = self._work()
            here.wait_stream(aside)
            return result
        if self._graph is None:
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._result = self._work()
        self._graph.replay()
        return self._result
