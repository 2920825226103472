"""A hash of the game tree, so that saved arrays are never used with a game they do not fit.

It covers everything that gives the arrays of a solve their meaning: the shape of the tree, who moves, information sets
with their keys and actions, chance and payoffs; but not the game's name: `leduc` and `leduc(ranks=3)` have one hash.
Of a betting tree it covers the nodes and what was paid. Numbers are hashed little-endian, so that every machine agrees.
"""

from __future__ import annotations

import hashlib

import numpy as np

from regretless.forms.history import HistoryForm
from regretless.forms.public import BettingTree, PublicForm

__all__ = ["tree_hash"]


def tree_hash(form: HistoryForm | PublicForm | BettingTree) -> str:
    """SHA-256 of a compiled game, or of a betting tree alone, as 64 hexadecimal digits."""
    if isinstance(form, PublicForm):
        digest = hashlib.sha256(tree_hash(form.tree).encode())
        for hands, strength in zip(form.hands, form.strength, strict=True):
            for array, number in ((hands.weight, "<f8"), (hands.cards, "<i2"), (strength, "<i2")):
                digest.update(np.ascontiguousarray(array, dtype=number).data)
        return digest.hexdigest()
    if isinstance(form, BettingTree):
        digest = hashlib.sha256()
        for array, number in (
            (form.kind, "<i1"),
            (form.player, "<i1"),
            (form.street, "<i1"),
            (form.first_child, "<i4"),
            (form.paid, "<f8"),
        ):
            digest.update(np.ascontiguousarray(array, dtype=number).data)
        return digest.hexdigest()
    digest = hashlib.sha256(str(form.players).encode())
    for name, array, number in (
        ("player", form.player, "<i1"),
        ("information_set", form.information_set, "<i4"),
        ("first_child", form.first_child, "<i8"),
        ("chance", form.chance, "<f8"),
        ("payoff", form.payoff, "<f8"),
        ("first_pair", form.first_pair, "<i8"),
    ):
        digest.update(f"{name}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array, dtype=number).data)
    for key, actions in zip(form.keys, form.actions, strict=True):
        digest.update("\x1f".join((key, *actions)).encode())
        digest.update(b"\x1e")
    return digest.hexdigest()
