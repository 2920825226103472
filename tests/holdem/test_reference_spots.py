"""Every reference spot: the tree, the equity and the values of an independent solver."""

from __future__ import annotations

import numpy as np
import pytest
from tests.holdem.reference_spots import DATA, load_spot, tomllib

from regretless.cards.deck import parse_board
from regretless.cards.equity import equity
from regretless.cards.ranges import Range
from regretless.engines.numba.public.engine import NumbaPublicEngine
from regretless.forms.public import NodeKind
from regretless.holdem.estimate import estimate_spot
from regretless.holdem.spots.spot import Spot
from regretless.variants import PRESETS, Discounted, schedule

ALL = ["river_narrow", "river_rake", "river_wide", "turn_example", "turn_paired_donk", "flop_3bet"]
slow = pytest.mark.slow


@pytest.mark.parametrize("name", ALL)
def test_the_tree_has_the_reference_counts(name: str) -> None:
    form, answer = load_spot(name)
    runouts = np.array([len(street.parent) for street in form.streets])[form.tree.street]
    kinds = {
        "action": NodeKind.DECISION,
        "chance": NodeKind.CHANCE,
        "fold": NodeKind.FOLD,
        "showdown": NodeKind.SHOWDOWN,
    }
    assert {word: int(runouts[form.tree.kind == kind].sum()) for word, kind in kinds.items()} == answer["node_kinds"]
    assert {"ip": len(form.hands[0].weight), "oop": len(form.hands[1].weight)} == answer["hands"]


@pytest.mark.parametrize(
    ("name", "iterations", "exploitable"),
    [
        ("river_narrow", 900, 0.02),
        ("river_rake", 900, 0.02),
        ("river_wide", 600, 0.02),
        ("turn_paired_donk", 1000, 0.02),
        pytest.param("turn_example", 700, 0.02, marks=slow),
        pytest.param("flop_3bet", 220, 0.1, marks=slow),
    ],
)
def test_root_values(name: str, iterations: int, exploitable: float) -> None:
    form, answer = load_spot(name)
    engine = NumbaPublicEngine(form, threads=2)
    engine.advance(schedule(Discounted(gamma=3), 1, iterations))
    evaluation = engine.evaluate()
    pot = form.tree.starting_pot
    assert evaluation.exploitability / pot * 100 <= exploitable
    ip, oop = evaluation.values
    assert oop == pytest.approx(answer["ev"]["oop"], abs=0.00005 * pot)
    assert ip == pytest.approx(answer["ev"]["ip"], abs=0.00005 * pot)
    if name == "river_narrow":
        assert oop == pytest.approx(30.560928, abs=0.001)  # by linear program


@pytest.mark.parametrize("name", ["river_narrow", "river_rake", "turn_example"])
def test_equity(name: str) -> None:
    spot = tomllib.loads((DATA / f"{name}.toml").read_text())
    _, answer = load_spot(name)
    found = equity(Range.parse(spot["oop"]["range"]), Range.parse(spot["ip"]["range"]), parse_board(spot["board"]))
    assert found.first == pytest.approx(answer["equity"]["oop"], abs=2e-6)


@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("name", ALL)
def test_kept_memory_is_at_most_that_of_postflop_solver(name: str, storage: int) -> None:
    form, answer = load_spot(name)
    assert NumbaPublicEngine(form, storage=storage).kept_bytes <= answer["memory_bytes"][str(storage)]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("storage", [32, 16])
@pytest.mark.parametrize("name", ALL)
def test_estimated_memory_is_at_most_five_percent_above_what_is_used(name: str, storage: int, threads: int) -> None:
    form, _ = load_spot(name)
    estimated = estimate_spot(Spot.read(DATA / f"{name}.toml"), threads=threads).solving_bytes[storage]
    used = NumbaPublicEngine(form, storage=storage, threads=threads).memory_bytes
    assert used <= estimated <= 1.05 * used


@slow
@pytest.mark.parametrize("storage", [32, 16])
def test_a_flop_takes_no_more_iterations_than_postflop_solver(storage: int) -> None:
    form, _ = load_spot("flop_3bet")
    engine = NumbaPublicEngine(form, threads=2, storage=storage)
    for iterations, percent in ((80, 0.5), (100, 0.3), (180, 0.1)):
        engine.advance(schedule(PRESETS["postflop"], engine.iteration + 1, iterations - engine.iteration))
        assert engine.evaluate().exploitability / form.tree.starting_pot * 100 <= percent
