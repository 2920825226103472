"""A player's regrets, averages or predictions as tensors, in rows of entries; snapshots have them in their own order.

16-bit numbers are rounded with the same random numbers as in the compiled engine (`lane_formats.py`), so that the
numbers of two engines differ only where their 32-bit arithmetic does. PyTorch has next to no operations on unsigned
16-bit integers, so a tensor holds the same bits as signed ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from regretless.engines.public.formats import GOLDEN, Stored
from regretless.engines.public.layout import LANES, Layout
from regretless.engines.public.portable.plan import Batch, Group, Int64, Plan

__all__ = ["Chances", "Numbers", "as_floats", "by_decision", "store"]

TYPES = {np.dtype(np.float32): torch.float32, np.dtype(np.float16): torch.float16, np.dtype(np.uint16): torch.int16}
MULTIPLIERS = 0x7F4A7C15, 0x85EBCA6B - 2**32  # of the hash, as signed 32-bit integers
MISSING_BITS = 13  # of a 32-bit float, in a half
LARGEST_HALF = 65504.0
ONE = 0x3F800000  # the bits of 1.0


class Numbers:
    """One number per entry and hand: [runouts, entries, hands] on each street, hands padded to sixteens."""

    def __init__(self, layout: Layout, plan: Plan, player: int, dtype: np.dtype[Any], device: torch.device) -> None:
        self.layout, self.plan, self.player, self.dtype = layout, plan, player, dtype
        self.hands = int(layout.hands[player])
        self.streets = [
            torch.zeros((int(runouts), street.entries[player], self.hands), dtype=TYPES[dtype], device=device)
            for runouts, street in zip(layout.runouts, plan.streets, strict=True)
        ]
        self._stored = [torch.from_numpy(street.stored[player]).to(device) for street in plan.streets]

    @property
    def nbytes(self) -> int:
        """Bytes of the numbers."""
        return sum(rows.nbytes for rows in self.streets)

    def read(self, node: int, runouts: slice) -> Stored:
        """[runouts, actions, H] a copy of a decision's numbers."""
        found = self._rows(node)[runouts].to("cpu", copy=True).numpy().view(self.dtype)
        return found[:, :, : len(self.layout.form.hands[self.player].weight)]

    def write(self, node: int, runout: int, values: NDArray[np.floating[Any]], hands: NDArray[np.bool_]) -> None:
        """Store [actions, H] at a decision, for some hands."""
        chosen = np.flatnonzero(hands)
        rows = self._rows(node)[runout]
        rows[:, torch.from_numpy(chosen).to(rows.device)] = self.as_held(values[:, chosen]).to(rows.device)

    def as_held(self, values: NDArray[Any]) -> torch.Tensor:
        """Numbers as the tensors hold them, on the host."""
        bits = np.int16 if self.dtype == np.uint16 else self.dtype
        return torch.from_numpy(values.astype(self.dtype, copy=False).view(bits))

    def positions(self, node: int, runout: int, hands: NDArray[np.bool_]) -> Int64:
        """[actions, hands chosen] where a decision's numbers are in the flattened tensor of its street."""
        street = int(self.layout.form.tree.street[node])
        first = runout * self.plan.streets[street].entries[self.player] + int(self.plan.first_entry[node])
        return np.asarray((first + np.arange(self._actions(node)))[:, None] * self.hands + np.flatnonzero(hands))

    def stored(self) -> Stored:
        """All numbers in the layout of snapshots."""
        return np.concatenate([self.street(number).ravel() for number in range(len(self.streets))])

    def street(self, number: int, runouts: slice = slice(None)) -> Stored:
        """[runouts chosen, numbers] a copy of the numbers of a street in the layout of snapshots."""
        rows = self.streets[number][runouts]
        sixteens = rows.view(len(rows), -1, LANES).index_select(1, self._stored[number])
        return sixteens.to("cpu").numpy().view(self.dtype).reshape(len(rows), -1)

    def load(self, stored: Stored) -> None:
        """Take numbers in the layout of snapshots."""
        begin = 0
        for rows, index in zip(self.streets, self._stored, strict=True):
            part = self.as_held(stored[begin : begin + rows.numel()]).view(len(rows), -1, LANES)
            rows.view(len(rows), -1, LANES).index_copy_(1, index, part.to(rows.device))
            begin += rows.numel()

    def _actions(self, node: int) -> int:
        tree = self.layout.form.tree
        return int(tree.first_child[node + 1] - tree.first_child[node])

    def _rows(self, node: int) -> torch.Tensor:
        """[runouts, actions, hands] a view."""
        first = int(self.plan.first_entry[node])
        return self.streets[int(self.layout.form.tree.street[node])][:, first : first + self._actions(node)]


class Chances:
    """The random numbers that round what a player stores on a street, different for every iteration, entry and hand.

    Equivalent hands on a runout share theirs.
    """

    def __init__(self, layout: Layout, plan: Plan, player: int, street: int, device: torch.device) -> None:
        form = layout.form
        first = int(layout.street_at[player, street]) + np.arange(int(layout.runouts[street])) * int(
            layout.runout_size[player, street]
        )
        alike = np.tile(np.arange(int(layout.hands[player]), dtype=np.uint32), (len(form.symmetry.cards), 1))
        alike[:, : form.symmetry.hands[player].shape[1]] = form.symmetry.hands[player]
        self.runouts, self.entries, self.hands, self.symmetry = (
            torch.from_numpy(each).to(device)
            for each in (
                _wrapped(first),
                _wrapped(plan.streets[street].seeds[player]),
                (alike * np.uint32(GOLDEN)).view(np.int32),
                form.streets[street].symmetry.astype(np.int64),
            )
        )

    def draw(self, runouts: slice, salt: int) -> torch.Tensor:
        """[runouts, entries, hands] 32 random bits each; `salt` differs from iteration to iteration."""
        number = ((self.runouts[runouts] + salt)[:, None] + self.entries) * MULTIPLIERS[0]
        number = (number ^ (number >> 15 & 0x1FFFF)) * MULTIPLIERS[1]
        return number[:, :, None] + self.hands.index_select(0, self.symmetry[runouts])[:, None]


def _wrapped(numbers: Int64) -> NDArray[np.int32]:
    """The lowest 32 bits."""
    return (numbers & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def by_decision(rows: torch.Tensor, decisions: Batch | Group) -> torch.Tensor:
    """[runouts, decisions, actions, hands] a view of some rows of entries."""
    return rows[:, decisions.entries].view(len(rows), -1, decisions.actions, rows.shape[2])


def as_floats(held: torch.Tensor) -> torch.Tensor:
    """Stored numbers in 32 bits; the tensor itself if it has them."""
    if held.dtype == torch.int16:
        return (held.to(torch.int32) & 0xFFFF).to(torch.float32)
    return held.to(torch.float32)


def store(target: torch.Tensor, values: torch.Tensor, chance: torch.Tensor | None) -> None:
    """Store 32-bit values, which may be overwritten; in 16 bits, rounding is stochastic."""
    if chance is None:
        target.copy_(values)
    elif target.dtype == torch.float16:
        values.clamp_(-LARGEST_HALF, LARGEST_HALF)
        moved = (values.view(torch.int32) + (chance >> (32 - MISSING_BITS))).view(torch.float32)
        target.copy_(torch.where(values == 0, values, moved))
    else:
        ahead = (chance >> 9 & 0x7FFFFF | ONE).view(torch.float32)  # from 1 to 2
        target.copy_((values - 1.0 + ahead).clamp_(0.0, 65535.0).to(torch.int32))
