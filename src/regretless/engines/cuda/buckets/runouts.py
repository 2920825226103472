"""A batch of runouts as the kernels read it: buckets of hands, hands by bucket, and the steps of showdowns.

`kernels/terminals.cu` says what the steps are. The host makes them and the lists while the device works on the
previous batch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike, NDArray

from regretless.compiling import inlined, kernel
from regretless.engines.cuda.buckets.plan import LOSE, SAME, TIE, WIN, WIN_AT_ONCE
from regretless.engines.cuda.device import Buffer
from regretless.forms.bucketed import BucketedForm, Runouts

__all__ = ["MAX_HANDS", "BatchLayout", "arrange", "max_steps"]

HAND_BITS = 13  # of a step
MAX_HANDS = 1 << HAND_BITS
ALIGNED = 16  # bytes: every array begins at a multiple

Int32 = NDArray[np.int32]


class BatchLayout:
    """Where the arrays of a batch are in its bytes, by name: the buckets of player p on street s are "bucket.p.s".

    weight.s       [R]         multiplies reach where the street begins
    bucket.p.s     [R · H]     -1 where a hand is dead
    members.p.s    [R · H]     live (runout, hand) by bucket, those of a bucket in order
    first.p.s      [K + 1]     the members of bucket k are first[k] : first[k + 1]
    steps.p        [B · max]  of showdowns, where p is the own player: kind above 13 bits of hand
    step_count.p   [B]
    """

    def __init__(self, form: BucketedForm) -> None:
        self.form = form
        self._slices: dict[str, tuple[int, int, np.dtype[np.generic]]] = {}  # begin and end in bytes, type
        self.nbytes = 0
        for name, (count, kind) in _sizes(form).items():
            end = self.nbytes + count * np.dtype(kind).itemsize
            self._slices[name] = self.nbytes, end, np.dtype(kind)
            self.nbytes = -(-end // ALIGNED) * ALIGNED

    def arrays(self, whole: Buffer) -> dict[str, Buffer]:
        """The arrays in the bytes of a batch, on the host or on a device."""
        return {name: whole[begin:end].view(kind) for name, (begin, end, kind) in self._slices.items()}


def _sizes(form: BucketedForm) -> dict[str, tuple[int, DTypeLike]]:
    """Lengths and types of the arrays."""
    streets, count = range(len(form.buckets[0])), form.runouts.count
    sizes: dict[str, tuple[int, DTypeLike]] = {
        f"weight.{street}": (count if street else 1, np.float32) for street in streets
    }
    for player in range(2):
        for street in streets:
            rows = (count if street else 1) * len(form.hands[player].weight)
            sizes[f"bucket.{player}.{street}"] = sizes[f"members.{player}.{street}"] = rows, np.int32
            sizes[f"first.{player}.{street}"] = form.buckets[player][street] + 1, np.int32
        sizes[f"steps.{player}"] = _last_runouts(form) * max_steps(form, player), np.uint16
        sizes[f"step_count.{player}"] = _last_runouts(form), np.int32
    return sizes


def max_steps(form: BucketedForm, own: int) -> int:
    """Maximum number of steps of a showdown: every own hand once, every hand of the opponent up to three times."""
    return len(form.hands[own].weight) + 3 * len(form.hands[1 - own].weight)


def _last_runouts(form: BucketedForm) -> int:
    return form.runouts.count if len(form.buckets[0]) > 1 else 1


def arrange(layout: BatchLayout, runouts: Runouts) -> NDArray[np.uint8]:
    """The bytes of a batch."""
    whole, form = np.zeros(layout.nbytes, dtype=np.uint8), layout.form
    arrays = layout.arrays(whole)
    for street in range(len(form.buckets[0])):
        weight = arrays[f"weight.{street}"]
        weight[:] = runouts.weight[street, : len(weight)]
        for player in range(2):
            bucket = arrays[f"bucket.{player}.{street}"]
            bucket[:] = runouts.bucket[player][street].ravel()
            _by_bucket(bucket, arrays[f"members.{player}.{street}"], arrays[f"first.{player}.{street}"])
    last = _last_runouts(form)
    one, two = runouts.strength
    distinct = (one,) if one is two else (one, two)
    orders = [_order(np.ascontiguousarray(each[:last], dtype=np.int32)) for each in distinct]
    for own in range(2):
        steps = arrays[f"steps.{own}"].reshape(last, -1)
        _steps(orders[own % len(orders)], orders[(1 - own) % len(orders)], steps, arrays[f"step_count.{own}"])
    return whole


@kernel
def _by_bucket(bucket: Int32, members: Int32, first: Int32) -> None:
    """Live rows in order of their buckets."""
    first[:] = 0
    for row in range(len(bucket)):
        if bucket[row] >= 0:
            first[bucket[row] + 1] += 1
    for number in range(1, len(first)):
        first[number] += first[number - 1]
    filled = first.copy()
    for row in range(len(bucket)):
        if bucket[row] >= 0:
            members[filled[bucket[row]]] = row
            filled[bucket[row]] += 1


@kernel
def _order(strength: Int32) -> NDArray[np.int64]:
    """[R, H] keys of strength and hand, sorted, weakest first; those of dead hands are -1."""
    keys = np.empty(strength.shape, dtype=np.int64)
    for runout in range(len(strength)):
        for hand in range(strength.shape[1]):
            key = (np.int64(strength[runout, hand]) << HAND_BITS) + hand
            keys[runout, hand] = key if strength[runout, hand] >= 0 else -1
        keys[runout].sort()
    return keys


@kernel
def _steps(
    own_order: NDArray[np.int64], other_order: NDArray[np.int64], steps: NDArray[np.uint16], counts: Int32
) -> None:
    """The steps of showdowns on every runout, from the orders of both players' hands."""
    for runout in range(len(own_order)):
        own, other, row_steps = own_order[runout], other_order[runout], steps[runout]
        count, start, passed = 0, np.searchsorted(own, 0), np.searchsorted(other, 0)
        for index in range(passed, len(other)):
            count = _add(row_steps, count, other[index], LOSE)
        while start < len(own):
            strength, tied = own[start] >> HAND_BITS, passed
            while tied < len(other) and other[tied] >> HAND_BITS < strength:
                count = _add(row_steps, count, other[tied], WIN_AT_ONCE)
                tied += 1
            passed = tied
            while passed < len(other) and other[passed] >> HAND_BITS == strength:
                count = _add(row_steps, count, other[passed], TIE)
                passed += 1
            while start < len(own) and own[start] >> HAND_BITS == strength:
                count = _add(row_steps, count, own[start], SAME)
                start += 1
            for index in range(tied, passed):
                count = _add(row_steps, count, other[index], WIN)
        counts[runout] = count


@inlined
def _add(steps: NDArray[np.uint16], count: int, key: int, kind: int) -> int:
    steps[count] = kind << HAND_BITS | key & (MAX_HANDS - 1)
    return count + 1
