"""CFR over sequences as tensor operations, level by level, for any number of players.

For the updating player, with x the others' realization plans:

1. q(s) = Σ value · x                               over the terms that end s: gathers, products, one sum of slices
2. from the deepest level up, in each set:          q(s) += sum of v over the sets below s
                                                    v = Σ σ(s) q(s)
3. r(s) = q(s) − v, and the update of `update.py`, over all levels at once
4. from the root down:                              plan(s) = plan(sequence above) · σ(s)

Every tensor is over sequences in the order of `layout.py`; an optional second axis holds the games of a batch, which
share trees and columns and differ in payoffs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from regretless.engines.sequence_layout import Terms, TreeLayout, lay_out, slices
from regretless.engines.torch.update import Segments, Tables, match, update
from regretless.forms.history import FloatArray
from regretless.forms.sequence import SequenceTree

__all__ = ["GameTables"]


@dataclass(frozen=True)
class _Level:
    """One level of a tree; `begin : end` are its sequences, `first_set : last_set` its sets."""

    begin: int
    end: int
    first_set: int
    last_set: int
    actions: Segments  # sequences of each set
    below: Segments  # sets of the next level below each sequence
    parent: torch.Tensor  # [sequences of the level]


class _Seat:
    """One player: tree, payoffs and tables."""

    def __init__(
        self, player: int, layouts: list[TreeLayout], terms: Terms, device: torch.device, dtype: torch.dtype
    ) -> None:
        layout = layouts[player]
        batch = terms.value.shape[1:]
        self.layout = layout
        self.others = [other for other in range(len(layouts)) if other != player]
        self.actions = Segments(layout.first - 1, device)
        self.set_of = torch.as_tensor(layout.set_of[1:], device=device)
        levels = layout.level.shape[1] - 1 if layout.sets else 0
        self.levels = [_level(layout, number, device) for number in range(levels)]

        counts = np.diff(terms.start)[layout.sequence].astype(np.int64)
        bounds = slices(counts)
        entry = np.repeat(np.asarray(terms.start)[:-1][layout.sequence] - bounds[:-1], counts) + np.arange(bounds[-1])
        self.rows = Segments(bounds, device)
        self.columns = [
            torch.as_tensor(layouts[other].number[np.asarray(column)[entry]], device=device)
            for other, column in zip(self.others, terms.columns)
        ]
        self.value = torch.as_tensor(np.asarray(terms.value, dtype=np.float64)[entry]).to(device, dtype)

        uniform = torch.as_tensor(1.0 / np.diff(layout.first)[layout.set_of[1:]]).to(device, dtype)
        self.uniform = uniform.unsqueeze(1).expand(-1, *batch) if batch else uniform
        zeros = torch.zeros(self.uniform.shape, dtype=dtype, device=device)
        self.tables = Tables(zeros, zeros.clone(), self.uniform.clone())
        self.plan = torch.ones((layout.sequences, *batch), dtype=dtype, device=device)
        self.worth = torch.zeros((layout.sets, *batch), dtype=dtype, device=device)  # v of each set

    def payoffs(self, plans: list[torch.Tensor]) -> torch.Tensor:
        """q before the sweep: the payoff of each sequence from the terminals that end it."""
        terms = self.value
        for other, column in zip(self.others, self.columns):
            terms = plans[other].index_select(0, column).mul_(terms)
        return self.rows.sum(terms)

    def sweep_up(self, q: torch.Tensor, strategy: torch.Tensor | None) -> None:
        """Add the value of what follows to q, and fill `worth`; a best response if no strategy is given."""
        for number in range(len(self.levels) - 1, -1, -1):
            level = self.levels[number]
            here = q[level.begin : level.end]
            if not level.below.empty:
                following = self.levels[number + 1]
                here += level.below.sum(self.worth[following.first_set : following.last_set])
            if strategy is None:
                worth = level.actions.max(here)
            else:
                worth = level.actions.sum(here * strategy[level.begin - 1 : level.end - 1])
            self.worth[level.first_set : level.last_set] = worth

    def sweep_down(self, strategy: torch.Tensor, plan: torch.Tensor) -> None:
        for level in self.levels:
            above = plan.index_select(0, level.parent)
            torch.mul(above, strategy[level.begin - 1 : level.end - 1], out=plan[level.begin : level.end])

    def root_worth(self, q: torch.Tensor) -> torch.Tensor:
        """Value of the empty sequence after a sweep up."""
        return q[0] + self.worth[: self.levels[0].last_set].sum(0) if self.levels else q[0]

    def matched(self, positive: torch.Tensor) -> torch.Tensor:
        """A strategy proportional to non-negative numbers."""
        return match(positive, self.actions, self.set_of, self.uniform) if self.levels else positive

    @property
    def held(self) -> list[torch.Tensor]:
        """All its tensors."""
        tensors = [self.tables.regret, self.tables.average, self.tables.strategy, self.plan, self.worth, self.uniform]
        tensors += [*self.columns, self.value, self.set_of, self.rows.bounds, self.actions.bounds]
        for level in self.levels:
            tensors += [level.parent, level.actions.bounds, level.below.bounds]
        return tensors


def _level(layout: TreeLayout, number: int, device: torch.device) -> _Level:
    first_set, last_set = (int(bound) for bound in layout.level[1, number : number + 2])
    begin, end = int(layout.first[first_set]), int(layout.first[last_set])
    below = np.diff(layout.children[begin:end], axis=1)[:, 0]
    return _Level(
        begin,
        end,
        first_set,
        last_set,
        Segments(layout.first[first_set : last_set + 1] - begin, device),
        Segments(slices(below), device),
        torch.as_tensor(layout.parent[begin:end], device=device),
    )


class GameTables:
    """A game on a device, with the state of CFR."""

    def __init__(
        self, trees: tuple[SequenceTree, ...], terms: tuple[Terms, ...], device: torch.device, dtype: torch.dtype
    ) -> None:
        layouts = [lay_out(tree, np.diff(term.start)) for tree, term in zip(trees, terms)]
        self.seats = [_Seat(player, layouts, terms[player], device, dtype) for player in range(len(trees))]
        self.pairs = sum(layout.sequences - 1 for layout in layouts)
        self.batch = terms[0].value.shape[1:]
        self.device, self.dtype = device, dtype
        self.replan()

    def play(self, players: tuple[int, ...], weights: dict[str, torch.Tensor]) -> None:
        """Update these players against the others' current strategies."""
        plans = [seat.plan for seat in self.seats]
        moving = [self.seats[player] for player in players if self.seats[player].levels]
        regrets = []
        for seat in moving:
            q = seat.payoffs(plans)
            seat.sweep_up(q, seat.tables.strategy)
            regrets.append(q[1:].sub_(seat.worth.index_select(0, seat.set_of)))
        for seat, regret in zip(moving, regrets):
            update(seat.tables, weights, regret, seat.plan[1:], seat.actions, seat.set_of, seat.uniform)
            seat.sweep_down(seat.tables.strategy, seat.plan)

    def replan(self) -> None:
        """Recompute the plans from the strategies."""
        for seat in self.seats:
            seat.sweep_down(seat.tables.strategy, seat.plan)

    def average(self) -> list[torch.Tensor]:
        """The average strategy of each player."""
        return [seat.matched(seat.tables.average) for seat in self.seats]

    def evaluate(self, strategies: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        """Values and best-response values, [players] or [players, games]."""
        plans = [torch.ones_like(seat.plan) for seat in self.seats]
        for seat, strategy, plan in zip(self.seats, strategies, plans):
            seat.sweep_down(strategy, plan)
        values, best = [], []
        for seat, plan in zip(self.seats, plans):
            q = seat.payoffs(plans)
            values.append((q * plan).sum(0))
            seat.sweep_up(q, None)
            best.append(seat.root_worth(q))
        return torch.stack(values), torch.stack(best)

    def to_pairs(self, parts: list[torch.Tensor]) -> FloatArray:
        """One array over the pairs of the history form from a tensor per player: [pairs] or [games, pairs]."""
        array = np.zeros((self.pairs, *self.batch))
        for seat, part in zip(self.seats, parts):
            array[seat.layout.pair[1:]] = part.to("cpu").to(torch.float64).numpy()
        return np.ascontiguousarray(array.T) if self.batch else array

    def from_pairs(self, array: FloatArray) -> list[torch.Tensor]:
        """The reverse: a tensor per player from one array over pairs."""
        columns = np.asarray(array, dtype=np.float64).T
        return [torch.as_tensor(columns[seat.layout.pair[1:]]).to(self.dtype).to(self.device) for seat in self.seats]

    @property
    def tables(self) -> list[Tables]:
        return [seat.tables for seat in self.seats]

    @property
    def memory_bytes(self) -> int:
        return sum(tensor.nbytes for seat in self.seats for tensor in seat.held)
