"""How much memory the compiled engine takes."""

from __future__ import annotations

__all__ = ["CHUNK_BYTES", "MOST_BLOCKS"]

CHUNK_BYTES = 320 * 1024  # rows of one chunk; with what it learns it should fit the second cache of a core
MOST_BLOCKS = 64  # enough to share among threads; each holds the values of the lines into the second street
