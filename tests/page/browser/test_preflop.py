"""Preflop on the page: charts along a line of play, and from a line to a flop that is set up."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.holdem.quick_tables import SPEC, fake_tables
from tests.page.serving import Server
from tests.page.test_preflop import GAME

import regretless as rl
from regretless.holdem.games import whole_game


@pytest.fixture
def charts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(whole_game, "build_buckets", fake_tables)
    folder = tmp_path / "served"
    folder.mkdir()
    rl.solve("push-fold(stack=10)").save(folder / "push-fold.rgl")
    rl.solve(GAME, buckets=SPEC, sample_runouts=3, iterations=4, threads=1).save(folder / "game.rgl")
    server = Server(folder)
    yield server
    server.close()


def test_push_or_fold_and_its_reply(charts: Server, open_page: Any) -> None:
    page = open_page(f"{charts.client.base_url}/preflop")
    page.get_by_role("link", name="push-fold.rgl").click()
    expect(page.get_by_role("heading", name="SB: folds 41.7 %, all-in 10 bb 58.3 %")).to_be_visible()
    expect(page.locator(".preflop-facts")).to_contain_text("SB -0.045 bb · BB 0.045 bb")
    expect(page.locator(".preflop-facts")).to_contain_text("mbb/g")
    page.locator(".preflop-chart [data-class='72o']").click()
    expect(page.get_by_role("region", name="Class")).to_contain_text("fold100.0 %")
    page.get_by_role("button", name=re.compile("^BB after all-in 10 bb")).click()
    expect(page.get_by_role("heading", name=re.compile("^BB: folds .* calls"))).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", name=re.compile("^SB: folds"))).to_be_visible()
    page.keyboard.press("2")
    page.keyboard.press("2")
    expect(page.locator(".tile.present")).to_contain_text("the hands are shown")
    page.close()


def test_browsing_push_or_fold_shows_its_charts(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/browse?file=push-fold.rgl")
    expect(page.get_by_role("heading", name=re.compile("^SB: folds"))).to_be_visible()
    assert "/preflop?" in page.url


def test_a_line_and_a_flop_are_set_up(charts: Server, open_page: Any) -> None:
    page = open_page(f"{charts.client.base_url}/preflop?file=game.rgl")
    page.locator(".tile.present").get_by_role("button", name=re.compile("^call")).click()
    page.locator(".tile.present").get_by_role("button", name=re.compile("^check")).click()
    flop = page.get_by_label("Flop")
    flop.fill("Ks 7d")
    page.get_by_role("button", name="Set up this flop").click()
    expect(page.get_by_role("alert")).to_have_text("'Ks 7d' is not a flop: give three cards such as Ks 7d 2c")
    flop.fill("Ks 7d 2c")
    page.get_by_role("button", name="Set up this flop").click()
    expect(page.get_by_role("grid", name="Range of OOP", exact=True)).to_be_visible()
    draft = page.evaluate("JSON.parse(localStorage.getItem('regretless.draft'))")
    spot = charts.client.get("/api/v1/preflop/spot", params={"file": "game.rgl", "line": "call, check"}).json()["spot"]
    assert draft["board"] == "Ks 7d 2c"
    assert (float(draft["pot"]), float(draft["stack"])) == (2.0, 5.0)
    assert draft["ip"]["range"] == spot["ip"]["range"]
    expect(page.locator(".estimate dd").first).not_to_have_text("–")
    page.close()
