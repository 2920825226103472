"""The client `pious` from PyPI, made for PioSOLVER, drives this solver and reads the numbers that Python users read."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regretless as rl
from regretless.cards.hands import PIO_ORDER
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.locks import Lock
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import MIN_AMOUNT, Lines, Rules

pious = pytest.importorskip("pious.pio.solver", reason="pious, a client of PioSOLVER from PyPI, is not installed")

RANGES = {"oop": "AK,KQs,QJs,T9s,99-77,22", "ip": "AA-QQ,AK,KQ,JTs,T9s,55"}
LINES = ([30, 90, 90, 150], [0, 40, 120], [0, 0, 0, 60, 200])
TEXTS = ("bet 30, raise 90, call, bet 60", "check, bet 40, raise 120", "check, check, check, bet 60, raise 200")
SPOT = Spot(
    board="Kh Qs Js 2c", pot=100, stack=200, lines=Lines(only=TEXTS), rules=Rules(min_bet=MIN_AMOUNT), **RANGES  # type: ignore[arg-type]
)  # fmt: skip
TARGET = 0.1  # chips, and percent of the pot


@pytest.fixture
def solver(tmp_path: Path) -> Iterator[Any]:
    """A client of a process that is started as PioSOLVER would be."""
    if os.name == "nt":
        pytest.skip("the client starts NAME.exe, which here is a shell script")
    script = tmp_path / "PioSOLVER3-edge.exe"
    source = Path(__file__).parents[2] / "src"
    command = f'PYTHONPATH="{source}" exec "{sys.executable}" -P -m regretless upi'
    script.write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    client = pious.Solver(str(tmp_path), "PioSOLVER3-edge")
    yield client
    client.process.kill()
    client.process.communicate()


def build(solver: Any) -> None:
    solver.set_board("KhQsJs2c")
    solver.set_range("OOP", RANGES["oop"])
    solver.set_range("IP", RANGES["ip"])
    solver.set_pot(0, 0, 100)
    solver.set_eff_stack(200)
    solver.set_isomorphism(True, False)
    solver.clear_lines()
    for line in LINES:
        solver.add_line(line)
    assert solver.build_tree() == "build_tree ok!"


def rows(solution: SpotSolution, line: str, player: str) -> dict[str, np.ndarray[Any, Any]]:
    """Columns of a node in the client's order of hands."""
    table = solution.node(line).hands[player]  # type: ignore[index]
    columns = {"weight": 0.0, "ev": np.nan, "equity": np.nan, "matchups": 0.0}
    result = {}
    for name, missing in columns.items():
        full = np.full(1326, missing)
        full[table.hand] = getattr(table, name)
        result[name] = full[PIO_ORDER]
    return result


def strategy(solution: SpotSolution, line: str) -> np.ndarray[Any, Any]:
    """[actions, 1326] in the client's order of hands and actions."""
    view = solution.node(line)
    full = np.zeros((len(view.actions), 1326))
    full[:, view.acting.hand] = view.strategy[::-1]
    return full[:, PIO_ORDER]


def test_a_client_builds_solves_and_reads_what_python_users_read(solver: Any) -> None:
    assert solver.is_ready() == "is_ready ok!"
    assert solver.version == [3, 0, 0]
    build(solver)
    solver.set_accuracy(TARGET)
    solver.go(quiet=True)
    ours = rl.solve(SPOT, target=TARGET)
    assert isinstance(ours, SpotSolution)

    results = dict(line.split(": ") for line in solver.calc_results().splitlines())
    assert float(results["EV OOP"]) == pytest.approx(ours.ev["oop"], abs=1e-6)
    assert float(results["EV IP"]) == pytest.approx(ours.ev["ip"], abs=1e-6)
    assert float(results["Exploitable for"]) == pytest.approx(ours.exploitability, abs=1e-6)

    nodes = {
        "r:0": "", "r:0:c": "check", "r:0:b30": "bet 30", "r:0:c:b40": "check, bet 40", "r:0:c:c": "check, check",
        "r:0:b30:b90:c:8h": "bet 30, raise 90, call, 8h", "r:0:c:c:Ts:c": "check, check, Ts, check",
        "r:0:b30:f": "bet 30, fold", "r:0:b30:c:As:c:c": "bet 30, call, As, check, check",
    }  # fmt: skip
    for name, line in nodes.items():
        view = ours.node(line)
        node = solver.show_node(name)
        assert node.node_id == name
        assert node.num_children == (48 if view.kind == "chance" else len(view.actions))
        paid = {"r:0:b30:b90:c:8h": (90, 90, 100), "r:0:b30": (30, 0, 100), "r:0:c:b40": (0, 40, 100)}
        assert node.pot == paid.get(name, node.pot)
        for player, invested in (("oop", node.pot[0]), ("ip", node.pot[1])):
            expected = rows(ours, line, player)
            assert np.allclose(solver.show_range(player, name).range_array, expected["weight"], atol=1e-8)
            ev, matchups = solver.calc_ev(player, name)
            assert np.allclose(ev, expected["ev"] - invested, atol=1e-5, equal_nan=True)
            assert np.allclose(matchups, expected["matchups"], atol=1e-6)
            equities, _, total = solver.calc_eq_node(player, name)
            assert np.allclose(equities, expected["equity"], atol=1e-8, equal_nan=True)
            assert total == pytest.approx(view.equity(player), abs=1e-8, nan_ok=True)  # type: ignore[arg-type]
        if view.kind == "decision":
            assert node.get_position() == (view.player or "").upper()
            assert np.allclose(solver.show_strategy(name), strategy(ours, line), atol=1e-8)
            letters = ["b" if action[0] in "bra" else action[0] for action in view.actions[::-1]]
            assert [child[0] for child in solver.show_children_actions(name)] == letters


def test_a_client_walks_the_whole_tree(solver: Any) -> None:
    build(solver)
    lines = solver.show_all_lines()
    assert "r:0:c:c:c:b60:b200:c" in lines
    waiting, visited = ["r:0"], 0
    while waiting:
        name = waiting.pop()
        node = solver.show_node(name)
        children = solver.show_children(name) if node.num_children else []
        assert len(children) == node.num_children
        assert all(child.node_id.rpartition(":")[0] == name for child in children)
        assert node.as_line_str() in lines
        visited += 1
        waiting += [child.node_id for child in (children[:2] if node.node_type == "SPLIT_NODE" else children)]
    assert visited > 30


def test_a_client_locks_a_node(solver: Any) -> None:
    build(solver)
    strategies = solver.show_strategy("r:0:b30")
    actions = solver.show_children_actions("r:0:b30")
    assert actions == ["b90", "c", "f"]
    calls = [[float(action == "c")] * 1326 for action in actions]
    assert np.allclose(np.sum(strategies, axis=0).max(), 1)
    assert solver.set_strategy("r:0:b30", [share for row in calls for share in row]) == "set_strategy ok!"
    assert np.max(solver.show_strategy("r:0:b30")[actions.index("c")]) == 1
    solver.lock_node("r:0:b30")
    assert solver.show_node("r:0:b30").flags == ("LOCKED",)
    solver.set_accuracy(TARGET)
    solver.go(quiet=True)
    ours = rl.solve(SPOT, target=TARGET, locks=[Lock("bet 30", {"call": 1.0})])
    assert isinstance(ours, SpotSolution)
    results = dict(line.split(": ") for line in solver.calc_results().splitlines())
    assert float(results["EV OOP"]) == pytest.approx(ours.ev["oop"], abs=1e-6)
    assert np.allclose(solver.show_strategy("r:0"), strategy(ours, ""), atol=1e-8)
    assert np.allclose(solver.calc_ev("OOP", "r:0")[0], rows(ours, "", "oop")["ev"], atol=1e-5, equal_nan=True)


def test_a_client_computes_equities(solver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from pious.conf import pious_conf
    from pious.pio.equity import EquityCalculator

    monkeypatch.setattr(pious_conf, "pio_install_directory", solver.solver_path)
    calculator = EquityCalculator("KhQsJs2c3d", "AKs, AKo", "QQ, JTs")
    hands = rl.cards.Range.parse("AK"), rl.cards.Range.parse("QQ, JTs")
    on_board, preflop = rl.cards.equity(*hands, rl.cards.parse_board("KhQsJs2c3d")), rl.cards.equity(*hands)
    assert calculator.compute_equities() == pytest.approx((on_board.first, on_board.second))
    assert calculator.compute_equities(preflop=True) == pytest.approx((preflop.first, preflop.second))
    assert calculator.matchups() == pytest.approx(sum(calculator.solver.calc_eq_node("OOP", "r:0")[1] * range_of("AK")))


def range_of(text: str) -> np.ndarray[Any, Any]:
    """[1326] weights in the client's order."""
    live = rl.cards.Range.parse(text).remove(rl.cards.parse_board("KhQsJs2c3d"))
    return np.asarray(live.weights[PIO_ORDER])
