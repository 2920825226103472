"""Hands and runouts as the kernels of the public form see them: which hands are dead, block or beat which."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.engines.public.compiled.records import FOUR, RUNOUT, SCALE, Int8, Int16, Int32, Records
from regretless.engines.public.compiled.showdowns import Players, Showdowns, make_showdowns
from regretless.engines.public.formats import GOLDEN
from regretless.engines.public.layout import LANES, padded
from regretless.forms.public import PublicForm

__all__ = ["Tables", "make_tables"]

UInt16 = NDArray[np.uint16]
UInt32 = NDArray[np.uint32]
BoolArray = NDArray[np.bool_]


class Tables(NamedTuple):
    """For walks that update one player. R runouts of all streets, street by street; n own, m other hands, padded.

    K sets of equivalent cards and hands (`forms.public.Symmetry`).
    """

    runouts: Records  #      [R]        RUNOUT
    copies: Int16  #         [copies]   rows of `permutations`
    permutations: Int16  #   [G · n]
    alike_hands: Int16  #    [K · n]    the own hand that represents each hand on a runout
    alike_cards: Int8  #     [K · deck]
    roundings: UInt32  #     [K · n]    makes the rounding of hands differ, except for equivalent hands
    own_alive: UInt16  #     [R · n/16] a bit per hand: not blocked
    other_alive: UInt16  #   [R · m/16]
    fold_rows: Int16  #      [3 n]      per own hand: rows of its cards' sums, and of the opponent's same hand
    card_fours: Int8  #      [deck]     number of fours of other hands with each card
    card_hands: Int16  #     [...]      those hands, card by card
    showdowns: Showdowns


def make_tables(form: PublicForm) -> tuple[Tables, Tables]:
    """The tables for both players' walks; for a flop this takes a fraction of a second."""
    alive = [_alive(form, player) for player in range(2)]
    return _make_tables(form, 0, alive), _make_tables(form, 1, alive)


def _make_tables(form: PublicForm, own: int, alive: list[BoolArray]) -> Tables:
    other = 1 - own
    own_hands, other_hands = alive[own].shape[1], alive[other].shape[1]
    own_cards = _cards(form, own, own_hands)
    other_cards = _cards(form, other, other_hands)
    same = np.full(own_hands, other_hands, dtype=np.int16)  # by default the row of zeros after the last
    same[: len(form.hands[own].same)] = np.where(form.hands[own].same < 0, other_hands, form.hands[own].same)
    alike_hands = _padded_rows(form.symmetry.hands[own], own_hands)
    holders = [np.flatnonzero((other_cards == card).any(axis=1)) for card in range(form.deck)]
    fours = [np.append(each, [other_hands] * (-len(each) % FOUR)) for each in holders]
    return Tables(
        runouts=_runouts(form),
        copies=np.concatenate([street.copies for street in form.streets]).astype(np.int16),
        permutations=_padded_rows(form.permutations[own], own_hands).ravel(),
        alike_hands=alike_hands.ravel(),
        alike_cards=form.symmetry.cards.astype(np.int8).ravel(),
        roundings=(alike_hands.astype(np.uint32) * np.uint32(GOLDEN)).ravel(),
        own_alive=_bits(alive[own]),
        other_alive=_bits(alive[other]),
        fold_rows=(SCALE * np.column_stack([own_cards, same])).astype(np.int16).ravel(),
        card_fours=np.array([len(each) // FOUR for each in fours], dtype=np.int8),
        card_hands=(SCALE * np.concatenate(fours)).astype(np.int16),
        showdowns=make_showdowns(
            Players(
                order=(_by_strength(form, own), _by_strength(form, other)),
                living=(_living(form, own, alive[own]), _living(form, other, alive[other])),
                strength=(form.strength[own].astype(np.int16), form.strength[other].astype(np.int16)),
                cards=(own_cards, other_cards),
            ),
            np.pad(form.symmetry.cards, ((0, 0), (0, 1)), constant_values=form.deck)[form.streets[-1].symmetry],
        ),
    )


def _padded_rows(rows: NDArray[np.integer[Any]], width: int) -> Int16:
    """[rows, width] rows of hand numbers, in which a padding hand represents itself."""
    wide = np.tile(np.arange(width, dtype=np.int16), (len(rows), 1))
    wide[:, : rows.shape[1]] = rows
    return wide


def _cards(form: PublicForm, player: int, width: int) -> Int16:
    """[width, 2] cards of each hand; `deck`, whose row of sums stays 0, where there is none."""
    cards = np.full((width, 2), form.deck, dtype=np.int16)
    given = form.hands[player].cards
    cards[: len(given)] = np.where(given < 0, form.deck, given)
    return cards


def _runouts(form: PublicForm) -> Records:
    """Runouts of all streets in one table."""
    parts = []
    first_copy = this_street = next_street = last_street = 0
    for number, street in enumerate(form.streets):
        part = np.zeros(len(street.parent), dtype=RUNOUT)
        last_street, this_street, next_street = this_street, next_street, next_street + len(part)
        part["parent"] = street.parent + last_street if number else -1
        part["street"], part["local"], part["probability"] = number, np.arange(len(part)), street.probability
        part["symmetry"] = street.symmetry
        part["first_child"] = street.first_child[:-1] + next_street
        part["first_copy"] = street.first_copy[:-1] + first_copy + 1
        part["last_copy"] = street.first_copy[1:] + first_copy
        first_copy += len(street.copies)
        parts.append(part)
    return np.concatenate(parts)


def _alive(form: PublicForm, player: int) -> BoolArray:
    """[R, hands, padded]"""
    dead = np.concatenate([street.dead[player] for street in form.streets])
    alive = np.zeros((len(dead), padded(dead.shape[1])), dtype=np.bool_)
    alive[:, : dead.shape[1]] = ~dead
    return alive


def _bits(alive: BoolArray) -> UInt16:
    """Sixteen hands per number, the first in the lowest bit."""
    weights = (1 << np.arange(LANES)).astype(np.uint16)
    bits: UInt16 = (alive.reshape(-1, LANES) * weights).sum(axis=1).astype(np.uint16)
    return bits


def _living(form: PublicForm, player: int, alive: BoolArray) -> Int32:
    living: Int32 = alive[len(alive) - len(form.strength[player]) :].sum(axis=1).astype(np.int32)
    return living


def _by_strength(form: PublicForm, player: int) -> Int16:
    """[F, hands, padded] live hands of every final runout from weakest to strongest, then the dead."""
    strength = form.strength[player]
    highest = np.iinfo(np.int16).max
    key = np.full((len(strength), padded(strength.shape[1])), highest, dtype=np.int16)
    key[:, : strength.shape[1]] = np.where(strength < 0, highest, strength)
    return np.argsort(key, axis=1, kind="stable").astype(np.int16)
