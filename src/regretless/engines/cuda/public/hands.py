"""Hands and runouts as the CUDA kernels see them.

What is done for every hand is compiled by numba, since a batch may have thousands of spots.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.compiling import kernel
from regretless.engines.cuda.device import Array
from regretless.engines.cuda.public.live import LiveHands
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
from regretless.engines.layout import Layout, block_ends
from regretless.forms.public import PublicForm

__all__ = [
    "HandCounts",
    "Sums",
    "code_bytes",
    "fill_hands",
    "hand_shapes",
    "hand_tables",
    "has_equal_players",
    "list_sizes",
    "max_distinct",
    "max_sums",
]


FOUR = 4  # operations that a kernel reads at once, or steps of a product


class HandCounts(NamedTuple):
    """What the sizes of a player's tables depend on."""

    hands: int  # padded
    cards: int  # of all hands together
    deck: int
    permutations: int
    symmetries: int  # ways in which hands are equivalent
    runouts: int  # of all streets
    finals: int  # of the last street
    places: int = 0  # of a final runout, if it has only live hands (`live.py`)


def hand_shapes(counts: HandCounts) -> dict[str, tuple[tuple[int, ...], type[np.generic]]]:
    """The shape and type of each table of a player's hands, by the field of the jobs that points to it."""
    n, deck = counts.hands, counts.deck
    return {
        "permutations": ((counts.permutations, n), np.int16),
        "alike_hands": ((counts.symmetries, n), np.int16),
        "roundings": ((counts.symmetries, n), np.uint32),
        "own_alive": ((counts.runouts, n), np.uint8),
        "own_cards": ((n, 2), np.uint8),
        "same": ((n,), np.int16),
        "own_strength": ((counts.finals, counts.places or n), np.int16),
        "card_first": ((deck + 1,), np.int16),
        "card_hands": ((counts.cards,), np.int16),
        "own_weight": ((n,), np.float64),
        "other_reach": ((n,), np.float32),  # a table for each job of the other player
        "own_places": ((counts.finals if counts.places else 0, counts.places), np.int16),
        "own_positions": ((counts.finals if counts.places else 0, n), np.int16),
    }


# The other player's job points to some tables under another name, and to some alone.
ALSO_OTHER = {f"own_{name}": f"other_{name}" for name in ("alive", "cards", "strength", "places", "positions")}
OTHER_ALONE = ("card_first", "card_hands", "other_reach")
PLACES = ("own_places", "own_positions")  # filled apart from the others


@kernel
def fill_hands(
    deck: int,
    golden: int,
    permutations: NDArray[np.int16],
    alike: NDArray[np.int16],
    dead: NDArray[np.bool_],
    cards: NDArray[np.int16],
    same: NDArray[np.int16],
    strength: NDArray[np.int16],
    weight: NDArray[np.float64],
    permutations_table: NDArray[np.int16],
    alike_hands: NDArray[np.int16],
    roundings: NDArray[np.uint32],
    own_alive: NDArray[np.uint8],
    own_cards: NDArray[np.uint8],
    same_table: NDArray[np.int16],
    own_strength: NDArray[np.int16],
    card_first: NDArray[np.int16],
    card_hands: NDArray[np.int16],
    own_weight: NDArray[np.float64],
) -> None:
    """Fill the tables of `hand_shapes`, all zeros, from a player's arrays.

    The tables are padded to more hands: these are dead, hold no cards and represent themselves.
    """
    hands, width = len(weight), len(same_table)
    for row in range(len(permutations)):
        for hand in range(width):
            permutations_table[row, hand] = permutations[row, hand] if hand < hands else hand
    for row in range(len(alike)):
        for hand in range(width):
            first = alike[row, hand] if hand < hands else hand
            alike_hands[row, hand] = first
            roundings[row, hand] = (np.int64(first) * golden) & 0xFFFFFFFF
    for row in range(len(dead)):
        for hand in range(hands):
            own_alive[row, hand] = not dead[row, hand]
    counts = np.zeros(deck + 2, dtype=np.int64)  # of hands that hold a card below each
    for hand in range(width):
        same_table[hand] = same[hand] if hand < hands else -1
        if hand < hands:
            own_weight[hand] = weight[hand]
        for side in range(2):
            card = cards[hand, side] if hand < hands else -1
            own_cards[hand, side] = deck if card < 0 else card
            counts[own_cards[hand, side] + 1] += 1
    for row in range(len(strength)):
        for hand in range(own_strength.shape[1]):
            own_strength[row, hand] = strength[row, hand] if hand < strength.shape[1] else -1
    for card in range(deck + 1):
        counts[card + 1] += counts[card]
        card_first[card] = counts[card]
    for hand in range(hands):
        for side in range(2):
            card = own_cards[hand, side]
            if card < deck:
                card_hands[counts[card]] = hand
                counts[card] += 1


@kernel
def max_distinct(
    own_strength: NDArray[np.int16], own_cards: Array, other_strength: NDArray[np.int16], other_cards: Array, deck: int
) -> tuple[int, int]:
    """The most groups and pairs on a runout.

    Strengths [runouts, hands] are below 0 for a hand that is not possible. Own hands that beat
    and tie the same hands form a group; those with a common card that beat and tie the same hands with this card, a
    pair. Cards [hands, 2] are `deck` where there is none.
    """
    max_groups = max_pairs = 0
    words = deck // 64 + 1
    levels = 0
    for strength in (own_strength, other_strength):
        for runout in range(strength.shape[0]):
            for hand in range(strength.shape[1]):
                levels = max(levels, strength[runout, hand] + 1)
    # By strength and player: a bit per card, and one that is set if there is any hand.
    cards_of = np.empty((levels, 2, words), dtype=np.uint64)
    occurring = np.empty(levels // 64 + 1, dtype=np.uint64)  # a bit per strength that a hand has
    between = np.empty(words, dtype=np.uint64)  # whether own hands follow the opponent's last one
    one, everyone = np.uint64(1), np.uint64(1) << np.uint64(deck % 64)
    for runout in range(own_strength.shape[0]):
        occurring[:] = 0
        between[:] = 0
        for player in range(2):
            strength, cards = (own_strength, own_cards) if player == 0 else (other_strength, other_cards)
            for hand in range(strength.shape[1]):
                level = strength[runout, hand]
                if level < 0:
                    continue
                if occurring[level // 64] >> np.uint64(level % 64) & one == 0:
                    occurring[level // 64] |= one << np.uint64(level % 64)
                    cards_of[level] = 0
                for side in range(2):
                    card = cards[hand, side]
                    if card < deck:
                        cards_of[level, player, card // 64] |= one << np.uint64(card % 64)
                cards_of[level, player, deck // 64] |= everyone
        groups = pairs = 0
        for block in range(len(occurring)):
            left = occurring[block]
            while left != 0:
                rest = left & (left - one)
                level = 64 * block + int(np.log2(np.float64(left ^ rest)))  # of the lowest bit
                left = rest
                for word in range(words):
                    own_bits, other_bits = cards_of[level, 0, word], cards_of[level, 1, word]
                    alone = own_bits & ~other_bits
                    new = (own_bits & other_bits) | (alone & ~between[word])
                    between[word] = (between[word] | alone) & ~other_bits
                    if word == deck // 64 and new & everyone != 0:
                        groups += 1
                        new ^= everyone
                    while new != 0:
                        new &= new - one
                        pairs += 1
        max_groups, max_pairs = max(max_groups, groups), max(max_pairs, pairs)
    return max_groups, max_pairs


def hand_tables(layout: Layout, units: Sequence[float], live: tuple[LiveHands, LiveHands] | None = None) -> Packed:
    """The tables of a spot that do not change, and the fields of both jobs that point to each.

    `units` multiply all values, one for each updating player; `live`: the only hands of final runouts.
    """
    form = layout.form
    symmetries, deck = form.symmetry.cards, form.deck
    runouts, terms = _runouts(form), _terms(form)
    both: tuple[int, ...] = (0, 1)
    sharing = (both,) if has_equal_players(form) else ((0,), (1,))  # players that have the same tables
    sizes = [runouts.nbytes, terms.nbytes, len(symmetries) * (deck + 1)]
    fields: list[tuple[Field, ...]] = [*SPOT_FIELDS]
    shapes = []
    for owners in sharing:
        counts = HandCounts(
            hands=int(layout.hands[owners[0]]),
            cards=int(np.count_nonzero(form.hands[owners[0]].cards >= 0)),
            deck=deck,
            permutations=len(form.permutations[owners[0]]),
            symmetries=len(symmetries),
            runouts=len(runouts),
            finals=len(form.strength[owners[0]]),
            places=0 if live is None else live[owners[0]].places.shape[1],
        )
        shapes.append(hand_shapes(counts))
        fields += HAND_FIELDS[owners]
        for name, (shape, kind) in shapes[-1].items():
            sizes += [prod(shape) * np.dtype(kind).itemsize] * (len(owners) if name == "other_reach" else 1)
    offsets = offsets_of(tuple(sizes), tuple(fields))
    block = np.zeros(offsets.size, dtype=np.uint8)
    contents = iter([block[begin : begin + size] for begin, size in zip(offsets.begins, sizes, strict=True)])
    for table in (runouts, terms):
        next(contents)[:] = table.reshape(-1).view(np.uint8)
    alike_cards = next(contents).reshape(len(symmetries), deck + 1)
    alike_cards[:, :deck], alike_cards[:, deck] = symmetries, deck
    for owners, tables in zip(sharing, shapes, strict=True):
        player, filled = owners[0], [tables[name] for name in tables if name not in ("other_reach", *PLACES)]
        hands, dead = form.hands[player], [street.dead[player] for street in form.streets]
        fill_hands(
            deck,
            GOLDEN,
            _rows(form.permutations[player]),
            _rows(form.symmetry.hands[player]),
            dead[0] if len(dead) == 1 else np.concatenate(dead),
            _rows(hands.cards),
            _rows(hands.same),
            _strength(form, player, live),
            np.ascontiguousarray(hands.weight, dtype=np.float64),
            *(next(contents).view(kind).reshape(shape) for shape, kind in filled),
        )
        for own in owners:
            next(contents).view(np.float32)[: len(hands.weight)] = hands.weight * units[1 - own]
        for name in PLACES:
            table = next(contents)
            if live is not None:
                numbers = live[player].places if name == "own_places" else live[player].positions
                table.view(np.int16)[:] = numbers.ravel()
    return Packed(block, offsets)


SPOT_FIELDS = tuple(((0, name), (1, name)) for name in ("runouts", "terms", "alike_cards"))


def _hand_fields(owners: tuple[int, ...]) -> Iterator[tuple[Field, ...]]:
    """The fields that point to each table of these players' hands, in the order of the tables."""
    others = [1 - own for own in owners]
    for name in hand_shapes(HandCounts(0, 0, 0, 0, 0, 0, 0)):
        if name == "other_reach":
            yield from (((job, name),) for job in others)
            continue
        own_fields = () if name in OTHER_ALONE else tuple((job, name) for job in owners)
        other_name = name if name in OTHER_ALONE else ALSO_OTHER.get(name)
        yield own_fields if other_name is None else (*own_fields, *((job, other_name) for job in others))


_OWNERS: tuple[tuple[int, ...], ...] = ((0,), (1,), (0, 1))
HAND_FIELDS = {owners: tuple(_hand_fields(owners)) for owners in _OWNERS}


def _strength(form: PublicForm, player: int, live: tuple[LiveHands, LiveHands] | None) -> Array:
    """[finals, hands or places] how strong hands are."""
    strength = _rows(form.strength[player])
    if live is None:
        return strength
    places = live[player].places
    return np.where(places < 0, np.int16(-1), np.take_along_axis(strength, np.maximum(places, 0), axis=1))


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


def list_sizes(layout: Layout, last_hands: tuple[int, int], own: int, *, products: bool) -> dict[str, int]:
    """Bytes of each list that `kernels/lists.cu` fills, except the operations, whose number differs among spots.

    `last_hands` are the own and the opponent's hands, padded, of a final runout. If terminals are products, bytes of
    their matrices as well.
    """
    (n, m), finals = last_hands, int(layout.runouts[-1])
    return {
        "codes": finals * code_bytes(n, m) if products else 0,
        "units": finals * (SEGMENTS + layout.form.deck + 1) * UNIT.itemsize,
        "own_list": finals * n * OWN_HAND.itemsize,
        "fold_list": len(layout.form.symmetry.cards) * int(layout.hands[own]) * OWN_HAND.itemsize,
    }


def code_bytes(own_hands: int, other_hands: int) -> int:
    """Bytes of the matrices of a final runout (`kernels/products.cu`): two bits for every pair of hands, padded."""
    strips, steps = -(-own_hands // STRIP), -(-other_hands // (TILE * FOUR)) * FOUR
    return strips * steps * STRIP * TILE // 4


def max_sums(form: PublicForm, own: int) -> Sums:
    """What the showdowns of a player need at most on a final runout."""
    players = (own, 1 - own)
    own_cards, other_cards = (
        np.where(form.hands[player].cards < 0, form.deck, form.hands[player].cards) for player in players
    )
    # In one order: NumPy's may be either, and differs between the players if one of them has a single hand.
    own_strength, other_strength = (_rows(form.strength[player]) for player in players)
    groups, pairs = max_distinct(own_strength, own_cards, other_strength, other_cards, form.deck)
    # An operation per hand of the opponent, overall and by card; one for what is emitted after them, then padding.
    operations = 3 * len(other_cards) + FOUR * (SEGMENTS + form.deck)
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
    for number, street in enumerate(form.streets[1:], 1):
        part = np.zeros(len(street.copies), dtype=TERM)
        child = np.repeat(np.arange(len(street.parent)), np.diff(street.first_copy))
        part["child"], part["permutation"], part["probability"] = child, street.copies, street.probability[child]
        # On the second street there are several blocks; later, all that follow a runout are one.
        ends = np.array(block_ends(form)) if number == 1 else form.streets[number - 1].first_child
        part["ends_block"][street.first_copy[ends[1:][np.diff(ends) > 0]] - 1] = 1
        records.append(part)
    return np.concatenate(records) if records else np.zeros(0, dtype=TERM)
