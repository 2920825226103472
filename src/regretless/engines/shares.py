"""Strategies as files store them, with the same relative precision for rare actions as for frequent ones.

The reach of a rarely taken line is a product of small probabilities, so a small probability needs as many correct
digits as a large one. With p_1 … p_n the probabilities of a hand's actions, a file stores n − 1 shares

    s_a = p_a / (p_a + … + p_n)        p_a = s_a · (1 − s_1) · … · (1 − s_{a−1}),        p_n: the rest

each as m = min(s, 1 − s) and one bit that says which of the two m is:

    32 bits    m as a float32, relative error 6e-8; the sign is the bit
    16 bits    32767 · (2m)^¼ rounded to an integer, and the bit: the absolute error is at most 3e-5, the relative error
               0.2 % at m = 1e-6 and 1 % at m = 1e-9

Both represent 0 and 1 exactly. A share that rounds to ½ never has the bit, so it has only one encoding.
`encode_shares` is the plain version of what `encoding.py` does for an engine's averages.
"""

from __future__ import annotations

import numpy as np

from regretless.forms.history import AnyArray, FloatArray

__all__ = ["SIDE", "STEPS", "decode_shares", "encode_shares"]

STEPS = 32767
SIDE = 1 << 15


def encode_shares(strategy: AnyArray, bits: int) -> AnyArray:
    """[…, actions − 1, H] the encoding of probabilities [..., actions, H].

    >>> encoded = encode_shares(np.array([[1e-6, 0.25], [0.0, 0.25], [1 - 1e-6, 0.5]]), 16)
    >>> encoded.shape, bool(np.abs(decode_shares(encoded)[0] / [1e-6, 0.25] - 1).max() < 0.002)
    ((2, 2), True)
    """
    left = np.flip(np.cumsum(np.flip(strategy, axis=-2), axis=-2), axis=-2)  # p_a + … + p_n
    chosen, others, total = strategy[..., :-1, :], left[..., 1:, :], left[..., :-1, :]
    smaller = np.divide(np.minimum(chosen, others), total, out=np.zeros_like(total), where=total > 0)
    mostly = chosen > others
    if bits == 32:
        encoded = smaller.astype(np.float32)
        return np.asarray(np.where(mostly & (encoded < 0.5), -encoded, encoded))
    steps = np.rint(STEPS * np.sqrt(np.sqrt(2.0 * smaller))).astype(np.uint16)
    return np.asarray(np.where(mostly & (steps < STEPS), steps | np.uint16(SIDE), steps))


def decode_shares(encoded: AnyArray) -> FloatArray:
    """[actions, H] probabilities from their encoding, in either number of bits."""
    if encoded.dtype == np.float32:
        mostly, smaller = np.signbit(encoded), np.abs(encoded).astype(np.float64)
    else:
        mostly, smaller = encoded >= SIDE, 0.5 * ((encoded & (SIDE - 1)) / STEPS) ** 4
    shares = np.where(mostly, 1.0 - smaller, smaller)
    rests = np.where(mostly, smaller, 1.0 - smaller)
    strategy = np.ones((len(encoded) + 1, encoded.shape[1]))
    np.cumprod(rests, axis=0, out=strategy[1:])  # the probability left for each action and later ones
    strategy[:-1] *= shares
    return strategy
