"""Lists of texts as arrays: all bytes concatenated, and where each text ends."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["pack_texts", "unpack_texts"]


def pack_texts(texts: Iterable[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Letters [UTF-8 bytes] and ends [texts].

    >>> letters, ends = pack_texts(["Ks:", "", "é"])
    >>> ends.tolist(), unpack_texts(letters, ends)
    ([3, 3, 5], ['Ks:', '', 'é'])
    """
    encoded = [text.encode() for text in texts]
    letters = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    return letters, np.cumsum([len(text) for text in encoded], dtype=np.int64)


def unpack_texts(letters: NDArray[np.uint8], ends: NDArray[np.int64]) -> list[str]:
    """The inverse of `pack_texts`; raises ValueError if the arrays do not match."""
    if letters.dtype != np.uint8 or letters.ndim != 1 or ends.dtype != np.int64 or ends.ndim != 1:
        raise ValueError("texts must be bytes and the ends of texts")
    places = [0, *ends.tolist()]
    if places[-1] != len(letters) or any(start > end for start, end in pairwise(places)):
        raise ValueError("ends must rise to the number of letters")
    joined = letters.tobytes()
    return [joined[start:end].decode() for start, end in pairwise(places)]
