"""Strategies on their way into a file: how wide, in what order, and encoded by several threads.

A file has one array per street, with a row for each runout: node by node, all actions but the last, for every hand
(`engines.shares` has the encoding). It is written in blocks of a few runouts:

1. The calling thread fetches the sums of strategies of a block, which copies them if they are on a device.
2. Any thread encodes them.
3. The container writes the blocks in order, while later ones are fetched and encoded.

At most `blocks_at_once` blocks are in memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from regretless.engines import encode_shares
from regretless.files.container import Streamed
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import NodeKind, PublicForm
from regretless.forms.walking import children

__all__ = [
    "BLOCK_BYTES", "MAX_IN_32_BITS", "EncodedStrategies", "blocks_at_once", "encode_rows", "layout",
    "probability_bits", "streamed",
]  # fmt: skip

BLOCK_BYTES = 4 * 2**20  # of encoded strategies; their sums take three to seven times as much
MAX_IN_32_BITS = 1 << 25  # numbers per file, 134 MB; larger files use 16 bits


class EncodedStrategies(Protocol):
    """A source of strategies for files."""

    @property
    def threads(self) -> int:
        """Threads that may encode at once."""

    def encoder(self, street: int, runouts: slice, rows: NDArray[np.generic]) -> Callable[[], None]:
        """Fetch what is needed, and return the work that fills `rows` with the strategies of these runouts."""


def encode_rows(
    form: PublicForm,
    strategy: Callable[[int, int], FloatArray],
    street: int,
    runouts: slice,
    rows: NDArray[np.generic],
) -> None:
    """Fill `rows` with the strategies of some runouts of a street, read one by one: `strategy(node, runout)`."""
    tree, (begin, _) = form.tree, layout(form)
    nodes = np.flatnonzero((tree.kind == NodeKind.DECISION) & (tree.street == street)).tolist()
    for row, runout in zip(rows, range(runouts.start, runouts.stop), strict=True):
        for node in nodes:
            shares = encode_shares(strategy(node, runout), 8 * rows.itemsize).ravel()
            row[begin[node] : begin[node] + len(shares)] = shares


def probability_bits(count: int) -> int:
    """Bits per number in a file with `count` numbers."""
    return 32 if count <= MAX_IN_32_BITS else 16


def blocks_at_once(threads: int) -> int:
    """Blocks in memory at a time: each thread's, the one that is being written and, with several, one to be next."""
    return threads + 2 if threads > 1 else 2


def layout(form: PublicForm) -> tuple[IntArray, list[tuple[int, int]]]:
    """[N] where a decision begins in the rows of its street; for each street, its runouts and the numbers per row."""
    tree = form.tree
    begin = np.zeros(len(tree.kind), dtype=np.int64)
    sizes = [0] * len(form.streets)
    for node in np.flatnonzero(tree.kind == NodeKind.DECISION).tolist():
        street, actions = int(tree.street[node]), len(children(tree, node))
        begin[node] = sizes[street]
        sizes[street] += (actions - 1) * len(form.hands[int(tree.player[node])].weight)
    return begin, [(len(street.parent), size) for street, size in zip(form.streets, sizes, strict=True)]


def streamed(source: EncodedStrategies, street: int, shape: tuple[int, int], bits: int) -> Streamed:
    """The encoded strategies of a street, `shape` being its runouts and the numbers per row."""
    dtype = np.dtype(np.float32 if bits == 32 else np.uint16)
    runouts, size = shape
    step = max(1, BLOCK_BYTES // max(size * dtype.itemsize, 1))

    def fetched() -> Iterator[tuple[NDArray[np.generic], Callable[[], None]]]:
        for first in range(0, runouts, step):
            chosen = slice(first, min(first + step, runouts))
            rows = np.empty((chosen.stop - first, size), dtype=dtype)
            yield rows, source.encoder(street, chosen, rows)

    def blocks() -> Iterator[NDArray[np.generic]]:
        threads = min(source.threads, -(-runouts // step))
        if threads <= 1:
            for rows, encode in fetched():
                encode()
                yield rows
            return
        waiting: deque[tuple[NDArray[np.generic], Future[None]]] = deque()
        with ThreadPoolExecutor(threads) as pool:
            for rows, encode in fetched():
                waiting.append((rows, pool.submit(encode)))
                if len(waiting) == blocks_at_once(threads) - 1:
                    yield _done(waiting)
            while waiting:
                yield _done(waiting)

    return Streamed(shape, dtype, blocks)


def _done(waiting: deque[tuple[NDArray[np.generic], Future[None]]]) -> NDArray[np.generic]:
    """The next block, once it is encoded."""
    rows, encoding = waiting.popleft()
    encoding.result()
    return rows
