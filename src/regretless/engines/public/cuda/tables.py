"""Hands and runouts as the CUDA kernels see them, for the walks of one player."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.engines.public.cuda.records import OWN_HAND, RUNOUT, SEGMENTS, TERM, UNIT
from regretless.engines.public.formats import GOLDEN
from regretless.engines.public.layout import Layout
from regretless.forms.public import DEAD, PublicForm

__all__ = ["Sums", "hand_tables", "list_sizes", "most_sums"]

Array = NDArray[Any]

FOUR = 4  # operations that a kernel reads at once
STRENGTHS = 1 << 16  # more than there are


def hand_tables(layout: Layout, own: int, unit: float) -> Iterator[tuple[str, Array]]:
    """Name in `JOB` and contents of each table that does not change; `unit` multiplies all values."""
    form, other = layout.form, 1 - own
    n, m = int(layout.hands[own]), int(layout.hands[other])
    yield "runouts", _runouts(form)
    yield "terms", _terms(form)
    yield "permutations", _hand_rows(form.permutations[own], n)
    alike = _hand_rows(form.symmetry.hands[own], n)
    yield "alike_hands", alike
    yield "roundings", alike.astype(np.uint32) * np.uint32(GOLDEN)
    yield "alike_cards", _padded(form.symmetry.cards, form.deck + 1, form.deck, np.uint8)
    yield "own_alive", _alive(form, own, n)
    yield "other_alive", _alive(form, other, m)
    yield "own_cards", _cards(form, own, n)
    theirs = _cards(form, other, m)
    yield "other_cards", theirs
    yield "same", _padded(form.hands[own].same, n, -1, np.int16)
    yield "own_strength", _padded(form.strength[own], n, DEAD, np.int16)
    yield "other_strength", _padded(form.strength[other], m, DEAD, np.int16)
    first, held = _held(theirs, form.deck)
    yield "held_first", first.astype(np.int16)
    yield "held_hands", held.astype(np.int16)
    yield "other_reach", _padded(form.hands[other].weight * unit, m, 0, np.float32)
    yield "own_weight", _padded(form.hands[own].weight, n, 0, np.float64)


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
    strength, cards = form.strength[own], form.hands[own].cards
    first, held = _held(np.where(cards < 0, form.deck, cards), form.deck)
    card = np.repeat(np.arange(form.deck, dtype=np.int32), np.diff(first))
    of_card = strength[:, held].astype(np.int32)
    pairs = int(_distinct(np.where(of_card > DEAD, of_card + card * STRENGTHS, DEAD)).max(initial=0))
    groups = int(_distinct(strength).max(initial=0))
    # An operation per hand of the opponent, overall and by card, and one per group or pair that no hand equals.
    operations = 3 * len(form.hands[1 - own].weight) + groups + pairs + (FOUR - 1) * (SEGMENTS + form.deck)
    return Sums(groups, pairs, -(-operations // FOUR) * FOUR)


def _held(cards: Array, deck: int) -> tuple[Array, Array]:
    """The hands [.] that hold each card, card by card, and where those of a card begin [deck + 1]."""
    by_card = np.argsort(cards, axis=None, kind="stable")
    first = np.searchsorted(cards.ravel()[by_card], np.arange(deck + 1))
    return first, by_card[: first[-1]] // 2


def _distinct(strength: Array) -> NDArray[np.int64]:
    """[F] number of different strengths of live hands on each runout."""
    ordered = np.sort(strength, axis=1)
    new = np.ones(ordered.shape, dtype=np.bool_)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return np.asarray((new & (ordered > DEAD)).sum(axis=1))


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
