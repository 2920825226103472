"""Partial vector CFR in PyTorch tensors [nodes, R, H], with R = 1 on the first street and B, the batch, on later ones.

A street is walked level by level. All decisions of a level that have the same player and number of actions are one
*group*: their strategies, gathered by bucket, are one tensor, and so are the sums per bucket. A sum per bucket is a
product with a matrix of ones and zeros where that fits, because sums by index are not deterministic on CUDA.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless.engines.bucketed.portable.terminals import Facing, Order
from regretless.engines.bucketed.tables import BucketTables, TableLayout, kept_numbers
from regretless.engines.contract import BucketedEngine
from regretless.engines.public.formats import met_weights, needs_wide_tiles
from regretless.forms.bucketed import BucketedForm, Runouts
from regretless.forms.history import IntArray
from regretless.forms.public import NodeKind
from regretless.variants.variant import Schedule, Weights, predicts

__all__ = ["PortableBucketedEngine", "estimate"]

MOST_ONES = 2**27  # entries of a matrix that sums by bucket; larger ones are summed by index
ROWS = 7  # rows of hands per node at a time: reach of both, values, and what operations need besides


@dataclass(frozen=True)
class _Group:
    """Decisions of one level, player and number of actions, with nodes numbered within their street."""

    player: int
    actions: int
    nodes: Tensor  # [G]
    children: Tensor  # [G · actions]
    table: Tensor  # [G · actions, K] places in the player's table


@dataclass(frozen=True)
class _Street:
    """A street's nodes, numbered from 0 in tree order."""

    count: int
    groups: list[_Group]  # root first
    folds: Tensor
    showdowns: Tensor
    fold_nodes: IntArray  # the same, numbered as in the tree
    showdown_nodes: IntArray
    exits: Tensor  # chance nodes
    entries: Tensor  # the nodes that those of the street before lead to, in the same order


@dataclass(frozen=True)
class _Batch:
    """A batch of runouts on the device, per street and player."""

    weight: list[Tensor]  # [R, 1]
    live: list[list[Tensor]]  # [R, H] 1 or 0
    bucket: list[list[Tensor]]  # [R · H]; the number of buckets where a hand is dead
    ones: list[list[Tensor | None]]  # [R · H, K + 1]
    orders: list[Order]  # per updating player


class PortableBucketedEngine(BucketTables):
    """One bucketed form on a device of PyTorch."""

    name = "torch"
    tolerance = 1e-5

    def __init__(self, form: BucketedForm, *, device: str = "cpu", threads: int = 1) -> None:
        self.device, self.threads = device, threads
        self._device = torch.device(device)
        super().__init__(form, np.float32)
        wide = device != "mps" and needs_wide_tiles(form.hands, met_weights(form.hands, form.deck))
        self._sums = torch.float64 if wide else torch.float32
        self._facing = [Facing(form, own, self._device, self._sums) for own in range(2)]
        self._held = [torch.from_numpy(held.weight.astype(np.float32)).to(self._device) for held in form.hands]
        self._streets = _make_streets(self.layout, self._device)

    @property
    def memory_bytes(self) -> int:
        """Tables and the rows of a walk."""
        return estimate(self.form, device=self.device, predicts=self.predicts)

    def _zeros(self, player: int) -> Any:
        return torch.zeros(self.layout.entries[player], dtype=torch.float32, device=self._device)

    def _stored(self, numbers: Any) -> NDArray[Any]:
        found: NDArray[Any] = numbers.cpu().numpy()
        return found

    def _load(self, numbers: Any, stored: NDArray[Any]) -> None:
        numbers.copy_(torch.from_numpy(np.array(stored)))

    def advance(self, schedule: Schedule) -> None:
        """Run one iteration per row of `schedule`."""
        if predicts(schedule):
            self.store_predictions()
        for row in schedule.tolist():
            batch = self._upload(self.form.runouts.draw(self.iteration + 1))
            for own in range(2):
                self._learn(own, batch, Weights(*row))
            self.iteration += 1

    def _upload(self, runouts: Runouts) -> _Batch:
        streets = range(len(runouts.bucket[0]))
        live: list[list[Tensor]] = []
        bucket: list[list[Tensor]] = []
        ones: list[list[Tensor | None]] = []
        for street in streets:
            given = [torch.from_numpy(np.array(of[street], dtype=np.int64)).to(self._device) for of in runouts.bucket]
            counts = [self.form.buckets[player][street] for player in range(2)]
            live.append([(each >= 0).to(torch.float32) for each in given])
            bucket.append([torch.where(each < 0, n, each).view(-1) for each, n in zip(given, counts, strict=True)])
            ones.append([self._ones(each, n + 1) for each, n in zip(bucket[-1], counts, strict=True)])
        strength = [torch.from_numpy(np.array(each, dtype=np.int32)).to(self._device) for each in runouts.strength]
        last = len(runouts.bucket[0][-1])
        orders = [Order(self._facing[own], strength[own][:last], strength[1 - own][:last]) for own in range(2)]
        weight = [
            torch.from_numpy(runouts.weight[street, : len(runouts.bucket[0][street]), None].astype(np.float32))
            for street in streets
        ]
        return _Batch([each.to(self._device) for each in weight], live, bucket, ones, orders)

    def _ones(self, bucket: Tensor, count: int) -> Tensor | None:
        if not _is_product(self.device, len(bucket), count):
            return None
        # Not `one_hot`, whose 64-bit integers would take twice as much beside it.
        return torch.zeros((len(bucket), count), device=self._device).scatter_(1, bucket[:, None], 1.0)

    # --- one player's walk -------------------------------------------------------------------------------------------

    def _learn(self, own: int, batch: _Batch, weights: Weights) -> None:
        other = [self._held[1 - own][None, None]]
        mine = [self._held[own][None, None]]
        others, owns, plays = [], [], []
        for number, street in enumerate(self._streets):
            reach, own_reach, played = self._down(own, number, batch, other[-1], mine[-1])
            others.append(reach)
            owns.append(own_reach)
            plays.append(played)
            if number + 1 < len(self._streets):
                weight, live = batch.weight[number + 1], batch.live[number + 1]
                other.append(reach[street.exits] * weight * live[1 - own])
                mine.append(own_reach[street.exits] * weight * live[own])
        values = torch.zeros(0)
        for number in reversed(range(len(self._streets))):
            values = self._up(own, number, batch, others[number], owns[number], plays[number], values, weights)

    def _down(
        self, own: int, number: int, batch: _Batch, entering: Tensor, own_entering: Tensor
    ) -> tuple[Tensor, Tensor, list[Tensor]]:
        """Reach of both players at every node, and the strategies [G, actions, K + 1] of every group."""
        street = self._streets[number]
        runouts = len(batch.weight[number])
        reach, own_reach = (
            torch.zeros((street.count, runouts, each.shape[2]), device=self._device)
            for each in (entering, own_entering)
        )
        reach[street.entries], own_reach[street.entries] = entering, own_entering
        played = []
        for group in street.groups:
            strategy = _matched(self._matched[group.player][group.table].view(len(group.nodes), group.actions, -1))
            strategy = torch.nn.functional.pad(strategy, (0, 1))
            played.append(strategy)
            moved, kept = (own_reach, reach) if group.player == own else (reach, own_reach)
            spread = self._by_hand(strategy, batch.bucket[number][group.player], moved.shape)
            moved[group.children] = (moved[group.nodes][:, None] * spread).flatten(0, 1)
            kept[group.children] = kept[group.nodes].repeat_interleave(group.actions, dim=0)
        return reach, own_reach, played

    def _up(
        self,
        own: int,
        number: int,
        batch: _Batch,
        reach: Tensor,
        own_reach: Tensor,
        played: list[Tensor],
        following: Tensor,
        weights: Weights,
    ) -> Tensor:
        """Values [lines, R above, H] at the entries, from those of the next street; tables are updated."""
        street = self._streets[number]
        values = self._terminals(own, number, batch, reach)
        if len(street.exits):
            values[street.exits] = following.sum(dim=1, keepdim=True) if number == 0 else following
        bucket, ones = batch.bucket[number][own], batch.ones[number][own]
        for group, strategy in zip(reversed(street.groups), reversed(played), strict=True):
            below = values[group.children].view(len(group.nodes), group.actions, *values.shape[1:])
            if group.player != own:
                values[group.nodes] = below.sum(dim=1)
                continue
            values[group.nodes] = (below * self._by_hand(strategy, bucket, values.shape)).sum(dim=1)
            count = strategy.shape[2]
            found = _by_bucket((below * self._held[own]).flatten(2).flatten(0, 1), bucket, ones, count)
            arrived = _by_bucket(own_reach[group.nodes].flatten(1), bucket, ones, count)
            self._update(group, own, strategy, found.view(strategy.shape), arrived, weights)
        return values[street.entries]

    def _terminals(self, own: int, number: int, batch: _Batch, reach: Tensor) -> Tensor:
        """[nodes, R, H] values of the terminals, 0 elsewhere."""
        street, pay, facing = self._streets[number], self.form.payoffs, self._facing[own]
        live = batch.live[number][own]
        values = torch.zeros((street.count, len(live), live.shape[1]), device=self._device)

        def factor(amounts: NDArray[Any]) -> Tensor:
            return torch.from_numpy(np.ascontiguousarray(amounts)).to(self._device, self._sums)[:, None, None]

        if len(nodes := street.fold_nodes):
            lost = self.form.tree.player[nodes] == own
            amounts = np.where(lost, pay.lose[nodes, own], pay.win[nodes, own])
            met = facing.every(reach[street.folds].to(self._sums))
            values[street.folds] = (met * factor(amounts)).to(torch.float32) * live
        if len(nodes := street.showdown_nodes):
            win, lose, tie = (each[nodes, own] for each in (pay.win, pay.lose, pay.tie))
            arriving = reach[street.showdowns].to(self._sums)
            weaker, equal = batch.orders[own].weaker_and_equal(arriving)
            worth = facing.every(arriving) * factor(lose) + weaker * factor(win - tie) + equal * factor(tie - lose)
            values[street.showdowns] = worth.to(torch.float32) * live
        return values

    def _update(
        self, group: _Group, own: int, strategy: Tensor, found: Tensor, arrived: Tensor, weights: Weights
    ) -> None:
        """The variant's numbers, in the order of `variants/variant.py`."""
        new = (found - (strategy * found).sum(dim=1, keepdim=True))[:, :, :-1].flatten(0, 1)
        added = (arrived[:, None] * strategy)[:, :, :-1].flatten(0, 1)
        table = group.table
        old, average = self._regret[own][table], self._average[own][table]
        self._average[own][table] = average * weights.average_decay + weights.average_weight * added
        regret = old * torch.where(old > 0, weights.positive_discount, weights.negative_discount) + new
        regret = regret.clamp_min(0.0) if weights.floor else regret
        self._matched[own][table] = regret * weights.prediction_discount + weights.prediction * new
        self._regret[own][table] = regret

    def _by_hand(self, strategy: Tensor, bucket: Tensor, shape: torch.Size) -> Tensor:
        """[G, actions, R, H] the strategy of each hand from those of buckets [G, actions, K + 1]."""
        return strategy.index_select(2, bucket).view(*strategy.shape[:2], *shape[1:])


def estimate(form: BucketedForm, *, device: str = "cpu", predicts: bool = False, **_: Any) -> int:
    """Bytes of tables, of where each decision's numbers are, of matrices and of the rows of a walk, approximately."""
    tree, layout, counts = form.tree, TableLayout(form), [len(held.weight) for held in form.hands]
    runouts = np.where(tree.street > 0, form.runouts.count, 1)
    tables = 4 * kept_numbers(layout, predicts=predicts) + 8 * sum(layout.entries)
    matrices = [
        ((form.runouts.count if street else 1) * hands, buckets + 1)
        for hands, of in zip(counts, form.buckets, strict=True)
        for street, buckets in enumerate(of)
    ]
    ones = 4 * sum(rows * columns for rows, columns in matrices if _is_product(device, rows, columns))
    return int(tables + ones + ROWS * 4 * max(counts) * runouts.sum())


def _is_product(device: str, rows: int, columns: int) -> bool:
    """Whether numbers of hands are summed by bucket as a product with a matrix of this shape."""
    return device != "cpu" and rows * columns <= MOST_ONES


def _matched(sums: Tensor) -> Tensor:
    """Regret matching over actions: [G, actions, K]."""
    positive = sums.clamp_min(0.0)
    total = positive.sum(dim=1, keepdim=True)
    return torch.where(total > 0, positive / torch.where(total > 0, total, 1.0), 1.0 / sums.shape[1])


def _by_bucket(rows: Tensor, bucket: Tensor, ones: Tensor | None, count: int) -> Tensor:
    """[rows, count] sums of [rows, R · H] by bucket."""
    if ones is not None:
        return rows @ ones
    return torch.zeros((len(rows), count), device=rows.device).index_add_(1, bucket, rows)


def _make_streets(layout: TableLayout, device: torch.device) -> list[_Street]:
    """The streets of a tree."""
    tree = layout.form.tree
    streets = []
    numbers = np.zeros(len(tree.kind), dtype=np.int64)  # of a node within its street
    for street in range(len(layout.form.buckets[0])):
        nodes = np.flatnonzero(tree.street == street)
        numbers[nodes] = np.arange(len(nodes))
        streets.append(nodes)
    depth = np.zeros(len(tree.kind), dtype=np.int64)  # below the last deal
    for node in range(1, len(tree.kind)):
        above = tree.parent[node]
        depth[node] = depth[above] + 1 if tree.street[above] == tree.street[node] else 0

    def tensor(values: Any) -> Tensor:
        return torch.from_numpy(np.array(values, dtype=np.int64)).to(device)

    found = []
    above = np.zeros(0, dtype=np.int64)  # chance nodes of the street before
    for nodes in streets:
        acts = nodes[tree.kind[nodes] == NodeKind.DECISION]
        kinds = sorted({(int(depth[n]), int(tree.player[n]), int(layout.actions[n])) for n in acts.tolist()})
        groups = []
        for level, player, actions in kinds:
            chosen = acts[(depth[acts] == level) & (tree.player[acts] == player) & (layout.actions[acts] == actions)]
            children = tree.first_child[chosen][:, None] + np.arange(actions)
            buckets = int(layout.buckets[chosen[0]])
            table = layout.begin[chosen][:, None] + np.arange(actions * buckets)
            groups.append(
                _Group(
                    player,
                    actions,
                    tensor(numbers[chosen]),
                    tensor(numbers[children].ravel()),
                    tensor(table.reshape(-1, buckets)),
                )
            )
        entries = numbers[tree.first_child[above]] if len(above) else np.zeros(1, dtype=np.int64)
        above = nodes[tree.kind[nodes] == NodeKind.CHANCE]
        folds, showdowns = (nodes[tree.kind[nodes] == kind] for kind in (NodeKind.FOLD, NodeKind.SHOWDOWN))
        found.append(
            _Street(
                count=len(nodes),
                groups=groups,
                folds=tensor(numbers[folds]),
                showdowns=tensor(numbers[showdowns]),
                fold_nodes=folds,
                showdown_nodes=showdowns,
                exits=tensor(numbers[above]),
                entries=tensor(entries),
            )
        )
    return found


if TYPE_CHECKING:
    _conforms: type[BucketedEngine] = PortableBucketedEngine
