"""No number is cut: every number of the grid, the cards and the tables is measured against its box, at four widths."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import pytest
from playwright.sync_api import expect

from regretless.errors import bytes_text
from regretless.page.app import STATIC

SIZES = [
    pytest.param(size, id=f"{size[0]}x{size[1]}", marks=[pytest.mark.slow] if seldom else [])
    for size, seldom in {(1280, 720): False, (1366, 768): True, (1920, 1080): True, (390, 844): False}.items()
]
SPREAD = [0.01, 0.1, 0.58, 7.25, 14.48, 99.95, 123.4, 999.9, 4321.0, 10_000.0, -0.04, -3.21, -250.0, -9999.9]
CLIPPED = """() => {
  const boxes = [
    ...document.querySelectorAll(".grid .cell .number, .grid .cell .name"),
    ...document.querySelectorAll(".deck-card small, .deck-card > span:first-child"),
    ...document.querySelectorAll(".tab-content :is(td, th), .summary dd, .tile .share, .tile .amount"),
  ];
  return boxes.flatMap((element) => {
    const box = element.closest(".cell, .deck-card, td, th, .player, .tile");
    const range = document.createRange();
    range.selectNodeContents(element);
    const [text, outer] = [range.getBoundingClientRect(), box.getBoundingClientRect()];
    if (!element.textContent.trim() || !text.width) return [];
    const inside =
      text.left >= outer.left - 0.5 && text.right <= outer.right + 0.5 &&
      text.top >= outer.top - 0.5 && text.bottom <= outer.bottom + 0.5;
    return inside ? [] : [`${element.className} ${element.textContent} ${JSON.stringify([text, outer])}`];
  });
}"""
CUT_TABLES = """() => [...document.querySelectorAll(".tab-content td")].filter((cell) => {
  const clips = getComputedStyle(cell).overflow !== "visible";
  return clips && cell.scrollWidth > cell.clientWidth;
}).map((cell) => cell.textContent)"""


def spread(route: Any) -> None:
    """The server's answer with EVs from 0.01 to 10,000 chips in place of its own."""
    answer = route.fetch()
    body = answer.json()
    for player in body.get("players", {}).values():
        hands = player["hands"]
        hands["ev"] = [SPREAD[place % len(SPREAD)] for place in range(len(hands["ev"]))]
    for number, row in enumerate(body.get("action_ev", [])):
        row[:] = [SPREAD[(place + number) % len(SPREAD)] for place in range(len(row))]
    for number, card in enumerate(body.get("cards", [])):
        card["ev"] = {player: SPREAD[number % len(SPREAD)] for player in ("oop", "ip")}
    route.fulfill(response=answer, body=json.dumps(body))


@pytest.mark.parametrize("size", SIZES)
def test_no_number_is_cut(site: str, open_page: Any, size: tuple[int, int]) -> None:
    page = open_page(f"{site}/browse?file=turn.rgl", viewport={"width": size[0], "height": size[1]})
    page.route("**/api/v1/node?*", spread)
    page.route("**/api/v1/cards?*", spread)
    shown = 0
    for tab in ("hands", "made", "cards", "cards&cards=-bets", "ranges"):
        for number in ("ev", "lost", "equity", "eqr", "bets", "weight"):
            if number != "ev" and tab != "hands":
                continue
            page.goto(f"{site}/browse?file=turn.rgl&line=check&fill=whole&tab={tab}&number={number}")
            expect(page.locator(".tile.present")).to_be_visible()
            page.wait_for_load_state("networkidle")
            page.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
            assert page.evaluate(CLIPPED) == [], (tab, number)
            assert page.evaluate(CUT_TABLES) == []
            if number == "ev":
                shown += sum(bool(text) for text in page.locator(".browse-left .number").all_inner_texts())
    assert shown > 100


CUT_ANYWHERE = """() => [...document.querySelectorAll("main :is(td, th, dd), main .cell .name")].flatMap((element) => {
  const range = document.createRange();
  range.selectNodeContents(element);
  const [text, box] = [range.getBoundingClientRect(), element.closest("td, th, dd, .cell").getBoundingClientRect()];
  if (!element.textContent.trim() || !text.width || element.querySelector(".for-readers")) return [];
  const clips = getComputedStyle(element).overflowX !== "visible" && element.scrollWidth > element.clientWidth;
  const outside = text.left < box.left - 0.5 || text.right > box.right + 0.5;
  return clips || outside ? [`${element.className} ${element.textContent} ${text.width} in ${box.width}`] : [];
})"""


def spread_everywhere(route: Any) -> None:
    """The same for answers of any shape: every EV in them."""
    answer = route.fetch()
    values = itertools.cycle(SPREAD)

    def replaced(value: Any) -> Any:
        if isinstance(value, list):
            return [replaced(each) for each in value]
        return next(values) if isinstance(value, int | float) else value

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: {player: replaced(each) for player, each in part.items()}
                if key == "ev" and isinstance(part, dict)
                else replaced(part)
                if key in ("ev", "oop_ev", "ip_ev")
                else walk(part)
                for key, part in value.items()
            }
        return [walk(each) for each in value] if isinstance(value, list) else value

    route.fulfill(response=answer, body=json.dumps(walk(answer.json())))


@pytest.mark.parametrize("size", SIZES)
def test_no_number_of_the_other_tables_is_cut(site: str, open_page: Any, size: tuple[int, int]) -> None:
    page = open_page(site, viewport={"width": size[0], "height": size[1]})
    for answer in ("compare?*", "compare/node?*", "study/flops?*"):
        page.route(f"**/api/v1/{answer}", spread_everywhere)
    for view, drawn in (
        ("/", ".library-table td"),
        ("/browse?file=turn.rgl&line=check&tab=compare&other=turn.rgl", ".compare-tab td"),
        ("/studies?study=study&line=check", ".flops td"),
        ("/preflop?file=push-fold.rgl&pin=A5s", ".preflop-facts dd"),
        ("/browse?file=kuhn.rgl", ".game-sets td"),
    ):
        page.goto(site + view)
        expect(page.locator(drawn).first).to_be_visible()
        page.wait_for_load_state("networkidle")
        page.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
        assert page.evaluate(CUT_ANYWHERE) == [], view


def test_a_number_loses_decimals_before_it_loses_anything_else(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/browse?file=turn.rgl")
    fitted = """async ([value, digits, room]) => {
      const { fitted } = await import("/static/shared/format.js");
      return fitted(value, digits, (text) => text.length <= room);
    }"""
    for value, room, text in (
        (14.48, 5, "14.48"), (14.48, 4, "14.5"), (14.48, 3, "14"), (0.01, 4, "0.01"), (0.01, 3, "0.0"),
        (9999.9, 4, "10k"), (9999.9, 5, "10000"), (12345, 4, "12k"), (1234, 3, "1k"), (-0.001, 4, "0.0"),
        (-250, 4, "-250"), (-250, 2, ""), (None, 1, "–"),
    ):  # fmt: skip
        digits = 1 if value == -0.001 else 2
        assert page.evaluate(fitted, [value, digits, room]) == text, (value, room)


def test_durations_exploitabilities_and_sizes_are_written_as_people_write_them(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/browse?file=turn.rgl")
    written = """async ([name, value]) => (await import("/static/shared/format.js"))[name](value)"""
    for name, value, text in (
        ("duration", 0.4, "< 1 s"), ("duration", 89.6, "1 min 30 s"), ("duration", 119.7, "2 min 00 s"),
        ("duration", 5399.7, "1.5 h"), ("exploitability", 123.4, "123 % of pot"),
        ("exploitability", 0.299999, "0.30 % of pot"), ("exploitability", 1e-7, "0.0 % of pot"),
        ("percent", -1e-9, "0.0"), ("memory", 889_600_000, "0.89 GB"), ("memory", 2.6e9, "2.6 GB"),
        *(("bytes", count, bytes_text(count)) for count in (17, 999, 1000, 99_949, 99_950, 999_600, 2**27, 10**15)),
    ):  # fmt: skip
        assert page.evaluate(written, [name, value]) == text, (name, value)
    of_unit = """async ([value, unit]) => (await import("/static/shared/format.js")).exploitability(value, unit)"""
    for value, unit, text in ((6.4e-6, "mbb/g", "< 0.001 mbb/g"), (0.01234, "per game", "0.0123 per game")):
        assert page.evaluate(of_unit, [value, unit]) == text


def test_numbers_become_text_in_one_module() -> None:
    for path in STATIC.rglob("*.js"):
        if path.name != "format.js":
            assert not re.search(r"toFixed|toPrecision|toLocaleString", path.read_text(encoding="utf-8")), path
