"""Nodes as tables: every decision appears once after each deal, and every number is in its column."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from regretless.cards.deck import card_text
from regretless.errors import InvalidOption
from regretless.forms.public import NodeKind
from regretless.holdem.exports import (
    decisions,
    export_size,
    long_rows,
    write_nodes,
)
from regretless.holdem.problem import solve_spot
from regretless.holdem.reading.columns import DEFINITIONS
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot import Spot


@pytest.fixture(scope="module")
def merged() -> SpotSolution:
    """A turn with merged suits: 48 rivers, of which fewer are solved."""
    fields = {
        "board": "Qs Js 2h 2d",
        "pot": 10, "stack": 10, "oop": {"range": "AA, KK, T9s"}, "ip": {"range": "AK, QQ"}, "bets": {"bet": "a"},
        "lines": {"remove": ["check, all-in"]},  # the players have different numbers of actions
    }  # fmt: skip
    return solve_spot(Spot.from_mapping(fields), iterations=3, threads=1)


@pytest.fixture(scope="module")
def monotone() -> SpotSolution:
    fields = {
        "board": "Kh 9h 5h 2h",
        "pot": 20, "stack": 15, "oop": {"range": "AK, 99, T8s"}, "ip": {"range": "KJ, 55, 87s"}, "bets": {"bet": "a"},
    }  # fmt: skip
    return solve_spot(Spot.from_mapping(fields), iterations=60, threads=1)


def test_every_decision_appears_once_after_each_deal(merged: SpotSolution) -> None:
    views = list(decisions(merged))
    assert len(merged.reader.form.streets[1].parent) < 48
    turn = [view.line for view in views if len(view.board) == 4]
    assert turn == ["", "check", "all-in 10"]
    assert len(views) == 3 + 4 * 48
    assert len({view.line for view in views}) == len(views)


def test_a_frequency_from_the_file_is_that_over_all_rivers(monotone: SpotSolution) -> None:
    """22 of the 48 rivers are solved; without the others, hands that bet on them would be missing from a mean."""
    assert len(monotone.reader.form.streets[1].parent) == 22
    text = io.StringIO()
    write_nodes(decisions(monotone, "river"), "csv", text, wide=False)
    rows = [row for row in csv.DictReader(io.StringIO(text.getvalue())) if row["line"].startswith("check, check, ")]
    rows = [row for row in rows if row["player"] == "oop" and row["line"].count(",") == 2]
    assert len({row["board"] for row in rows}) == 48
    weights = np.array([float(row["weight"]) * float(row["matchups"]) for row in rows])
    taken = weights * [float(row["frequency"]) for row in rows]
    bets = np.array([row["action"] == "all-in 15" for row in rows])
    total = bet = 0.0
    for card in monotone.reader.cards(monotone.reader.root):
        view = monotone.node(f"check, check, {card_text(card)}")
        reached = float(view.acting.weight @ view.acting.matchups)
        total += reached
        bet += reached * view.frequencies[1]
    assert taken[bets].sum() / taken.sum() == pytest.approx(bet / total, rel=1e-12)
    assert weights[bets].sum() == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize(("street", "cards"), [("turn", 4), ("river", 5)])
def test_one_street(merged: SpotSolution, street: str, cards: int) -> None:
    every = [view.line for view in decisions(merged) if len(view.board) == cards]
    assert [view.line for view in decisions(merged, street)] == every
    with pytest.raises(InvalidOption, match="street: 'flop' is not one of turn, river"):
        next(decisions(merged, "flop"))


def test_the_size_of_a_flop_counts_every_runout(flop: SpotSolution) -> None:
    size = export_size(flop, "csv", "turn")
    assert size.nodes == sum(1 for _ in decisions(flop, "turn"))
    tree = flop.reader.form.tree
    rivers = int(((tree.kind == NodeKind.DECISION) & (tree.street == 2)).sum())
    assert export_size(flop, "csv", "river").nodes == 49 * 48 * rivers


@pytest.mark.parametrize("street", [None, "turn", "river"])
def test_the_size_matches_what_is_written(merged: SpotSolution, street: str | None) -> None:
    text = io.StringIO()
    count = write_nodes(decisions(merged, street), "csv", text, wide=False)
    size = export_size(merged, "csv", street)
    assert size.nodes == count == sum(1 for _ in decisions(merged, street))
    assert size.rows == text.getvalue().count("\n") - 1
    assert size.bytes == pytest.approx(len(text.getvalue()), rel=0.1)


def test_a_table_of_a_node_has_the_numbers_of_the_node(merged: SpotSolution) -> None:
    view = merged.node("check")
    assert view.player == "ip"
    rows = long_rows(view)
    assert set(rows[0]) == set(DEFINITIONS)
    shape = len(view.acting.hand), len(view.actions)
    assert [row["action"] for row in rows[: len(view.actions)]] == list(view.actions)
    np.testing.assert_array_equal(np.reshape([row["frequency"] for row in rows], shape), view.strategy.T)
    np.testing.assert_array_equal(np.reshape([row["action_ev"] for row in rows], shape), view.action_ev.T)
    for name, column in (("ev", view.acting.ev), ("equity", view.acting.equity), ("weight", view.acting.weight)):
        np.testing.assert_array_equal([row[name] for row in rows[:: len(view.actions)]], column)
    assert {(row["line"], row["pot"], row["player"]) for row in rows} == {("check", 10, "ip")}


def test_a_wide_table_has_a_row_per_hand_of_both_players(merged: SpotSolution) -> None:
    view = merged.node("check")
    rows = view.wide_rows()
    acting = [row for row in rows if row["player"] == "ip"]
    assert [row["hand"] for row in acting] == view.acting.texts()
    assert len(rows) == sum(len(table.hand) for table in view.hands.values())
    for place, action in enumerate(view.actions):
        np.testing.assert_array_equal([row[action] for row in acting], view.strategy[place])
        np.testing.assert_array_equal([row[f"ev of {action}"] for row in acting], view.action_ev[place])
    assert all(row["check"] is None for row in rows if row["player"] == "oop")
    assert view.wide_rows("oop") == [row for row in rows if row["player"] == "oop"]


def test_one_player_omits_nodes_where_the_other_acts(merged: SpotSolution) -> None:
    text = io.StringIO()
    count = write_nodes(decisions(merged, "turn"), "csv", text, wide=False, player="ip")
    rows = list(csv.DictReader(io.StringIO(text.getvalue())))
    assert count == 2
    assert {row["line"] for row in rows} == {"check", "all-in 10"}
    assert {row["player"] for row in rows} == {"ip"}


def test_json_and_parquet_have_the_same_numbers(merged: SpotSolution, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    views = list(decisions(merged, "turn"))
    text = io.StringIO()
    assert write_nodes(views, "json", text, wide=False) == len(views)
    nodes = json.loads(text.getvalue())["nodes"]
    assert [node["line"] for node in nodes] == [view.line for view in views]
    assert nodes[1]["frequencies"] == list(views[1].frequencies)
    assert write_nodes(views, "parquet", tmp_path / "turn.parquet", wide=False) == len(views)
    assert parquet.read_table(tmp_path / "turn.parquet").to_pylist() == [
        row for view in views for row in long_rows(view)
    ]
