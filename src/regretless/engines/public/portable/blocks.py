"""Runouts as tensors: a *block* is as many runouts of a street as are walked at once.

The first streets have one block each. The last is by far the largest, so it has as many as its working tensors need in
order to stay within `sizes.BLOCK_BYTES`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from regretless.engines.public.layout import Layout
from regretless.engines.public.portable.plan import StreetPlan
from regretless.engines.public.portable.terminals import Facing, Folds, Showdowns
from regretless.forms.public import PublicForm

__all__ = ["Block", "Leaving", "View", "make_block"]


class Leaving(NamedTuple):
    """How the values of runouts add up to those of the runouts before, their parents.

    Copies of a runout that permute the hands in the same way are summed before their hands are permuted.
    """

    parents: slice
    weights: torch.Tensor  # [parents · permutations used, runouts]  probability of the deals
    permutations: torch.Tensor  # [permutations used, hands]


class View(NamedTuple):
    """A block as the walks of one player see it."""

    alive: torch.Tensor  # [runouts, 1, opponent's hands]  1 where the runout does not block the hand
    alike: torch.Tensor | None  # [runouts, hands] the own hand that represents each hand; None if each its own
    folds: Folds | None
    showdowns: Showdowns | None
    leaving: Leaving


class Block(NamedTuple):
    """Some runouts of a street."""

    street: int
    runouts: slice
    parents: torch.Tensor  # [runouts] on the street before
    views: tuple[View, View]  # of each player


def make_block(layout: Layout, plan: StreetPlan, facings: tuple[Facing, Facing], street: int, runouts: slice) -> Block:
    """The tables of a block."""
    dealt = layout.form.streets[street]
    device = facings[0].holders.device
    parents = torch.from_numpy(dealt.parent[runouts].astype(np.int64)).to(device)
    first, second = (_view(layout.form, plan, facing, street, runouts, layout) for facing in facings)
    return Block(street, runouts, parents, (first, second))


def _view(form: PublicForm, plan: StreetPlan, facing: Facing, street: int, runouts: slice, layout: Layout) -> View:
    own, dealt, device = facing.own, form.streets[street], facing.holders.device
    living = ~dealt.dead[1 - own][runouts]
    alive = np.zeros((len(living), 1, int(layout.hands[1 - own])), dtype=np.float32)
    alive[:, 0, : living.shape[1]] = living
    symmetry = dealt.symmetry[runouts]
    alike = torch.from_numpy(facing.alike[symmetry]).to(device) if symmetry.any() and len(plan.chances) else None
    return View(
        alive=torch.from_numpy(alive).to(device),
        alike=alike,
        folds=Folds(form, facing, street, runouts, plan.folds) if len(plan.folds) else None,
        showdowns=Showdowns(form, facing, runouts, plan.showdowns) if len(plan.showdowns) else None,
        leaving=_leaving(form, own, int(layout.hands[own]), street, runouts, device),
    )


def _leaving(form: PublicForm, own: int, hands: int, street: int, runouts: slice, device: torch.device) -> Leaving:
    dealt = form.streets[street]
    parent = dealt.parent[runouts]
    copies = [dealt.copies[dealt.first_copy[runout] : dealt.first_copy[runout + 1]] for runout in _range(runouts)]
    used, which = np.unique(np.concatenate(copies), return_inverse=True)
    runout = np.repeat(np.arange(len(copies)), [len(each) for each in copies])
    parents = slice(int(parent[0]), int(parent[-1]) + 1)
    weights = np.zeros((parents.stop - parents.start, len(used), len(copies)))
    np.add.at(weights, (parent[runout] - parents.start, which, runout), dealt.probability)
    permutations: NDArray[np.int64] = np.tile(np.arange(hands), (len(used), 1))
    permutations[:, : form.permutations[own].shape[1]] = form.permutations[own][used]
    wide = torch.float32 if device.type == "mps" else torch.float64  # sums over deals; MPS has no more
    return Leaving(
        parents=parents,
        weights=torch.from_numpy(weights.reshape(-1, len(copies))).to(device, wide),
        permutations=torch.from_numpy(permutations).to(device),
    )


def _range(runouts: slice) -> range:
    return range(runouts.start, runouts.stop)
