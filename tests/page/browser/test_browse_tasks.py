"""Questions that a player has about a solved spot, answered on the page in at most so many clicks and keys."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx2
import pytest
from playwright.sync_api import expect
from tests.page.browser.parts import at_node, cell, shown_frequencies, take, wait_for_line
from tests.page.serving import API, TOKEN, Server
from tests.page.tasks import Acts

import regretless as rl
from regretless.cards.ranges import Range
from regretless.holdem import Spot


def ask(site: str, path: str, **fields: Any) -> dict[str, Any]:
    answer = httpx2.get(f"{site}{API}{path}", params=fields, headers={"authorization": f"Bearer {TOKEN}"}, timeout=60)
    found: dict[str, Any] = answer.json()
    return found


def test_what_a_hand_does_after_a_check(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/browse")
    acts = Acts(page)
    page.get_by_title("river.rgl", exact=True).click()
    at_node(page, "oop")
    take(page, "check")
    wait_for_line(page, "check")
    cell(page, "AA").click()
    expect(page.get_by_label("Combos of a class").locator("strong")).to_have_text("AA")
    expect(page.locator(".combo")).to_have_count(6)
    assert acts.total <= 3


def test_how_often_the_next_barrel_comes_by_card(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/browse?file=turn.rgl")
    at_node(page, "oop")
    acts = Acts(page)
    take(page, "bet 40")
    wait_for_line(page, "bet 40")
    page.get_by_role("tab", name="River cards").click()
    page.get_by_role("button", name="Table", exact=True).click()
    rows = page.locator(".cards-tab tbody tr")
    expect(rows).to_have_count(48)
    shown = [float(text) for text in page.locator(".cards-tab tbody td:nth-child(3)").all_inner_texts()]
    assert acts.total <= 4
    assert shown == sorted(shown, reverse=True)
    report = ask(site, "/cards", file="turn.rgl", line="bet 40, call", then="")["cards"]
    known = sorted((100 * (1 - each["frequencies"][each["actions"].index("check")]) for each in report), reverse=True)
    assert shown == pytest.approx(known, abs=0.06)


def test_big_blinds_and_the_barrels_of_a_raiser_whom_nobody_leads_into(workshop: Server, open_page: Any) -> None:
    spot = Spot(
        board="Ks 9h 4h 2c",
        pot=6,
        stack=47,
        big_blind=1,
        oop={"range": "AA, 99, 87s", "name": "BB"},  # type: ignore[arg-type]
        ip={"range": "KK, AQs, JTs", "name": "BTN"},  # type: ignore[arg-type]
        bets={"bet": "50%", "raise": "3x", "turn": {"oop": {"bet": ""}}, "river": {"oop": {"bet": "", "donk": ""}}},  # type: ignore[arg-type]
        rules={"chip": 0.01},  # type: ignore[arg-type]
    )
    rl.solve(spot, iterations=5).save(workshop.folder / "blinds.rgl")
    page = open_page(f"{workshop.client.base_url}/browse?file=blinds.rgl&line=check,+bet+3,+raise+9")
    wait_for_line(page, "check, bet 3, raise 9")
    unit = page.get_by_label("Unit of all amounts")
    expect(unit).to_have_value("bb")
    expect(page.locator(".tile.present")).to_contain_text("pot 18 bb")
    bb = page.locator(".player").first
    expect(bb).to_contain_text("raised to 9 bb")
    expect(bb).to_contain_text("38 bb behind")
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        for element in page.locator(".player > span").all():
            assert element.evaluate("each => each.scrollWidth <= each.clientWidth"), element.inner_text()
    page.keyboard.press("u")
    expect(unit).to_have_value("pot")
    page.keyboard.press("u")
    expect(unit).to_have_value("chips")
    expect(bb).to_contain_text("38 behind")

    page.goto(f"{workshop.client.base_url}/browse?file=blinds.rgl&line=check,+bet+3,+call&tab=cards&cards=-bets")
    expect(page.get_by_role("button", name="BTN after a check")).to_have_attribute("aria-pressed", "true")
    rows = page.locator(".cards-tab tbody tr")
    expect(rows).to_have_count(48)
    assert float(rows.first.locator("td").nth(2).inner_text()) > 0
    expect(page.locator(".cards-tab thead")).to_contain_text("bet 50 %")
    page.get_by_role("button", name="River cards: BB acts").click()
    expect(rows.first.locator("td").nth(2)).to_have_text("0.0")


def test_what_never_betting_costs(workshop: Server, open_page: Any) -> None:
    page = open_page(f"{workshop.client.base_url}/browse?file=turn.rgl")
    at_node(page, "oop")
    acts = Acts(page)
    page.keyboard.press("l")
    page.get_by_role("button", name="Never bets").click()
    page.get_by_role("button", name="Solve again with these locks").click()
    page.get_by_role("button", name="Compare with").click()
    expect(page.get_by_role("row", name="whole range")).to_contain_text("→ 100.0")
    expect(page.locator(".compare-numbers")).to_contain_text("EV OOP")
    assert acts.total <= 6
    assert shown_frequencies(page)["check"] == 100.0


def test_what_betting_60_percent_with_the_best_hands_costs(workshop: Server, open_page: Any) -> None:
    page = open_page(f"{workshop.client.base_url}/browse?file=river.rgl")
    at_node(page, "oop")
    acts = Acts(page)
    page.keyboard.press("l")
    page.get_by_label("Frequency, percent, as a number").fill("60")
    expect(page.locator(".lock-effect")).to_contain_text(re.compile(r"OOP loses [\d.]+ chips \([\d.]+ % of the pot\)"))
    page.get_by_role("button", name="Lock", exact=True).click()
    expect(page.locator(".tile.present .share.locked").first).to_be_visible()
    locked = shown_frequencies(page)
    assert 100 - locked["check"] == pytest.approx(60, abs=0.1)
    page.get_by_role("button", name="Solve again with these locks").click()
    page.get_by_role("button", name="Browse", exact=True).click()
    at_node(page, "oop")
    expect(page.locator(".tile.present .lock-mark")).to_be_visible()
    assert 100 - shown_frequencies(page)["check"] == pytest.approx(60, abs=0.1)
    assert acts.total <= 6
    hands = page.evaluate("fetch(`/api/v1/node${location.search}`).then((answer) => answer.json())")
    played = [row for column in zip(*hands["strategy"], strict=True) for row in [column]]
    assert len({tuple(round(share, 3) for share in each) for each in played}) > 3  # hands differ: the shape is kept


def test_a_betting_range_as_text(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/browse?file=river.rgl")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    at_node(page, "oop")
    acts = Acts(page)
    page.keyboard.press("x")
    page.get_by_role("button", name="Copy OOP: bet 50 %").click()
    expect(page.get_by_text("Copied OOP: bet 50 %.")).to_be_visible()
    assert acts.total <= 3
    copied = Range.parse(page.evaluate("navigator.clipboard.readText()"))
    node = ask(site, "/node", file="river.rgl")
    assert copied.combos == pytest.approx(node["actions"][1]["combos"], abs=0.05)


def test_ranges_tables_and_pictures_are_saved(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/browse?file=turn.rgl&line=check&tab=graph")
    at_node(page, "ip")
    page.get_by_role("button", name="Take away").click()
    page.get_by_label("Format of ranges").select_option("weights")

    def saved(button: str) -> bytes:
        with page.expect_download() as download:
            page.get_by_role("button", name=button, exact=True).click()
        return bytes(download.value.path().read_bytes())

    expect(page.get_by_role("button", name="Save IP: bet 67 %")).to_be_visible()
    assert len(saved("Save IP: bet 67 %").split()) == 1326
    table = saved("Save all hands of both players").decode().splitlines()
    node = ask(site, "/node", file="turn.rgl", line="check")
    assert len(table) == 1 + sum(len(node["players"][player]["hands"]["hand"]) for player in ("oop", "ip"))
    assert table[0].startswith("player,hand,weight,matchups,ev,equity,eqr,check,ev of check")
    picture = saved("Save SVG").decode()
    for text in ("AKs", "50.6", "Equity", "OOP"):
        assert f">{text}" in picture, text
    assert "<polyline" in picture
    assert picture.count('fill="#3ba56c"') > 15  # checks, in the bar, the grid and the strip
    assert "var(" not in picture
    assert saved("Save PNG").startswith(b"\x89PNG")
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Made hands").click()
    page.keyboard.press("x")
    made = saved("Save the table of this tab").decode().splitlines()
    assert made[0].startswith("Made hand,% of range,Combos")
    assert len(made) > 3


def test_the_unit_of_amounts_is_kept_in_the_address(workshop: Server, open_page: Any) -> None:
    page = open_page(f"{workshop.client.base_url}/browse?file=turn.rgl")
    at_node(page, "oop")
    page.get_by_label("Unit of all amounts").select_option("pot")
    expect(page.locator(".player dd").first).to_contain_text("%")
    expect(page).to_have_url(re.compile("unit=pot"))
    page.get_by_role("link", name="Studies").click()
    expect(page).to_have_url(re.compile("/studies.*unit=pot"))
    page.go_back()
    expect(page.locator(".player dd").first).to_contain_text("%")


def test_cells_are_painted_locked_and_unlocked(workshop: Server, open_page: Any) -> None:
    page = open_page(f"{workshop.client.base_url}/browse?file=river.rgl&line=check&tab=lock")
    at_node(page, "ip")
    page.get_by_role("button", name="Paint").click()
    brush = page.get_by_role("group", name="Action of the brush")
    brush.get_by_role("button", name="check").click()
    first, last = cell(page, "AA").bounding_box(), cell(page, "ATs").bounding_box()
    page.mouse.move(first["x"] + 5, first["y"] + 5)
    page.mouse.down()
    page.mouse.move(last["x"] + 5, last["y"] + 5, steps=20)
    page.mouse.up()
    brush.get_by_role("button", name="bet 50 %").click()
    cell(page, "77").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".lock-effect")).to_contain_text("IP loses")
    page.get_by_role("button", name="Lock", exact=True).click()
    locks = page.get_by_label("Locks").get_by_role("listitem")
    expect(locks).to_have_count(2)
    expect(locks.first).to_contain_text("AA,AKs,AQs,AJs,ATs: 100 % check")
    expect(locks.last).to_contain_text("77: 100 % bet 30")
    page.get_by_role("button", name="Solve again with these locks").click()
    page.get_by_role("button", name="Browse", exact=True).click()
    at_node(page, "oop")
    page.keyboard.press("1")
    wait_for_line(page, "check")
    expect(cell(page, "AKs")).to_have_attribute("data-locked", "")
    mark = cell(page, "AKs").evaluate("""(cell) => {
      const { top, height } = getComputedStyle(cell, "::after");
      const bottom = cell.getBoundingClientRect().top + parseFloat(top) + parseFloat(height);
      return [...cell.querySelectorAll(".number")].every((each) => each.getBoundingClientRect().top > bottom);
    }""")
    assert mark, "the mark of a lock hides no digit"
    page.keyboard.press("l")
    page.get_by_role("button", name=re.compile("^Unlock")).first.click()
    page.get_by_role("button", name="Solve again without these locks").click()
    page.get_by_role("button", name="Browse", exact=True).click()
    at_node(page, "oop")
    page.keyboard.press("1")
    wait_for_line(page, "check")
    expect(cell(page, "77")).to_have_attribute("data-locked", "")
    expect(cell(page, "AKs")).not_to_have_attribute("data-locked", "")


def test_locking_what_is_shown_changes_nothing(workshop: Server, open_page: Any) -> None:
    page = open_page(f"{workshop.client.base_url}/browse?file=river.rgl&tab=lock")
    at_node(page, "oop")
    page.get_by_role("button", name="One mix").click()
    expect(page.get_by_text("Every hand plays this mix.")).to_be_visible()
    page.get_by_role("button", name="Lock", exact=True).click()
    expect(page.get_by_label("Locks").get_by_role("listitem")).to_have_count(1)
    expect(page.locator(".lock-tab .problem")).to_have_text("")
    stored = json.loads(page.evaluate("localStorage['regretless.locks']"))["river.rgl"]
    assert sum(stored[0]["strategy"].values()) == pytest.approx(1, abs=1e-12)
