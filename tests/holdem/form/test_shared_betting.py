"""Spots share betting trees and what follows from ranges; each still compiles to what it would be alone."""

from __future__ import annotations

import dataclasses
import hashlib
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.holdem.random_spots import random_spot

from regretless.engines.layout import make_layout
from regretless.holdem import Spot, compile_spot
from regretless.holdem.estimate import spot_size
from regretless.holdem.form import betting
from regretless.holdem.form.betting import betting_of, betting_tree, forget_betting

FIELDS: dict[str, Any] = {
    "board": "Kh Qs Js 2c 3d",
    "pot": 100,
    "stack": 400,
    "oop": {"range": "AK, QJs, 99-77"},
    "ip": {"range": "AA-QQ, JTs"},
    "bets": {"bet": "50%", "raise": "60%"},
}


def spot(**changed: Any) -> Spot:
    return Spot.from_mapping(FIELDS | changed)


def digest(spot: Spot) -> str:
    """Of everything that is compiled from a spot, and of the layout of its numbers."""
    found = hashlib.sha256()

    def add(value: Any) -> None:
        if isinstance(value, np.ndarray):
            found.update(f"{value.dtype}{value.shape}".encode())
            found.update(repr(value.tolist()).encode() if value.dtype == object else value.tobytes())
        elif isinstance(value, tuple):
            for each in value:
                add(each)
        elif dataclasses.is_dataclass(value):
            for field in dataclasses.fields(value):
                add(getattr(value, field.name))
        else:
            found.update(repr(value).encode())

    form = compile_spot(spot)
    add((form, make_layout(form), spot_size(spot)))
    return found.hexdigest()


def some_spots() -> list[Spot]:
    """Random spots, and spots with the betting of one and the cards of another, in a random order."""
    drawn = [random_spot(seed, cards) for cards in (5, 4) for seed in range(8)]
    mixed = [
        dataclasses.replace(one, board=other.board, oop=other.oop, ip=other.ip)
        for one, other in pairwise(drawn)
        if len(one.board) == len(other.board)
    ]
    every = [*drawn, *mixed]
    random.Random(3).shuffle(every)
    return every


def test_spots_in_a_row_compile_to_what_they_are_alone() -> None:
    in_a_row = [digest(each) for each in some_spots()]
    alone = []
    for each in reversed(some_spots()):
        forget_betting()
        alone.append(digest(each))
    assert in_a_row == alone[::-1]
    assert len(set(in_a_row)) == len(in_a_row)


def test_another_process_that_has_compiled_others_agrees() -> None:
    own = "from tests.holdem.form.test_shared_betting import digest, some_spots"
    code = f"{own}; print(*map(digest, some_spots()[::-2]), sep='\\n')"
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert done.stdout.split() == [digest(each) for each in some_spots()[::-2]]


def test_threads_share_betting() -> None:
    spots = [each for each in some_spots() if len(each.board) == 5]
    expected = [digest(each) for each in spots]
    forget_betting()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(digest, spots * 3)) == expected * 3


def test_only_spots_with_the_same_betting_share_it() -> None:
    first = spot()
    assert betting_of(spot(board="2c 3c 4c 5c 6c", ip={"range": "100%"})) is betting_of(first)
    earlier_streets = {"bet": "50%", "raise": "60%", "flop": {"bet": "75%"}}
    assert betting_of(spot(name="other", bets=earlier_streets)) is betting_of(first)
    others = [
        {"pot": 101},
        {"stack": 401},
        {"board": "Kh Qs Js 2c"},
        {"bets": {"bet": "50c", "raise": "60%"}},
        {"bets": {"bet": "50%", "raise": "60%", "river": {"ip": {"bet": "70%"}}}},
        {"bets": {"bet": "50%", "raise": "60%", "max_raises": 1}},
        {"rules": {"rake": 0.05}},
        {"rules": {"rake": 0.05, "rake_cap": 3}},
        {"rules": {"chip": 0.01}},
        {"lines": {"add": ["bet 77"]}},
        {"lines": {"remove": ["bet 50"]}},
    ]
    kept = [betting_of(spot(**changed)) for changed in others]
    assert len({id(each) for each in [betting_of(first), *kept]}) == 1 + len(others)
    forget_betting()
    for changed, shared in zip(others, kept, strict=True):
        fresh = betting_of(spot(**changed))
        assert fresh.tree.labels == shared.tree.labels
        np.testing.assert_array_equal(fresh.tree.paid, shared.tree.paid)
        np.testing.assert_array_equal(fresh.payoffs.win, shared.payoffs.win)


def test_what_is_shared_cannot_be_changed() -> None:
    form = compile_spot(spot())
    shared = [form.tree.kind, form.tree.player, form.tree.street, form.tree.parent, form.tree.first_child]
    shared += [form.tree.paid, form.payoffs.win, form.payoffs.lose, form.payoffs.tie, betting_of(spot()).size.nodes]
    for array in shared:
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


def test_the_trees_that_are_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_betting()
    each = betting_of(spot()).decisions
    monkeypatch.setattr(betting, "RECENT_DECISIONS", 3 * each)
    first, last = betting_of(spot()), betting_of(spot(pot=1000))
    for pot in range(101, 110):
        betting_of(spot(pot=pot))
        assert betting_of(spot(pot=1000)) is last  # asked for again and again
    assert betting_of(spot()) is not first
    monkeypatch.setattr(betting, "RECENT_DECISIONS", each - 1)
    forget_betting()
    assert betting_tree(spot()) is not betting_tree(spot())  # too large to keep


def test_sizes_in_a_list_build_a_tree_too() -> None:
    sizes = dataclasses.replace(spot().bets.river.oop, bet=list(spot().bets.river.oop.bet))
    street = dataclasses.replace(spot().bets.river, oop=sizes)
    listed = dataclasses.replace(spot(), bets=dataclasses.replace(spot().bets, river=street))
    assert betting_tree(listed).labels == betting_tree(spot()).labels
