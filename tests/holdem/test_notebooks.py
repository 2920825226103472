"""Nodes and solutions in a notebook: HTML that loads nothing, and tables with the numbers of the node."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

import regretless as rl
from regretless.holdem import Spot, SpotSolution
from regretless.holdem.reading.columns import DEFINITIONS

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
