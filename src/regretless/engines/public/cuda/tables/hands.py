"""Hands and runouts as the CUDA kernels see them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.engines.public.cuda.tables._distinct_kernels import most_distinct
from regretless.engines.public.cuda.tables.packing import Field
from regretless.engines.public.cuda.tables.records import OWN_HAND, RUNOUT, SEGMENTS, TERM, UNIT
from regretless.engines.public.formats import GOLDEN
from regretless.engines.public.layout import Layout
from regretless.forms.public import DEAD, PublicForm

__all__ = ["Sums", "hand_tables", "has_equal_players", "list_sizes", "most_sums"]

Array = NDArray[Any]

FOUR = 4  # operations that a kernel reads at once


def hand_tables(layout: Layout, units: Sequence[float]) -> Iterator[tuple[Array, Sequence[Field]]]:
    """The tables of a spot that do not change, and the fields of both jobs that point to each.

    `units` multiply all values, one for each updating player.
    """
    form = layout.form
    both = range(2)
    of_each: Sequence[Sequence[int]] = ((0, 1),) if has_equal_players(form) else ((0,), (1,))  # who shares tables
    yield _runouts(form), [(own, "runouts") for own in both]
    yield _terms(form), [(own, "terms") for own in both]
    alike_cards = _padded(form.symmetry.cards, form.deck + 1, form.deck, np.uint8)
    yield alike_cards, [(own, "alike_cards") for own in both]
    for mine in of_each:
        one, theirs = mine[0], [1 - own for own in mine]  # jobs
        n = int(layout.hands[one])
        cards, alike = _cards(form, one, n), _hand_rows(form.symmetry.hands[one], n)
        first, held = _held(cards, form.deck)
        yield _hand_rows(form.permutations[one], n), _fields(mine, "permutations")
        yield alike, _fields(mine, "alike_hands")
        yield alike.astype(np.uint32) * np.uint32(GOLDEN), _fields(mine, "roundings")
        yield _alive(form, one, n), _fields(mine, "own_alive") + _fields(theirs, "other_alive")
        yield cards, _fields(mine, "own_cards") + _fields(theirs, "other_cards")
        yield _padded(form.hands[one].same, n, -1, np.int16), _fields(mine, "same")
        strength = _padded(form.strength[one], n, DEAD, np.int16)
        yield strength, _fields(mine, "own_strength") + _fields(theirs, "other_strength")
        yield first.astype(np.int16), _fields(theirs, "held_first")
        yield held.astype(np.int16), _fields(theirs, "held_hands")
        yield _padded(form.hands[one].weight, n, 0, np.float64), _fields(mine, "own_weight")
    for own in both:
        reach = form.hands[1 - own].weight * units[own]
        yield _padded(reach, int(layout.hands[1 - own]), 0, np.float32), [(own, "other_reach")]


def has_equal_players(form: PublicForm) -> bool:
    """Whether both players have the same arrays, as in hold'em with equal ranges."""
    pairs = (form.hands, form.permutations, form.symmetry.hands, form.strength, *(each.dead for each in form.streets))
    return all(first is second for first, second in pairs)


def _fields(jobs: Sequence[int], name: str) -> list[Field]:
    return [(job, name) for job in jobs]


class Sums(NamedTuple):
    """The most sums that a player's showdowns need on a final runout, and the most operations that form them."""

    groups: int
    pairs: int
    operations: int


def list_sizes(layout: Layout, own: int, sums: Sums) -> dict[str, tuple[int, np.dtype[Any]]]:
    """Number and type of the elements of each list that `kernels/lists.cu` fills."""
    n, finals = int(layout.hands[own]), int(layout.runouts[-1])
    return {
        "operations": (finals * sums.operations, np.dtype(np.uint32)),
        "units": (finals * (SEGMENTS + layout.form.deck + 1), UNIT),
        "own_list": (finals * n, OWN_HAND),
        "fold_list": (len(layout.form.symmetry.cards) * n, OWN_HAND),
    }


def most_sums(form: PublicForm, own: int) -> Sums:
    """What the showdowns of a player need at most on a final runout."""
    cards = form.hands[own].cards
    groups, pairs = most_distinct(form.strength[own], np.where(cards < 0, form.deck, cards), form.deck)
    # An operation per hand of the opponent, overall and by card, and one per group or pair that no hand equals.
    operations = 3 * len(form.hands[1 - own].weight) + groups + pairs + (FOUR - 1) * (SEGMENTS + form.deck)
    return Sums(groups, pairs, -(-operations // FOUR) * FOUR)


def _held(cards: Array, deck: int) -> tuple[Array, Array]:
    """The hands [.] that hold each card, card by card, and where those of a card begin [deck + 1]."""
    by_card = np.argsort(cards, axis=None, kind="stable")
    first = np.searchsorted(cards.ravel()[by_card], np.arange(deck + 1))
    return first, by_card[: first[-1]] // 2


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


def _hand_rows(rows: Array, width: int) -> Array:
    """[rows, width] numbers of hands; a padding hand is its own."""
    wide = np.tile(np.arange(width, dtype=np.int16), (len(rows), 1))
    wide[:, : rows.shape[1]] = rows
    return wide


def _padded(rows: Array, width: int, fill: int, dtype: type[np.generic]) -> Array:
    """The last dimension filled up to `width`."""
    wide = np.full((*rows.shape[:-1], width), fill, dtype=dtype)
    wide[..., : rows.shape[-1]] = rows
    return wide


def _alive(form: PublicForm, player: int, width: int) -> Array:
    return _padded(~np.concatenate([street.dead[player] for street in form.streets]), width, 0, np.uint8)


def _cards(form: PublicForm, player: int, width: int) -> Array:
    """[width, 2]; `deck` where there is no card."""
    cards = np.full((width, 2), form.deck, dtype=np.uint8)
    given = form.hands[player].cards
    cards[: len(given)] = np.where(given < 0, form.deck, given)
    return cards
