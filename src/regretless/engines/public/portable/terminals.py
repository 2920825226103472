"""Folds and showdowns of all terminals of a street on many runouts at once.

Reach of the opponent's hands is transposed to [runouts, hands, terminals], so that a hand is a row of adjacent numbers.
Every sum that a hand needs is a row too, and a value is a sum of a few such rows with signs (a *bag*):

    fold        pay · V(h),    V(h) = all − S[c] − S[d] + reach[same hand],    S[c]: reach of the hands with card c
    showdown    (win − tie) · W(h) + (tie − lose) · E(h) + lose · V(h)

W is V over weaker hands, E over weaker or equal ones. The sums over weaker hands, over all of them or over those with a
card, are running sums of reach in order of strength. The opponent's hand with the same two cards is subtracted twice in
V and E, so it is added back once; it is never weaker.

Equivalent hands on a runout take the rows of the first of them, so they get bit-identical values; dead hands take rows
of zeros. Where blockers leave almost none of the opponent's reach, the differences cancel, so sums have 64 bits there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from regretless.engines.public.layout import padded
from regretless.forms.public import PublicForm

__all__ = ["Facing", "Folds", "Showdowns", "make_facing", "sum_bags", "sum_bags_by_column"]

Int64 = NDArray[np.int64]

WEAKER = (1, -1, -1)  # all, with card c, with card d
EVERY = (*WEAKER, 1)  # with the hand of the same cards


class Facing(NamedTuple):
    """The hands of one player against those of the other, padded: n own hands, m of the opponent."""

    own: int  # player
    cards: Int64  # [n, 2]        of own hands; `deck` where there is none
    same: Int64  # [n]            the opponent's hand with the same cards; m if none
    alike: Int64  # [K, n]        the own hand that represents each hand
    other_cards: Int64  # [m, 2]
    holders: torch.Tensor  # [deck + 1, m]  1 where the opponent's hand has the card; the last row is all ones
    dtype: torch.dtype  # of sums
    longest: int  # list of the opponent's hands with one card
    listed: int  # places in the lists of the opponent's hands, by strength and by card
    signs: dict[tuple[int, ...], torch.Tensor]  # [bags, rows] the signs in a bag, for as many bags as were needed


def make_facing(form: PublicForm, own: int, device: torch.device, dtype: torch.dtype) -> Facing:
    """The tables for the walks that update `own`."""
    cards, other_cards = _cards(form, own), _cards(form, 1 - own)
    same = np.full(len(cards), len(other_cards), dtype=np.int64)
    same[: len(form.hands[own].same)] = np.where(form.hands[own].same < 0, len(other_cards), form.hands[own].same)
    alike = np.tile(np.arange(len(cards), dtype=np.int64), (len(form.symmetry.cards), 1))
    alike[:, : form.symmetry.hands[own].shape[1]] = form.symmetry.hands[own]
    holders = np.zeros((form.deck + 1, len(other_cards)))
    for column in range(2):
        holders[other_cards[:, column], np.arange(len(other_cards))] = 1.0
    holders[form.deck] = 1.0
    held = np.bincount(other_cards.ravel(), minlength=form.deck + 1)[: form.deck]
    longest = max(int(held.max()), 1)
    return Facing(
        own=own,
        cards=cards,
        same=same,
        alike=alike,
        other_cards=other_cards,
        holders=torch.from_numpy(holders).to(device, dtype),
        dtype=dtype,
        longest=longest,
        listed=(-(-len(other_cards) // longest) + int(np.count_nonzero(held))) * longest,
        signs={},
    )


def _cards(form: PublicForm, player: int) -> Int64:
    """[hands, 2] cards of each hand, padded; `deck` where there is none."""
    given = form.hands[player].cards
    cards = np.full((padded(len(given)), 2), form.deck, dtype=np.int64)
    cards[: len(given)] = np.where(given < 0, form.deck, given)
    return cards


class Folds:
    """The folds of a street on some of its R runouts, for one player's values. The rows of sums:

    [R, m + 1]       reach of each hand, then zeros
    [R, deck + 1]    S of each card, then the sum over all hands
    """

    def __init__(self, form: PublicForm, facing: Facing, street: int, runouts: slice, nodes: Int64) -> None:
        own, deck, hands, device = facing.own, form.deck, len(facing.other_cards), facing.holders.device
        count = runouts.stop - runouts.start
        self.facing = facing
        self.rows = count * (deck + 1)
        folder, lose, win = form.tree.player[nodes], form.payoffs.lose[nodes, own], form.payoffs.win[nodes, own]
        self.pay = torch.from_numpy(np.where(folder == own, lose, win)).to(device, facing.dtype)
        runout = np.arange(count)[:, None, None]
        summed = np.column_stack([np.full(len(facing.cards), deck), facing.cards])[None] + runout * (deck + 1)
        zeros, same = runout * (hands + 1) + hands, runout * (hands + 1) + facing.same[:, None]
        summed[:, :, 1:] = np.where(facing.cards == deck, zeros, summed[:, :, 1:] + count * (hands + 1))
        summed[:, :, 0] += count * (hands + 1)
        table = np.concatenate([summed, same], axis=2)
        self.bags = _bags(form, facing, street, runouts, table).to(device)
        self.signs = _signs(facing, EVERY, len(self.bags))

    def values(self, reach: torch.Tensor) -> torch.Tensor:
        """[runouts, own hands, folds] values, from the opponent's reach [runouts, folds, hands]."""
        runouts, folds, hands = reach.shape
        sums, arriving = _empty_sums(self.rows, reach, self.facing.dtype)
        by_card = sums[runouts * (hands + 1) :].view(runouts, -1, folds)
        torch.matmul(self.facing.holders, arriving[:, :-1], out=by_card)
        return sum_bags(self.bags, sums, self.signs).mul_(self.pay).view(runouts, -1, folds)


class Showdowns:
    """The showdowns of the last street on some of its R runouts, for one player's values. The rows of sums:

    [R, m + 1]    reach of each hand, then zeros
    [K, R, J]     running sums along J lists of at most K hands each, in order of strength: the first lists are all
                  hands, in pieces of K, and the others are the hands with one card
    """

    def __init__(self, form: PublicForm, facing: Facing, runouts: slice, nodes: Int64) -> None:
        own, device = facing.own, facing.holders.device
        self.facing = facing
        win, lose, tie = (each[nodes, own] for each in (form.payoffs.win, form.payoffs.lose, form.payoffs.tie))
        self.pay = [torch.from_numpy(each).to(device, facing.dtype) for each in (win - tie, tie - lose, lose)]
        lists = _Lists(form, facing, runouts)
        self.shape, self.pieces = lists.order.shape, lists.pieces
        self.order = torch.from_numpy(lists.order.ravel().astype(np.int32)).to(device)
        signs = WEAKER, EVERY, EVERY
        self.bags = [_bags(form, facing, len(form.streets) - 1, runouts, each).to(device) for each in lists.rows()]
        self.signs = [_signs(facing, each, len(bags)) for each, bags in zip(signs, self.bags, strict=True)]

    def values(self, reach: torch.Tensor) -> torch.Tensor:
        """[runouts, own hands, showdowns] values, from the opponent's reach [runouts, showdowns, hands]."""
        runouts, showdowns, hands = reach.shape
        sums, arriving = _empty_sums(len(self.order), reach, self.facing.dtype)
        listed = sums[runouts * (hands + 1) :]
        torch.index_select(arriving.view(-1, showdowns), 0, self.order, out=listed)
        _scan(listed.view(self.shape[0], -1, showdowns))
        pieces = listed.view(*self.shape, showdowns)[:, :, : self.pieces]
        pieces[:, :, 1:] += pieces[-1, :, :-1].cumsum(1)
        weaker, equal, every = (sum_bags(bags, sums, signs) for bags, signs in zip(self.bags, self.signs, strict=True))
        every.mul_(self.pay[2]).addcmul_(weaker, self.pay[0]).addcmul_(equal, self.pay[1])
        return every.view(runouts, -1, showdowns)


class _Lists:
    """The lists of `Showdowns`, and where the sums that a hand needs are found in them."""

    def __init__(self, form: PublicForm, facing: Facing, runouts: slice) -> None:
        self.facing = facing
        self.mine, theirs = _strengths(form, facing.own, runouts), _strengths(form, 1 - facing.own, runouts)
        count, hands = theirs.shape
        beyond = int(max(self.mine.max(), theirs.max())) + 1  # larger than any strength
        card = facing.other_cards.T.ravel()  # [2m] every hand once per card
        held = np.bincount(card, minlength=form.deck + 1)[: form.deck]
        self.longest = facing.longest
        self.pieces = -(-hands // self.longest)
        cards = np.flatnonzero(held)
        self.card_list = np.full(form.deck + 1, -1)
        self.card_list[cards] = self.pieces + np.arange(len(cards))
        self.held = np.append(held, 0)
        self.start = np.append(0, np.cumsum(self.held))  # [deck + 2] among hands sorted by card
        self.lists = self.pieces + len(cards)
        self.by_strength, self.by_card = theirs, card * beyond + np.tile(theirs, 2)
        self.order_by_strength = np.argsort(theirs, axis=1, kind="stable")
        self.order_by_card = np.argsort(self.by_card, axis=1, kind="stable")
        self.keys = facing.cards * beyond + self.mine[:, :, None]  # [R, n, 2]
        order = np.full((count, self.lists, self.longest), hands)  # row of zeros
        padding = self.pieces * self.longest - hands
        order[:, : self.pieces] = np.pad(self.order_by_strength, ((0, 0), (0, padding)), constant_values=hands).reshape(
            count, self.pieces, -1
        )
        for number, each in enumerate(cards.tolist(), start=self.pieces):
            order[:, number, : held[each]] = self.order_by_card[:, self.start[each] : self.start[each + 1]] % hands
        order += (np.arange(count) * (hands + 1))[:, None, None]
        self.order = order.transpose(2, 0, 1)  # [K, R, J] rows of reach

    def rows(self) -> tuple[Int64, Int64, Int64]:
        """[R, n, 3 or 4] rows of sums for W, E and V."""
        every = np.broadcast_to(self.held[self.facing.cards], self.keys.shape)
        whole = np.full(self.mine.shape, self.by_strength.shape[1])
        return self._rows(*self._weaker_than(0)), self._rows(*self._weaker_than(1), 1), self._rows(whole, every, 1)

    def _weaker_than(self, more: int) -> tuple[Int64, Int64]:
        """[R, n] hands weaker than each hand, made stronger by `more`; [R, n, 2] how many of them have each card."""
        every = _positions(self.by_strength, self.order_by_strength, self.mine + more)
        with_card = _positions(self.by_card, self.order_by_card, (self.keys + more).reshape(len(self.mine), -1))
        return every, with_card.reshape(self.keys.shape) - self.start[self.facing.cards]

    def _rows(self, every: Int64, with_card: Int64, same: int = 0) -> Int64:
        """[R, n, 3 + same] rows of the sums over this many of all hands, and this many with each card."""
        runouts, hands = len(self.mine), self.by_strength.shape[1]
        runout = np.arange(runouts)[:, None]
        zeros = runout * (hands + 1) + hands

        def row(number: Int64, of: Int64) -> Int64:
            """The sum over the first `number` hands of a list."""
            at = runouts * (hands + 1) + ((number - 1) * runouts + runout) * self.lists + of
            return np.asarray(np.where((number > 0) & (of >= 0), at, zeros))

        last = every - 1
        found = [row(np.where(every > 0, last % self.longest + 1, 0), last // self.longest)]
        found += [row(with_card[:, :, side], self.card_list[self.facing.cards[:, side]]) for side in range(2)]
        if same:
            found.append(runout * (hands + 1) + self.facing.same)
        return np.stack(found, axis=2)


def _scan(rows: torch.Tensor) -> None:
    """Replace every row of the first dimension by the sum of the rows up to it."""
    if rows.device.type != "cpu":
        rows.cumsum_(0)
        return
    for row in range(1, len(rows)):  # PyTorch's own scan of a strided dimension misses a CPU's caches
        rows[row] += rows[row - 1]


def _strengths(form: PublicForm, player: int, runouts: slice) -> Int64:
    """[R, hands] strengths, padded; 0 if the hand is dead."""
    given = form.strength[player][runouts].astype(np.int64) + 1
    return np.pad(given, ((0, 0), (0, padded(given.shape[1]) - given.shape[1])))


def _positions(keys: Int64, order: Int64, wanted: Int64) -> Int64:
    """How many keys of a row are smaller than each wanted one, row by row; `order` sorts the rows."""
    beyond = int(max(keys.max(), wanted.max())) + 1
    rows = np.arange(len(keys))[:, None]
    ordered = np.take_along_axis(keys, order, axis=1) + rows * beyond
    return np.asarray(np.searchsorted(ordered.ravel(), wanted + rows * beyond) - rows * keys.shape[1])


def _bags(form: PublicForm, facing: Facing, street: int, runouts: slice, table: Int64) -> torch.Tensor:
    """[R · n, k] rows of sums for each hand, from those of the hand itself [R, n, k]."""
    dealt, hands = form.streets[street], len(facing.other_cards)
    alike = facing.alike[dealt.symmetry[runouts]]  # [R, n]
    dead = np.ones(alike.shape, dtype=np.bool_)
    dead[:, : dealt.dead[facing.own].shape[1]] = dealt.dead[facing.own][runouts]
    zeros = np.arange(len(alike))[:, None, None] * (hands + 1) + hands
    table = np.where(dead[:, :, None], zeros, np.take_along_axis(table, alike[:, :, None], axis=1))
    return torch.from_numpy(table.reshape(-1, table.shape[2]).astype(np.int32))


def _signs(facing: Facing, signs: tuple[int, ...], bags: int) -> torch.Tensor:
    if len(facing.signs.get(signs, ())) < bags:
        facing.signs[signs] = torch.tensor(signs).to(facing.holders).repeat(bags, 1)
    return facing.signs[signs][:bags]


def _empty_sums(rows: int, reach: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """[R · (m + 1) + rows, terminals], of which reach is filled in; and that part, [R, m + 1, terminals]."""
    runouts, terminals, hands = reach.shape
    sums = torch.empty((runouts * (hands + 1) + rows, terminals), dtype=dtype, device=reach.device)
    arriving = sums[: runouts * (hands + 1)].view(runouts, hands + 1, terminals)
    arriving[:, :hands] = reach.transpose(1, 2)
    arriving[:, hands] = 0.0
    return sums, arriving


def sum_bags(bags: torch.Tensor, sums: torch.Tensor, signs: torch.Tensor) -> torch.Tensor:
    """[bags, terminals] the signed sum of each bag's rows; MPS has no operation for that."""
    if sums.device.type == "mps":
        return sum_bags_by_column(bags, sums, signs)
    return torch.nn.functional.embedding_bag(bags, sums, mode="sum", per_sample_weights=signs)


def sum_bags_by_column(bags: torch.Tensor, sums: torch.Tensor, signs: torch.Tensor) -> torch.Tensor:
    """The same, one row of each bag after another."""
    total = torch.zeros((len(bags), sums.shape[1]), dtype=sums.dtype, device=sums.device)
    for rows, sign in zip(bags.unbind(1), signs.unbind(1), strict=True):
        total.addcmul_(sums.index_select(0, rows), sign[:, None])
    return total
