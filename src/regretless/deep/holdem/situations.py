"""What a player may see before and on the flop, up to the names of the suits: every hand on every runout of a form.

Hands that a renaming of suits exchanges are one situation: of all hands, there are 169 before the flop and 1,286,792 on
it, numbered by `cards.situations`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from regretless.cards.hands import hand_indices
from regretless.cards.situations import hand_situations, situation_at, situation_index
from regretless.deep.holdem.canonical import ABSENT, CARDS, FLOP, HOLE, canonical_cards
from regretless.forms.history import IntArray
from regretless.forms.public import PublicForm

__all__ = ["Situations", "find_situations"]


@dataclass(frozen=True)
class Situations:
    """The M situations of one street of a form, on its R runouts."""

    cards: Tensor  # [M, 7] int16                     canonical cards, as in observations
    row: tuple[IntArray, IntArray]  # [R, H] int32 per player: situation of a hand on a runout; 0 where it is blocked
    earlier: Tensor | None  # [M] int64               the situation on the street before; None on the first


def find_situations(form: PublicForm, device: torch.device) -> tuple[Situations, ...]:
    """The situations on both streets of a form that starts without a board and deals a flop.

    >>> from regretless.games import FlopHoldem
    >>> from regretless.holdem.games.flop_holdem import compile_flop_holdem
    >>> found = find_situations(compile_flop_holdem(FlopHoldem()), torch.device("cpu"))
    >>> [len(street.cards) for street in found]
    [169, 1286792]
    """
    found: list[Situations] = []
    numbers = np.empty(0, dtype=np.int32)  # those of the street before that occur
    for street in form.streets:
        held = [hand_indices(hands.cards) for hands in form.hands]
        index = hand_situations(street.cards.astype(np.uint8))
        by_player = [index[:, each] for each in held]
        before, numbers = numbers, np.unique(np.concatenate([each[each >= 0] for each in by_player]))
        hands, boards = situation_at(numbers, street.cards.shape[1])
        cards = torch.full((len(numbers), CARDS), ABSENT, dtype=torch.int16)
        cards[:, HOLE] = torch.from_numpy(hands.astype(np.int16))
        cards[:, FLOP.start : FLOP.start + boards.shape[1]] = torch.from_numpy(boards.astype(np.int16))
        earlier = np.searchsorted(before, situation_index(hands, boards[:, :0])) if found else None
        first, second = (np.searchsorted(numbers, np.maximum(each, numbers[0])).astype(np.int32) for each in by_player)
        found.append(
            Situations(
                cards=canonical_cards(cards).to(device),
                row=(first, second),
                earlier=None if earlier is None else torch.from_numpy(earlier).to(device),
            )
        )
    return tuple(found)
