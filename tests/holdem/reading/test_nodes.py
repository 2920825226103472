"""Nodes of a solved spot: averages over their hands, tables, and what a notebook shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from tests.holdem.random_spots import random_spot

import regretless as rl
from regretless.errors import InvalidOption
from regretless.holdem.problem import solve_spot
from regretless.holdem.reading.columns import DEFINITIONS
from regretless.holdem.reading.nodes import NodeView
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot import Spot

BLOCKED: dict[str, Any] = {
    "board": "9d Qs Qd As Ad",
    "pot": 100,
    "stack": 300,
    "oop": {"range": "Ah4d, KK:0.00001, JJ"},
    "ip": {"range": "AhJs, AhKh, 7c5c:0.00001, AhTc"},
    "bets": {"bet": "100%", "raise": "a"},
    "rules": {"add_allin": 0},
}


def views(solution: SpotSolution, *, every: int = 13) -> Iterator[NodeView]:
    """Every betting node, on a subset of the runouts."""
    waiting = [solution.reader.root]
    while waiting:
        place = waiting.pop()
        view = solution.reader.view(place)
        yield view
        children = list(solution.reader.children(place))
        waiting += children[::every] if view.kind == "chance" else children


def check_chips(view: NodeView, rake: float, rake_cap: float, tolerance: float) -> None:
    """The EVs sum to the pot minus at most the maximum rake, and the equities to 1."""
    if not view.reached:
        return
    house = min(rake * (view.pot + sum(view.stacks.values())), rake_cap)
    total = view.ev("oop") + view.ev("ip")
    assert view.pot - house - tolerance <= total <= view.pot + tolerance, view.line
    assert view.equity("oop") + view.equity("ip") == pytest.approx(1, abs=1e-9), view.line
    if view.kind == "decision":
        assert sum(view.frequencies) == pytest.approx(1, abs=1e-6), view.line


@pytest.mark.parametrize("iterations", [100, 3000])
@pytest.mark.parametrize("seed", range(8))
def test_evs_of_a_river_sum_to_the_pot_at_every_node(seed: int, iterations: int) -> None:
    spot = random_spot(seed, 5)
    solution = solve_spot(spot, iterations=iterations, threads=1)
    for view in views(solution):
        check_chips(view, spot.rules.rake, spot.rules.rake_cap, 1e-8 * spot.pot)


@pytest.mark.parametrize("seed", range(3))
def test_evs_of_a_turn_sum_to_the_pot_at_every_node(seed: int) -> None:
    spot = random_spot(seed, 4)
    solution = solve_spot(spot, iterations=100, threads=1)
    for view in views(solution):
        check_chips(view, spot.rules.rake, spot.rules.rake_cap, 1e-5 * spot.pot)


@pytest.mark.parametrize("iterations", [500, 5000])
def test_hands_that_face_almost_nothing(iterations: int) -> None:
    solution = solve_spot(Spot.from_mapping(BLOCKED), iterations=iterations, threads=1)
    reached = 0
    for view in views(solution):
        check_chips(view, 0.0, 0.0, 1e-8 * solution.spot.pot)
        reached += view.reached
        for table in view.hands.values():  # NaN exactly where no opposing hand is possible
            np.testing.assert_array_equal(np.isnan(table.ev), table.matchups == 0)
            np.testing.assert_array_equal(np.isnan(table.equity), table.matchups == 0)
    assert reached > 5


def test_equity_of_a_flop_is_known_for_hands_that_are_never_held(flop: SpotSolution) -> None:
    reader = flop.reader
    place = reader.find("check")
    empty = replace(place, reach=(place.reach[0], np.zeros_like(place.reach[1])))
    assert not np.isnan(reader.equity(1, empty)).any()  # oop never gets here; each hand still has an equity against ip
    assert np.isnan(reader.equity(0, empty)).all()


FIELDS = {
    "board": "Kh Qs Js 2c 3d",
    "pot": 100,
    "stack": 200,
    "oop": {"range": "AK, KQs, QJs, 99-77, 22"},
    "ip": {"range": "AA-QQ, KQ, JTs, 55"},
    "bets": {"bet": "50%, 100%"},
    "name": "<script>alert(1)</script>",
}


@pytest.fixture(scope="module")
def solution() -> SpotSolution:
    return rl.solve(Spot.from_mapping(FIELDS), target=1, threads=1)


class Page(HTMLParser):
    """Counts elements, and sees that each one is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.counts: dict[str, int] = {}
        self.titles: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.titles += [value or "" for name, value in attrs if name == "title"]
        assert not {"src", "href", "onclick"} & {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_node_shows_its_grid(solution: SpotSolution) -> None:
    page = Page(solution.root._repr_html_())
    assert page.counts["td"] >= 169
    grid = solution.root.grid()
    held = int((~(grid != grid).any(axis=1)).sum())
    assert len(page.titles) == held
    (aces,) = [title for title in page.titles if title.startswith("AKs:")]
    assert "check" in aces
    assert Page(solution.node("check, check")._repr_html_()).counts["tr"] == 5


def test_a_solution_shows_its_figures_and_nothing_that_runs(solution: SpotSolution) -> None:
    html = solution._repr_html_()
    assert "script" not in Page(html).counts
    assert "&lt;script&gt;" in html
    kuhn = Page(rl.solve("kuhn", iterations=10)._repr_html_())
    assert len(kuhn.titles) == 12


def test_tables_have_the_numbers_of_the_node(solution: SpotSolution) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    view = solution.node("check")
    frame = view.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == sum(len(table.hand) for table in view.hands.values())
    acting = frame[frame.player == "ip"]
    assert acting["bet 50"].tolist() == view.strategy[1].tolist()
    assert len(view.to_pandas("oop")) == len(view.hands["oop"].hand)
    table = view.to_arrow()
    assert table.column_names == list(frame.columns)
    assert table.schema.field("ev").metadata[b"definition"].decode() == DEFINITIONS["ev"]


def test_where_nobody_acts_there_is_no_strategy() -> None:
    solution = solve_spot(Spot.from_mapping(BLOCKED), iterations=20, threads=1)
    ended = [view for view in views(solution) if view.kind != "decision"]
    assert {view.kind for view in ended} >= {"fold", "showdown"}
    for view in ended:
        assert view.frequencies == view.action_means == view.action_combos == ()
        with pytest.raises(InvalidOption, match="leads to no decision"):
            view.grid()
