"""Random numbers that are a function of a seed and a count: SplitMix64 (Steele, Lea & Flood, 2014).

    draw n = mix(key + n · γ),    key = mix(seed),    γ = 2^64 / golden ratio

The count alone is enough to resume exactly where a run stopped, and compiled code and array libraries produce the same
numbers on any device.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regretless.compiling import kernel

__all__ = ["Words", "key_of", "mixed", "uniform"]

Words = NDArray[np.uint64]

GAMMA = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
S30, S27, S31, S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
UNIT = 2.0**-53


@kernel
def mixed(z: np.uint64) -> np.uint64:
    """A bijection of 64 bits that destroys patterns."""
    z = (z ^ (z >> S30)) * FIRST
    z = (z ^ (z >> S27)) * SECOND
    return z ^ (z >> S31)


@kernel
def uniform(random: Words) -> float:
    """The next number in [0, 1); `random` holds key and count, and the count is increased."""
    random[1] += np.uint64(1)
    return np.float64(mixed(random[0] + random[1] * GAMMA) >> S11) * UNIT


def key_of(seed: int) -> int:
    """The key of a seed, far from that of the next seed."""
    return int(mixed(np.uint64((seed + 1) * int(GAMMA) % 2**64)))
