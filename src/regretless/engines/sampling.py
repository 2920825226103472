"""What all sampling engines share: the game packed for random walks, and random numbers.

**The game** has one row of four numbers per node, and chance is sampled in constant time. A walk visits nodes in an
unpredictable order, so what it needs of a node is in one row of 16 bytes. Chance is sampled from alias tables (Walker,
1977; Vose, 1991): pick one of k outcomes uniformly and keep it with the probability in `accept`, otherwise replace it
by the one in `alias`. Equal probabilities, as in most card games, need no alias.

**Random numbers** are a function of a seed and a count: SplitMix64 (Steele, Lea & Flood, 2014).

    draw n = mix(key + n · γ),    key = mix((seed + 1) · γ),    γ = 2^64 / golden ratio

The count alone is enough to resume exactly where a run stopped, and compiled code and array libraries produce the same
numbers on any device.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.compiling import kernel
from regretless.forms.history import TERMINAL, FloatArray, HistoryForm, IntArray
from regretless.games.game import CHANCE

__all__ = ["SamplingTree", "Words", "key_of", "mix", "sampling_tree", "uniform"]

Words = NDArray[np.uint64]

GAMMA = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR, SECOND_FACTOR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)  # of the mixing function
SHIFT_30, SHIFT_27, SHIFT_31 = np.uint64(30), np.uint64(27), np.uint64(31)
SHIFT_TO_53_BITS, UNIT = np.uint64(11), 2.0**-53  # a float64 has 53 significant bits


@kernel
def mix(z: np.uint64) -> np.uint64:
    """A bijection of 64 bits that destroys patterns."""
    z = (z ^ (z >> SHIFT_30)) * FIRST_FACTOR
    z = (z ^ (z >> SHIFT_27)) * SECOND_FACTOR
    return z ^ (z >> SHIFT_31)


@kernel
def uniform(random: Words) -> float:
    """The next number in [0, 1); `random` holds key and count, and the count is increased."""
    random[1] += np.uint64(1)
    return np.float64(mix(random[0] + random[1] * GAMMA) >> SHIFT_TO_53_BITS) * UNIT


def key_of(seed: int) -> int:
    """The key of a seed, far from that of the next seed."""
    return int(mix(np.uint64((seed + 1) * int(GAMMA) % 2**64)))


class SamplingTree(NamedTuple):
    """The arrays of a random walk, as a named tuple, which kernels accept. N nodes, T terminals, P players."""

    node: NDArray[np.int32]  # [N, 4]  who moves, first child, number of children, and index: see `sampling_tree`
    payoff: FloatArray  # [T, P]
    accept: FloatArray  # [N]  probability that the outcome leading to this node is kept once it is picked
    alias: IntArray  # [N]     the child that replaces it otherwise


def sampling_tree(form: HistoryForm) -> SamplingTree:
    """Pack a form. A node's index is its first pair where a player moves, its row of `payoff` at a terminal."""
    player = np.asarray(form.player, np.int32)
    node = np.zeros((len(player), 4), np.int32)
    node[:, 0] = player
    node[:, 1] = form.first_child[:-1]
    node[:, 2] = np.diff(form.first_child)
    moves = player >= 0
    node[moves, 3] = form.first_pair[form.information_set[moves]]
    node[player == TERMINAL, 3] = np.arange(len(form.terminal))
    accept = np.ones(len(player))
    alias = np.arange(len(player), dtype=np.int32)
    _fill_alias_tables(np.flatnonzero(player == CHANCE), np.asarray(form.first_child), form.chance, accept, alias)
    return SamplingTree(node, np.ascontiguousarray(form.payoff), accept, alias)


@kernel
def _fill_alias_tables(
    nodes: IntArray, first_child: IntArray, chance: FloatArray, accept: FloatArray, alias: IntArray
) -> None:
    """Vose's construction at every chance node: outcomes below the mean are topped up from one above it."""
    for index in range(len(nodes)):
        first = first_child[nodes[index]]
        last = first_child[nodes[index] + 1]
        count = last - first
        total = chance[first:last].sum()
        scaled = chance[first:last] * (count / total)
        small = np.empty(count, np.int64)
        large = np.empty(count, np.int64)
        smalls = larges = 0
        for outcome in range(count):
            if scaled[outcome] < 1.0 - 1e-12:
                small[smalls] = outcome
                smalls += 1
            elif scaled[outcome] > 1.0 + 1e-12:
                large[larges] = outcome
                larges += 1
        while smalls > 0 and larges > 0:
            smalls -= 1
            below = small[smalls]
            above = large[larges - 1]
            accept[first + below] = scaled[below]
            alias[first + below] = first + above
            scaled[above] -= 1.0 - scaled[below]
            if scaled[above] < 1.0:
                larges -= 1
                small[smalls] = above
                smalls += 1
