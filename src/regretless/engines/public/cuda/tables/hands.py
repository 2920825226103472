"""Hands and runouts as the CUDA kernels see them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.engines.public.cuda.tables._hand_kernels import fill_hands, most_distinct
from regretless.engines.public.cuda.tables.packing import Field, Packed, places_of
from regretless.engines.public.cuda.tables.records import OWN_HAND, RUNOUT, SEGMENTS, STRIP, TERM, TILE, UNIT
from regretless.engines.public.formats import GOLDEN
from regretless.engines.public.layout import Layout
from regretless.forms.public import PublicForm

__all__ = ["Sums", "code_bytes", "hand_tables", "has_equal_players", "list_sizes", "most_sums"]

Array = NDArray[Any]

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
            (theirs, "held_first", ""),
            (theirs, "held_hands", ""),
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
        held = int(np.count_nonzero(form.hands[player].cards >= 0))
        sizes += [2 * n * len(form.permutations[player]), 2 * n * len(symmetries), 4 * n * len(symmetries)]
        sizes += [n * len(runouts), 2 * n, 2 * n, 2 * n * len(form.strength[player])]
        sizes += [2 * (deck + 1), 2 * held, 8 * n, *(4 * n for _ in mine)]
    places = places_of(tuple(sizes), FIELDS[of_each])
    block = np.zeros(places.size, dtype=np.uint8)
    for table, begin in ((runouts, places.begins[0]), (terms, places.begins[1])):
        if len(table):
            block[begin : begin + table.nbytes] = table.reshape(-1).view(np.uint8)
    alike_cards = block[places.begins[2] :][: sizes[2]].reshape(len(symmetries), deck + 1)
    alike_cards[:, :deck], alike_cards[:, deck] = symmetries, deck
    begins = np.array(places.begins, dtype=np.int64)
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
    return Packed(block, places)


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


def most_sums(form: PublicForm, own: int) -> Sums:
    """What the showdowns of a player need at most on a final runout."""
    mine, theirs = (np.where(each.cards < 0, form.deck, each.cards) for each in (form.hands[own], form.hands[1 - own]))
    # In one order: NumPy's may be either, and differs between the players if one of them has a single hand.
    my_strength, their_strength = (_rows(form.strength[player]) for player in (own, 1 - own))
    groups, pairs = most_distinct(my_strength, mine, their_strength, theirs, form.deck)
    # An operation per hand of the opponent, overall and by card; one for what is emitted after them, then padding.
    operations = 3 * len(theirs) + FOUR * (SEGMENTS + form.deck)
    return Sums(groups, pairs, -(-operations // FOUR) * FOUR)


def _runouts(form: PublicForm) -> Array:
    found, first_term = [], 0
    for number, street in enumerate(form.streets):
        part = np.zeros(len(street.parent), dtype=RUNOUT)
        part["parent"], part["symmetry"] = street.parent if number else -1, street.symmetry
        if number + 1 < len(form.streets):
            below = form.streets[number + 1]
            part["first_term"] = first_term + below.first_copy[street.first_child[:-1]]
            part["last_term"] = first_term + below.first_copy[street.first_child[1:]]
            first_term += len(below.copies)
        found.append(part)
    return np.concatenate(found)


def _terms(form: PublicForm) -> Array:
    found = []
    for street in form.streets[1:]:
        part = np.zeros(len(street.copies), dtype=TERM)
        part["child"] = np.repeat(np.arange(len(street.parent)), np.diff(street.first_copy))
        part["permutation"], part["probability"] = street.copies, street.probability
        found.append(part)
    return np.concatenate(found) if found else np.zeros(0, dtype=TERM)
