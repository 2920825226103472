"""A walk over the public tree in tensors: reach flows down street by street, values flow up.

1. `begin`     Down the first streets, each with all of its runouts. At a decision, reach is split by the strategy.
2. `through`   For every block of the last street: down, terminals, up, and the values added to the street above.
3. `finish`    Up the first streets.

On the way up, what the own player does at a decision is a `Mode`. Several modes share the way down and the terminals,
which depend only on the opponent: one walk finds both the value of a strategy and that of a best response.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch

from regretless.engines.public.portable.blocks import Block
from regretless.engines.public.portable.learning import Learning
from regretless.engines.public.portable.numbers import by_decision
from regretless.engines.public.portable.plan import Batch, Int64, Plan
from regretless.engines.public.stored import Mode

__all__ = ["Game", "Rows", "Strategies", "Walk", "make_rows", "match"]

TINY = 1.2e-38  # about the smallest normal float; a sum below it counts as 0, so that no quotient overflows

Strategies = tuple[torch.Tensor, torch.Tensor]  # [runouts, entries, hands] of each player in a block


class Rows(NamedTuple):
    """The indices of a street's rows as tensors, for walks that update one player."""

    reach: tuple[torch.Tensor, ...]  # by group, of the player who acts
    value: tuple[torch.Tensor, ...]  # by group
    folds: tuple[torch.Tensor, torch.Tensor]  # of the opponent's reach; of values
    showdowns: tuple[torch.Tensor, torch.Tensor]
    chance_reach: tuple[torch.Tensor, torch.Tensor]  # of each player
    chance_value: torch.Tensor


def make_rows(plan: Plan, street: int, own: int, device: torch.device) -> Rows:
    """The rows of a street for the walks that update `own`."""
    here = plan.streets[street]

    def tensor(numbers: object) -> torch.Tensor:
        return torch.as_tensor(numbers, device=device)

    def terminals(nodes: Int64) -> tuple[torch.Tensor, torch.Tensor]:
        return tensor(plan.reach_row[1 - own, nodes]), tensor(plan.value_row[own, nodes])

    return Rows(
        reach=tuple(tensor(group.reach_rows) for group in here.groups),
        value=tuple(tensor(group.value_rows[own]) for group in here.groups),
        folds=terminals(here.folds),
        showdowns=terminals(here.showdowns),
        chance_reach=(tensor(plan.reach_row[0, here.chances]), tensor(plan.reach_row[1, here.chances])),
        chance_value=tensor(plan.value_row[own, here.chances]),
    )


class Game(NamedTuple):
    """A form as tensors."""

    plan: Plan
    rows: tuple[tuple[Rows, Rows], ...]  # by street and updated player
    first: tuple[Block, ...]  # the streets before the last
    last: tuple[Block, ...]  # the blocks of the last street
    opponent: tuple[torch.Tensor, torch.Tensor]  # [1, 1, hands] by updated player: the other's reach at the root
    hands: tuple[int, int]  # padded
    wide: torch.dtype  # of sums over deals


Locked = Callable[[Block], torch.Tensor | None]  # [runouts, own decisions, hands] which are locked; None: none


def _none(block: Block) -> None:
    return None


class Walk:
    """One walk for the values of `own`."""

    def __init__(
        self,
        game: Game,
        own: int,
        modes: Sequence[Mode],
        *,
        learning: Learning | None = None,
        locked: Locked = _none,
    ) -> None:
        self.game, self.own, self.modes, self.learning, self.locked = game, own, modes, learning, locked
        device = game.opponent[own].device
        ones = torch.ones((1, 1, game.hands[own]), device=device)
        self.entering = [(game.opponent[own], ones)]  # by street: reach of the opponent and the own player
        self.reach: list[tuple[torch.Tensor, torch.Tensor]] = []  # the same on the first streets
        self.values: list[torch.Tensor] = []  # on the first streets, after `finish`
        before = [1, *(len(block.parents) for block in game.first)]
        self.totals = [
            [
                torch.zeros((runouts, here.lines, game.hands[own]), dtype=game.wide, device=device)
                for runouts, here in zip(before, game.plan.streets, strict=True)
            ]
            for _ in modes
        ]

    def begin(self, strategies: Sequence[Strategies]) -> None:
        """Go down the first streets; `strategies` of each."""
        for block, both in zip(self.game.first, strategies, strict=True):
            reach = self._down(block, both)
            rows = self.game.rows[block.street][self.own].chance_reach
            theirs = reach[0].index_select(1, rows[1 - self.own])
            mine = self.entering[-1][1] if self.learning is None else reach[1].index_select(1, rows[self.own])
            self.reach.append(reach)
            self.entering.append((theirs, mine))

    def through(self, block: Block, strategies: Strategies) -> None:
        """Walk a block of the last street."""
        reach = self._down(block, strategies)
        values = self._terminals(block, reach[0])
        for mode, totals in zip(self.modes, self.totals, strict=True):
            self._up(block, strategies, reach[1], values, mode)
            self._leave(block, values, totals)

    def finish(self, strategies: Sequence[Strategies]) -> list[torch.Tensor]:
        """Go up the first streets; returns [hands] the values at the root in each mode."""
        for block, both, reach in zip(self.game.first[::-1], strategies[::-1], self.reach[::-1], strict=True):
            values = self._terminals(block, reach[0])
            view = block.views[self.own]
            for mode, totals in zip(self.modes, self.totals, strict=True):
                below = totals[block.street + 1].to(torch.float32)
                if view.alike is not None:  # each hand sums the deals in its own order: equivalent hands share one sum
                    below = below.gather(2, view.alike[:, None].expand_as(below))
                values.index_copy_(1, self.game.rows[block.street][self.own].chance_value, below)
                self._up(block, both, reach[1], values, mode)
                self._leave(block, values, totals)
            self.values.insert(0, values)
        return [totals[0][0, 0] for totals in self.totals]

    def _down(self, block: Block, strategies: Strategies) -> tuple[torch.Tensor, torch.Tensor]:
        """[runouts, rows, hands] reach of the opponent and of the own player, which only a walk that learns needs."""
        game, own = self.game, self.own
        here, rows = game.plan.streets[block.street], game.rows[block.street][own]
        found = []
        for player, above in zip((1 - own, own), self.entering[block.street], strict=True):
            if player == own and self.learning is None:
                found.append(above)
                continue
            reach = above.new_empty((len(block.parents), here.lines + here.entries[player], above.shape[2]))
            arriving = above.index_select(0, block.parents)
            reach[:, : here.lines] = arriving if player == own else arriving.mul_(block.views[own].alive)
            found.append(reach)
        for group, at in zip(here.groups, rows.reach, strict=True):
            mine = group.player == own
            if mine and self.learning is None:
                continue
            reach = found[mine]
            share = reach.index_select(1, at)
            if mine and self.learning is not None and self.learning.reach_share != 1.0:
                share.mul_(self.learning.reach_share).add_(1.0 - self.learning.reach_share)
            split = by_decision(strategies[group.player], group)
            torch.mul(split, share[:, :, None], out=by_decision(reach[:, here.lines :], group))
        return found[0], found[1]

    def _terminals(self, block: Block, reach: torch.Tensor) -> torch.Tensor:
        """[runouts, rows, hands] values, of terminals only."""
        game, own = self.game, self.own
        here, rows, view = game.plan.streets[block.street], game.rows[block.street][own], block.views[own]
        values = reach.new_empty((len(reach), sum(here.entries) + here.lines, game.hands[own]))
        for terminals, (from_rows, to_rows) in ((view.folds, rows.folds), (view.showdowns, rows.showdowns)):
            if terminals is not None:
                found = terminals.values(reach.index_select(1, from_rows))
                values.index_copy_(1, to_rows, found.transpose(1, 2).to(torch.float32).contiguous())
        return values

    def _up(
        self, block: Block, strategies: Strategies, own_reach: torch.Tensor, values: torch.Tensor, mode: Mode
    ) -> None:
        """Fill in the values of decisions; in mode LEARN, update regrets and averages too."""
        own = self.own
        here, rows = self.game.plan.streets[block.street], self.game.rows[block.street][own]
        mine, theirs = values[:, : here.entries[own]], values[:, here.entries[own] :]
        locked = self.locked(block) if mode is Mode.BEST else None
        worths = values.new_empty((len(values), len(here.decisions[own]), values.shape[2]))
        for group, at in zip(here.groups[::-1], rows.value[::-1], strict=True):
            if group.player != own:
                values.index_copy_(1, at, _summed(by_decision(theirs, group)))
                continue
            below, worth = by_decision(mine, group), worths[:, group.decisions]
            if mode is not Mode.BEST or locked is not None:
                _mean(by_decision(strategies[own], group), below, worth)
            if mode is Mode.BEST:
                highest = below.amax(2)
                worth = highest if locked is None else torch.where(locked[:, group.decisions], worth, highest)
            values.index_copy_(1, at, worth)
        if self.learning is not None:
            lines = self.game.plan.streets[block.street].lines
            self.learning.update(block, here.batches[own], own_reach[:, lines:], mine, worths)

    def _leave(self, block: Block, values: torch.Tensor, totals: list[torch.Tensor]) -> None:
        """Add the values of a block's runouts to those of their parents."""
        here, leaving = self.game.plan.streets[block.street], block.views[self.own].leaving
        lines = values[:, sum(here.entries) :]
        summed = leaving.weights @ lines.to(self.game.wide).reshape(len(lines), -1)
        by_permutation = summed.view(-1, len(leaving.permutations), *lines.shape[1:])
        if len(leaving.permutations) > 1:
            by_permutation = by_permutation.gather(3, leaving.permutations[None, :, None].expand_as(by_permutation))
        totals[block.street][leaving.parents] += by_permutation.sum(1)


def match(sums: torch.Tensor, batches: Sequence[Batch]) -> torch.Tensor:
    """[runouts, entries, hands] strategies in proportion to the positive part of sums, uniform where that is 0."""
    matched = sums.clamp_min(0.0)
    for batch in batches:
        shares = by_decision(matched, batch)
        total = torch.nn.functional.threshold(_summed(shares), TINY, 0.0)
        nothing = 1.0 - total.sign()
        inverse = total.add_(nothing).reciprocal_()
        torch.addcmul(nothing.mul_(1.0 / batch.actions)[:, :, None], shares, inverse[:, :, None], out=shares)
    return matched


def _summed(children: torch.Tensor) -> torch.Tensor:
    """The sum over the actions of [runouts, decisions, actions, hands]; faster than PyTorch's for so few."""
    first, *others = children.unbind(2)
    total = first + others[0] if others else first.clone()
    for other in others[1:]:
        total += other
    return total


def _mean(strategy: torch.Tensor, children: torch.Tensor, out: torch.Tensor) -> None:
    """The sum over the actions of strategy · value, both [runouts, decisions, actions, hands]."""
    torch.mul(strategy[:, :, 0], children[:, :, 0], out=out)
    for action in range(1, children.shape[2]):
        out.addcmul_(strategy[:, :, action], children[:, :, action])
