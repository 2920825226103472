"""Independent random streams: what one part of a training draws never depends on how much another part drew.

Each stream is seeded from (seed, iteration, player, purpose), so a training can be resumed at any iteration, and
fitting a policy along the way does not change what follows.
"""

from __future__ import annotations

from enum import IntEnum

import torch

__all__ = ["Purpose", "generator", "stream_seed"]

_MASK = 2**64 - 1


class Purpose(IntEnum):
    """What the random numbers of a stream are for."""

    TRAVERSAL = 0
    ADVANTAGE_MEMORY = 1  # which samples a memory keeps
    STRATEGY_MEMORY = 2
    PARAMETERS = 3  # a network's first parameters
    BATCHES = 4


def stream_seed(seed: int, iteration: int, player: int, purpose: Purpose) -> int:
    """63 bits that mix the four numbers (the finaliser of SplitMix64, once per number)."""
    state = 0
    for number in (seed, iteration, player, int(purpose)):
        state = (state + number + 0x9E3779B97F4A7C15) & _MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        state ^= state >> 31
    return state >> 1


def generator(device: torch.device, seed: int) -> torch.Generator:
    """A generator on a device, at the beginning of a stream."""
    made = torch.Generator(device)
    made.manual_seed(seed)
    return made
