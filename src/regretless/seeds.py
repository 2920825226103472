"""Seeds of everything that is drawn at random."""

from __future__ import annotations

from regretless.errors import InvalidOption

__all__ = ["check_seed"]

EXACT = 53  # bits of a whole number that a float64 holds exactly


def check_seed(seed: int, *, bits: int = EXACT) -> int:
    """The seed, if it has at most so many bits.

    >>> check_seed(7, bits=32)
    7
    >>> check_seed(-1, bits=32)
    Traceback (most recent call last):
    regretless.errors.InvalidOption: seed: -1 must be from 0 to 4294967295
    """
    if not 0 <= seed < 2**bits:
        raise InvalidOption("seed", seed, f"must be from 0 to {2**bits - 1}")
    return seed
