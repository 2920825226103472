"""Batches of canonical boards, and where the rows of their situations are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regretless.cards.isomorphism import canonical_boards
from regretless.cards.situations import first_situations, hand_situations

__all__ = ["SituationBatch", "batch"]


@dataclass(frozen=True)
class SituationBatch:
    """Some canonical boards of one size. Their situations are numbered from 0, in the order of the boards."""

    boards: NDArray[np.uint8]  # [boards, size]
    multiplicity: NDArray[np.int64]  # [boards]  how many boards each stands for
    starts: NDArray[np.int64]  # [boards + 1]  first situation of each board
    local: NDArray[np.int32]  # [boards, 1326]  situation of each hand, of isomorphic hands only the first; −1: none
    hands: NDArray[np.int32]  # [situations]  how many hands of the board each situation stands for

    @property
    def situations(self) -> int:
        return int(self.starts[-1])


def batch(size: int, rows: NDArray[np.int64]) -> SituationBatch:
    """The boards in these rows of `canonical_boards(size)`."""
    from regretless.cards.features._kernels import number_situations

    canonical = canonical_boards(size)
    boards = np.ascontiguousarray(canonical.cards[rows])
    first, after = (first_situations(size)[places].astype(np.int64) for places in (rows, rows + 1))
    starts = np.concatenate([[0], np.cumsum(after - first)])
    indices = hand_situations(boards)
    local, hands = np.empty(indices.shape, dtype=np.int32), np.zeros(starts[-1], dtype=np.int32)
    number_situations(indices, first, starts, local, hands)
    return SituationBatch(boards, canonical.multiplicity[rows], starts, local, hands)
