"""Fitting a network to a memory, by Adam on batches of samples.

    value     loss = mean over samples of  w · Σ_a (V(o, a) − advantage(a))²      over legal actions
    policy    loss = mean over samples of  w · Σ_a (softmax(o)(a) − strategy(a))²    over legal actions

with w = t · 2/T for a sample of iteration t (linear CFR), and gradients clipped to norm 1.

Two things differ from the paper, and neither changes what is fitted:

- Targets of a value network are divided by their root mean square, and the head is multiplied by it at the end. Regret
  matching does not depend on the scale, but Adam's steps and the clipping do, and chips may be any number.
- If observations are numbered and there are no more of them than samples in a batch, each step takes the gradient of
  the whole memory, which only depends on the sums per observation (`Memory.merged`). `merge_equal=False` draws batches
  everywhere, as the paper does.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from regretless.deep.memories import Batch, Memory
from regretless.deep.networks.network import Network, legal_softmax
from regretless.deep.settings import TrainingSettings

__all__ = ["fit_policy", "fit_values"]

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]  # output, target (0 where not legal), legal -> [n]


def fit_values(
    network: Network,
    memory: Memory,
    settings: TrainingSettings,
    *,
    iteration: int,
    distinct: int | None,
    generator: torch.Generator,
) -> float:
    """Fit advantages; returns the mean squared error of the last steps, in the game's units."""
    scale = memory.root_mean_square() or 1.0
    if not settings.from_scratch:
        _scale_head(network, 1.0 / scale)
    loss = _fit(network, memory, settings, _squared_error, settings.value_steps, scale, iteration, distinct, generator)
    _scale_head(network, scale)
    return loss * scale**2


def fit_policy(
    network: Network,
    memory: Memory,
    settings: TrainingSettings,
    *,
    iteration: int,
    distinct: int | None,
    generator: torch.Generator,
) -> float:
    """Fit probabilities; returns the mean squared error of the last steps."""
    return _fit(network, memory, settings, _policy_error, settings.policy_steps, 1.0, iteration, distinct, generator)


def _squared_error(output: Tensor, target: Tensor, legal: Tensor) -> Tensor:
    return ((output - target).square() * legal).sum(dim=1)


def _policy_error(output: Tensor, target: Tensor, legal: Tensor) -> Tensor:
    return (legal_softmax(output, legal) - target).square().sum(dim=1)


def _fit(
    network: Network,
    memory: Memory,
    settings: TrainingSettings,
    loss_of: Loss,
    steps: int,
    scale: float,
    iteration: int,
    distinct: int | None,
    generator: torch.Generator,
) -> float:
    whole: Batch | None = None
    if settings.merge_equal and distinct is not None and distinct <= settings.batch:
        whole = memory.merged(distinct, iteration=iteration, weighting=settings.weighting)
    optimiser = torch.optim.Adam(network.parameters(), lr=settings.learning_rate)
    last = torch.zeros((), device=memory.device)
    for _ in range(steps):
        batch = whole or memory.sample(settings.batch, generator, iteration=iteration, weighting=settings.weighting)
        legal = ~batch.targets.isnan()
        target = batch.targets.nan_to_num() / scale
        loss = (loss_of(network(batch.observations), target, legal) * batch.weights).mean()
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(network.parameters(), settings.gradient_clip)
        optimiser.step()
        last = loss.detach()
    return float(last)


def _scale_head(network: Network, factor: float) -> None:
    with torch.no_grad():
        network.head.weight.mul_(factor)
        network.head.bias.mul_(factor)
