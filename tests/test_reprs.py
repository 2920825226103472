"""The repr of everything a user may look at in a notebook: below 2 kB, cards as text, arrays as their shapes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import regretless as rl
from regretless.cards.hands import HAND_COUNT
from regretless.cards.ranges import Range
from regretless.engines.numba.public.engine import NumbaPublicEngine
from regretless.forms import compile_history, compile_sequence
from regretless.games.registry import load
from regretless.holdem.problem import compile_spot, solve_spot
from regretless.holdem.spots.locks import Lock
from regretless.holdem.spots.spot import Spot
from regretless.solving.readable.training import train_kuhn

FIELDS = {
    "board": "Kh Qs Js 2c",
    "pot": 100,
    "stack": 300,
    "oop": {"range": "22+, A2s+, KTs+, AJo+"},
    "ip": {"range": "22+, A2s+, KTs+, AJo+"},
    "bets": {"bet": "33%, 75%, a", "raise": "2.5x, a"},
}


@pytest.fixture(scope="module")
def spot() -> Spot:
    return Spot.from_mapping(FIELDS)


@pytest.fixture(scope="module")
def things(spot: Spot) -> dict[str, object]:
    solution = solve_spot(spot, iterations=3, threads=1)
    game = rl.solve("leduc", iterations=5)
    history, public = compile_history(load("leduc(ranks=2)")), compile_spot(spot)
    weighted = Range(np.random.default_rng(1).random(HAND_COUNT))
    runouts = solution.runouts("check, check")
    sizes = ", ".join(f"{percent}%" for percent in range(10, 100))
    many = Spot.from_mapping({**FIELDS, "bets": {"bet": sizes, "raise": sizes}})
    return {
        "spot": spot, "a spot of weights": replace(spot, oop=weighted, ip=weighted, name="x" * 200),
        "range": spot.oop, "weights": weighted, "solution of a spot": solution, "node": solution.root,
        "hands": solution.root.oop if hasattr(solution.root, "oop") else solution.root, "runouts": runouts,
        "runout": runouts.runouts[0], "solution of a game": game, "snapshot": game.snapshot,
        "snapshot of few hundred numbers": rl.solve("goofspiel(cards=4)", iterations=2).snapshot,
        "history form": history, "sequence form": compile_sequence(history), "public form": public,
        "betting tree": public.tree, "streets": public.streets[0], "game": load("leduc(ranks=6)"),
        "snapshot of a spot": NumbaPublicEngine(public).snapshot(), "training": train_kuhn(50),
        "batch": rl.solve_batch(["kuhn"] * 40, iterations=2), "sizes": many.bets, "a street's sizes": many.bets.turn,
        "lock": Lock("check", {f"hand {number}": {"check": 1.0} for number in range(1326)}),  # type: ignore[arg-type]
    }  # fmt: skip


def test_every_repr_fits_a_screen(things: dict[str, object]) -> None:
    lengths = {name: len(repr(thing)) for name, thing in things.items()}
    assert {name: length for name, length in lengths.items() if length > 2000} == {}


def test_cards_are_text(things: dict[str, object]) -> None:
    assert repr(things["spot"]).startswith("Spot(board='Kh Qs Js 2c', pot=100.0, stack=300.0, oop=Range.parse('22+")
    assert "board='Kh Qs Js 2c'" in repr(things["node"])
    assert repr(things["runout"]).startswith("Runout(card='2d', player='oop'")
    assert "Kh Qs Js 2c" in repr(things["solution of a spot"])


def test_short_values_are_shown_in_full(things: dict[str, object]) -> None:
    assert eval(repr(things["range"]), {"Range": Range}) == things["range"]
    assert repr(things["weights"]).startswith("<Range of ")
    assert repr(things["game"]) == "<Leduc leduc(ranks=6)>"
    assert "parent=<int32 " in repr(things["history form"])
