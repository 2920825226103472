"""Folds and showdowns of all terminals of a street on all runouts of a batch, as tensors [terminals, R, H].

With r the opponent's reach, a hand with cards c and d meets V = all − S[c] − S[d] + r[same hand], where S[c] is the
reach of the opponent's hands with card c: one matrix product. For showdowns, W is the same sum over weaker hands and E
over weaker or equal ones. Both follow from running sums in order of strength, over all of the opponent's hands and, for
each card, over those that have it; how far along each list a hand has to look is found once per batch.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from regretless.forms.bucketed import BucketedForm

__all__ = ["Facing", "Order"]


class Facing:
    """The hands of one player against those of the other: n own hands, m of the opponent."""

    def __init__(self, form: BucketedForm, own: int, device: torch.device, dtype: torch.dtype) -> None:
        deck, mine, theirs = form.deck, form.hands[own], form.hands[1 - own]
        self.deck, self.dtype = deck, dtype
        cards, other_cards = (np.where(held.cards < 0, deck, held.cards).astype(np.int64) for held in (mine, theirs))
        holders = np.zeros((len(other_cards), deck + 1))
        for side in range(2):
            holders[np.arange(len(other_cards)), other_cards[:, side]] = 1.0
        holders[:, deck] = 0.0  # no card
        longest = max(int(holders.sum(axis=0).max()), 1)
        members = np.full((deck + 1, longest), len(other_cards), dtype=np.int64)  # m: a hand without reach
        for card in range(deck):
            found = np.flatnonzero(holders[:, card])
            members[card, : len(found)] = found
        same = np.where(mine.same < 0, len(other_cards), mine.same).astype(np.int64)
        self.holders = torch.from_numpy(holders).to(device, dtype)  # [m, deck + 1]
        self.cards, self.members, self.same = (torch.from_numpy(each).to(device) for each in (cards, members, same))

    def every(self, reach: Tensor) -> Tensor:
        """[terminals, R, n] V, from reach [terminals, R, m]."""
        by_card = reach @ self.holders
        total = reach.sum(dim=2, keepdim=True)
        blocked = by_card[:, :, self.cards[:, 0]] + by_card[:, :, self.cards[:, 1]]
        return total - blocked + self.with_same_cards(reach)

    def with_same_cards(self, reach: Tensor) -> Tensor:
        """[terminals, R, n] reach of the opponent's hand with the same two cards."""
        return torch.nn.functional.pad(reach, (0, 1))[:, :, self.same]


class Order:
    """The order of strength on the runouts of a batch, from `mine` [R, n] and `theirs` [R, m]."""

    def __init__(self, facing: Facing, mine: Tensor, theirs: Tensor) -> None:
        self.facing = facing
        runouts = len(mine)
        beyond = torch.nn.functional.pad(theirs, (0, 1), value=2**14)  # the hand without reach is the strongest
        ordered, self.order = torch.sort(theirs, dim=1, stable=True)
        listed = beyond[:, facing.members.view(-1)].view(runouts, *facing.members.shape)  # [R, deck + 1, longest]
        by_card, places = torch.sort(listed, dim=2, stable=True)
        members = facing.members[None].expand(runouts, -1, -1)
        self.members = torch.gather(members, 2, places).reshape(runouts, -1)  # [R, (deck + 1) · longest]
        own = mine.contiguous()
        self.all_counts = [torch.searchsorted(ordered, own, right=right) for right in (False, True)]  # [R, n]
        self.card_counts = [self._with_cards(by_card, own, right) for right in (False, True)]  # [R, n, 2]

    def _with_cards(self, by_card: Tensor, own: Tensor, right: bool) -> Tensor:
        """[R, n, 2] where the sum over the weaker hands with each card is: in rows of `longest` + 1 sums per card."""
        counts = []
        for side in range(2):
            card = self.facing.cards[:, side]
            lists = by_card[:, card]  # [R, n, longest]
            weaker = (lists <= own[:, :, None]) if right else (lists < own[:, :, None])
            counts.append(card * (by_card.shape[2] + 1) + weaker.sum(dim=2))
        return torch.stack(counts, dim=2)

    def weaker_and_equal(self, reach: Tensor) -> tuple[Tensor, Tensor]:
        """[terminals, R, n] W and E, from reach [terminals, R, m]."""
        terminals, runouts, _ = reach.shape
        padded = torch.nn.functional.pad(reach, (0, 1))
        sorted_reach = torch.gather(reach, 2, self.order.expand(terminals, -1, -1))
        running = torch.nn.functional.pad(sorted_reach.cumsum(2), (1, 0))
        lists = torch.gather(padded, 2, self.members.expand(terminals, -1, -1))
        lists = lists.view(terminals, runouts, self.facing.deck + 1, -1)
        by_card = torch.nn.functional.pad(lists.cumsum(3), (1, 0)).view(terminals, runouts, -1)
        found = []
        for every, with_cards in zip(self.all_counts, self.card_counts, strict=True):
            met = torch.gather(running, 2, every.expand(terminals, -1, -1))
            for side in range(2):
                met = met - torch.gather(by_card, 2, with_cards[:, :, side].expand(terminals, -1, -1))
            found.append(met)
        weaker, equal = found
        return weaker, equal + self.facing.with_same_cards(reach)
