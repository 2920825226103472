"""Hands and runouts as the CUDA kernels see them.

What is done for every hand is compiled by numba, since a batch may have thousands of spots.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.compiling import kernel
from regretless.engines.cuda.device import Array
from regretless.engines.cuda.public.records import (
    OWN_HAND,
    RUNOUT,
    SEGMENTS,
    STRIP,
    TERM,
    TILE,
    UNIT,
    Field,
    Packed,
    offsets_of,
)
from regretless.engines.formats import GOLDEN
from regretless.engines.layout import Layout
from regretless.forms.public import PublicForm

__all__ = [
    "Sums",
    "code_bytes",
    "fill_hands",
    "hand_tables",
    "has_equal_players",
    "list_sizes",
    "max_distinct",
    "max_sums",
]


@kernel
def fill_hands(
    block: NDArray[np.uint8],
    begins: NDArray[np.int64],
    width: int,
    deck: int,
    golden: int,
    permutations: NDArray[np.int16],
    alike: NDArray[np.int16],
    dead: NDArray[np.bool_],
    cards: NDArray[np.int16],
    same: NDArray[np.int16],
    strength: NDArray[np.int16],
    weight: NDArray[np.float64],
    units: NDArray[np.float64],
) -> None:
    """Fill the tables of a player's hands, padded to `width`, at the offsets `begins` [10 + units] in a block of zeros.

    In this order: `permutations`, `alike_hands`, `roundings`, `own_alive`, `own_cards`, `same`, `own_strength`,
    `card_first`, `card_hands`, `own_weight`, and for every unit the reach that it gives the weights. Padding hands are
    dead, hold no cards and represent themselves.
    """
    hands = len(weight)
    table = (
        block[begins[0] : begins[0] + 2 * width * len(permutations)].view(np.int16).reshape(len(permutations), width)
    )
    for row in range(len(permutations)):
        for hand in range(width):
            table[row, hand] = permutations[row, hand] if hand < hands else hand
    table = block[begins[1] : begins[1] + 2 * width * len(alike)].view(np.int16).reshape(len(alike), width)
    roundings = block[begins[2] : begins[2] + 4 * width * len(alike)].view(np.uint32).reshape(len(alike), width)
    for row in range(len(alike)):
        for hand in range(width):
            first = alike[row, hand] if hand < hands else hand
            table[row, hand] = first
            roundings[row, hand] = (np.int64(first) * golden) & 0xFFFFFFFF
    for row in range(len(dead)):
        for hand in range(hands):
            block[begins[3] + row * width + hand] = not dead[row, hand]
    both_cards = block[begins[4] : begins[4] + 2 * width].reshape(width, 2)
    others = block[begins[5] : begins[5] + 2 * width].view(np.int16)
    weights = block[begins[9] : begins[9] + 8 * width].view(np.float64)
    counts = np.zeros(deck + 2, dtype=np.int64)  # of hands that hold a card below each
    for hand in range(width):
        others[hand] = same[hand] if hand < hands else -1
        if hand < hands:
            weights[hand] = weight[hand]
        for side in range(2):
            card = cards[hand, side] if hand < hands else -1
            both_cards[hand, side] = deck if card < 0 else card
            counts[both_cards[hand, side] + 1] += 1
    table = block[begins[6] : begins[6] + 2 * width * len(strength)].view(np.int16).reshape(len(strength), width)
    for row in range(len(strength)):
        for hand in range(width):
            table[row, hand] = strength[row, hand] if hand < hands else -1
    card_first = block[begins[7] : begins[7] + 2 * (deck + 1)].view(np.int16)
    for card in range(deck + 1):
        counts[card + 1] += counts[card]
        card_first[card] = counts[card]
    card_hands = block[begins[8] : begins[8] + 2 * counts[deck]].view(np.int16)
    for hand in range(hands):
        for side in range(2):
            card = both_cards[hand, side]
            if card < deck:
                card_hands[counts[card]] = hand
                counts[card] += 1
    for unit in range(len(units)):
        begin = begins[10 + unit]
        reach = block[begin : begin + 4 * width].view(np.float32)
        for hand in range(hands):
            reach[hand] = weight[hand] * units[unit]


@kernel
def max_distinct(
    mine: NDArray[np.int16], my_cards: NDArray[Any], theirs: NDArray[np.int16], their_cards: NDArray[Any], deck: int
) -> tuple[int, int]:
    """The most groups and pairs on a runout.

    Strengths, `mine` and `theirs` [runouts, hands], are below 0 for a hand that is not possible. Own hands that beat
    and tie the same hands form a group; those with a common card that beat and tie the same hands with this card, a
    pair. Cards [hands, 2] are `deck` where there is none.
    """
    max_groups = max_pairs = 0
    words = deck // 64 + 1
    levels = 0
    for strength in (mine, theirs):
        for runout in range(strength.shape[0]):
            for hand in range(strength.shape[1]):
                levels = max(levels, strength[runout, hand] + 1)
    # By strength and player: a bit per card, and one that is set if there is any hand.
    cards_of = np.empty((levels, 2, words), dtype=np.uint64)
    levels_found = np.empty(levels // 64 + 1, dtype=np.uint64)  # a bit per strength that a hand has
    between = np.empty(words, dtype=np.uint64)  # whether own hands follow the opponent's last one
    one, everyone = np.uint64(1), np.uint64(1) << np.uint64(deck % 64)
    for runout in range(mine.shape[0]):
        levels_found[:] = 0
        between[:] = 0
        for player in range(2):
            strength, cards = (mine, my_cards) if player == 0 else (theirs, their_cards)
            for hand in range(strength.shape[1]):
                level = strength[runout, hand]
                if level < 0:
                    continue
                if levels_found[level // 64] >> np.uint64(level % 64) & one == 0:
                    levels_found[level // 64] |= one << np.uint64(level % 64)
                    cards_of[level] = 0
                for side in range(2):
                    card = cards[hand, side]
                    if card < deck:
                        cards_of[level, player, card // 64] |= one << np.uint64(card % 64)
                cards_of[level, player, deck // 64] |= everyone
        groups = pairs = 0
        for block in range(len(levels_found)):
            left = levels_found[block]
            while left != 0:
                rest = left & (left - one)
                level = 64 * block + int(np.log2(np.float64(left ^ rest)))  # of the lowest bit
                left = rest
                for word in range(words):
                    own_cards, other_cards = cards_of[level, 0, word], cards_of[level, 1, word]
                    alone = own_cards & ~other_cards
                    new = (own_cards & other_cards) | (alone & ~between[word])
                    between[word] = (between[word] | alone) & ~other_cards
                    if word == deck // 64 and new & everyone != 0:
                        groups += 1
                        new ^= everyone
                    while new != 0:
                        new &= new - one
                        pairs += 1
        max_groups, max_pairs = max(max_groups, groups), max(max_pairs, pairs)
    return max_groups, max_pairs


FOUR = 4  # operations that a kernel reads at once, or steps of a product

Sharing = tuple[tuple[int, ...], ...]  # sets of players that have the same tables of hands
TOGETHER: Sharing = ((0, 1),)
APART: Sharing = ((0,), (1,))


def _fields(sharing: Sharing) -> Iterator[tuple[Field, ...]]:
    """The fields that point to each table, in the order of the tables."""
    for name in ("runouts", "terms", "alike_cards"):
        yield (0, name), (1, name)
    for mine in sharing:
        theirs = tuple(1 - own for own in mine)  # jobs
        for jobs, name, other_name in (
            (mine, "permutations", ""),
            (mine, "alike_hands", ""),
            (mine, "roundings", ""),
            (mine, "own_alive", "other_alive"),
            (mine, "own_cards", "other_cards"),
            (mine, "same", ""),
            (mine, "own_strength", "other_strength"),
            (theirs, "card_first", ""),
            (theirs, "card_hands", ""),
            (mine, "own_weight", ""),
        ):
            others = theirs if other_name else ()
            yield (*((job, name) for job in jobs), *((job, other_name) for job in others))
        yield from (((job, "other_reach"),) for job in theirs)


FIELDS = {sharing: tuple(_fields(sharing)) for sharing in (TOGETHER, APART)}
HAND_TABLES = 10  # of a set of players, and one for the reach in each job of the others


def hand_tables(layout: Layout, units: Sequence[float]) -> Packed:
    """The tables of a spot that do not change, and the fields of both jobs that point to each.

    `units` multiply all values, one for each updating player.
    """
    form = layout.form
    of_each = TOGETHER if has_equal_players(form) else APART  # who shares tables
    symmetries, deck = form.symmetry.cards, form.deck
    runouts, terms = _runouts(form), _terms(form)
    sizes = [runouts.nbytes, terms.nbytes, len(symmetries) * (deck + 1)]
    for mine in of_each:
        player, n = mine[0], int(layout.hands[mine[0]])
        cards = int(np.count_nonzero(form.hands[player].cards >= 0))  # of all hands
        sizes += [2 * n * len(form.permutations[player]), 2 * n * len(symmetries), 4 * n * len(symmetries)]
        sizes += [n * len(runouts), 2 * n, 2 * n, 2 * n * len(form.strength[player])]
        sizes += [2 * (deck + 1), 2 * cards, 8 * n, *(4 * n for _ in mine)]
    offsets = offsets_of(tuple(sizes), FIELDS[of_each])
    block = np.zeros(offsets.size, dtype=np.uint8)
    for table, begin in ((runouts, offsets.begins[0]), (terms, offsets.begins[1])):
        if len(table):
            block[begin : begin + table.nbytes] = table.reshape(-1).view(np.uint8)
    alike_cards = block[offsets.begins[2] :][: sizes[2]].reshape(len(symmetries), deck + 1)
    alike_cards[:, :deck], alike_cards[:, deck] = symmetries, deck
    begins = np.array(offsets.begins, dtype=np.int64)
    first = 3
    for mine in of_each:
        player = mine[0]
        hands, dead = form.hands[player], [street.dead[player] for street in form.streets]
        fill_hands(
            block,
            begins[first : first + HAND_TABLES + len(mine)],
            int(layout.hands[player]),
            deck,
            GOLDEN,
            _rows(form.permutations[player]),
            _rows(form.symmetry.hands[player]),
            dead[0] if len(dead) == 1 else np.concatenate(dead),
            _rows(hands.cards),
            _rows(hands.same),
            _rows(form.strength[player]),
            np.ascontiguousarray(hands.weight, dtype=np.float64),
            np.array([units[1 - own] for own in mine]),
        )
        first += HAND_TABLES + len(mine)
    return Packed(block, offsets)


def _rows(numbers: Array) -> Array:
    """Numbers of hands or cards as the tables have them."""
    return np.ascontiguousarray(numbers, dtype=np.int16)


def has_equal_players(form: PublicForm) -> bool:
    """Whether both players have the same arrays, as in hold'em with equal ranges."""
    pairs = (form.hands, form.permutations, form.symmetry.hands, form.strength, *(each.dead for each in form.streets))
    return all(first is second for first, second in pairs)


class Sums(NamedTuple):
    """The most sums that a player's showdowns need on a final runout, and the most operations that form them."""

    groups: int
    pairs: int
    operations: int


def list_sizes(layout: Layout, own: int, *, products: bool) -> dict[str, int]:
    """Bytes of each list that `kernels/lists.cu` fills, except the operations, whose number differs among spots.

    If terminals are products, bytes of their matrices as well.
    """
    n, m, finals = int(layout.hands[own]), int(layout.hands[1 - own]), int(layout.runouts[-1])
    return {
        "codes": finals * code_bytes(n, m) if products else 0,
        "units": finals * (SEGMENTS + layout.form.deck + 1) * UNIT.itemsize,
        "own_list": finals * n * OWN_HAND.itemsize,
        "fold_list": len(layout.form.symmetry.cards) * n * OWN_HAND.itemsize,
    }


def code_bytes(own_hands: int, other_hands: int) -> int:
    """Bytes of the matrices of a final runout (`kernels/products.cu`): two bits for every pair of hands, padded."""
    strips, steps = -(-own_hands // STRIP), -(-other_hands // (TILE * FOUR)) * FOUR
    return strips * steps * STRIP * TILE // 4


def max_sums(form: PublicForm, own: int) -> Sums:
    """What the showdowns of a player need at most on a final runout."""
    mine, theirs = (np.where(each.cards < 0, form.deck, each.cards) for each in (form.hands[own], form.hands[1 - own]))
    # In one order: NumPy's may be either, and differs between the players if one of them has a single hand.
    my_strength, their_strength = (_rows(form.strength[player]) for player in (own, 1 - own))
    groups, pairs = max_distinct(my_strength, mine, their_strength, theirs, form.deck)
    # An operation per hand of the opponent, overall and by card; one for what is emitted after them, then padding.
    operations = 3 * len(theirs) + FOUR * (SEGMENTS + form.deck)
    return Sums(groups, pairs, -(-operations // FOUR) * FOUR)


def _runouts(form: PublicForm) -> Array:
    records, first_term = [], 0
    for number, street in enumerate(form.streets):
        part = np.zeros(len(street.parent), dtype=RUNOUT)
        part["parent"], part["symmetry"] = street.parent if number else -1, street.symmetry
        if number + 1 < len(form.streets):
            below = form.streets[number + 1]
            part["first_term"] = first_term + below.first_copy[street.first_child[:-1]]
            part["last_term"] = first_term + below.first_copy[street.first_child[1:]]
            first_term += len(below.copies)
        records.append(part)
    return np.concatenate(records)


def _terms(form: PublicForm) -> Array:
    records = []
    for street in form.streets[1:]:
        part = np.zeros(len(street.copies), dtype=TERM)
        child = np.repeat(np.arange(len(street.parent)), np.diff(street.first_copy))
        part["child"], part["permutation"], part["probability"] = child, street.copies, street.probability[child]
        records.append(part)
    return np.concatenate(records) if records else np.zeros(0, dtype=TERM)
