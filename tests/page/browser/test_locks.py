"""Locks for some hands, from the page: their text, their mark, and what is left of them after a reload."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect
from tests.page.browser.parts import at_node, cell, hand_row, wait_for_line
from tests.page.serving import Server


@pytest.fixture
def page(workshop: Server, open_page: Any) -> Any:
    page = open_page(f"{workshop.client.base_url}/browse?file=river.rgl&line=check&tab=lock")
    at_node(page, "ip")
    return page


def lock(page: Any, action: str, percent: int) -> None:
    page.get_by_role("button", name="One mix").click()
    field = page.get_by_label(f"{action}, percent, as a number")
    field.fill(str(percent))
    field.press("Tab")
    page.get_by_role("button", name="Lock", exact=True).click()


def test_a_class_a_filter_and_hands_as_text_are_locked(page: Any) -> None:
    locks = page.get_by_label("Locks").get_by_role("listitem")
    cell(page, "AA").click()
    page.get_by_role("button", name="Class AA").click()
    lock(page, "check", 100)
    expect(locks).to_contain_text(["After check: AA: 100 % check loses"])
    page.get_by_role("button", name="Hands as text").click()
    lock(page, "check", 50)
    expect(page.locator(".lock-tab .problem")).to_contain_text("Give the hands to lock")
    page.get_by_label("Hands to lock, as a range").fill("KQo, JJx")
    lock(page, "check", 50)
    expect(page.locator(".lock-tab .problem")).to_contain_text("'x'")
    page.get_by_label("Hands to lock, as a range").fill("KQo")
    lock(page, "check", 50)
    expect(locks).to_have_count(2)

    page.reload()  # they wait in the browser until they are solved
    expect(locks).to_have_count(2)
    expect(page.locator(".tile.present .lock-mark")).to_be_visible()
    locks.nth(1).get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="Solve again with these locks").click()
    page.get_by_role("button", name="Browse", exact=True).click()
    at_node(page, "oop")
    page.keyboard.press("1")
    wait_for_line(page, "check")
    expect(cell(page, "AA")).to_have_attribute("data-locked", "")
    expect(cell(page, "KK")).not_to_have_attribute("data-locked", "")
    assert hand_row(page, "AhAd")[2] == "100.0"
    expect(page.locator("table.hands .lock-mark")).to_be_visible()


def test_a_filter_by_category_locks_the_hands_in_it(page: Any) -> None:
    page.goto(page.url + "&filter=Set")
    page.get_by_role("button", name="Filter Set").click()
    lock(page, "check", 100)
    locks = page.get_by_label("Locks").get_by_role("listitem")
    expect(locks).to_contain_text("4s4d,4s4c,4d4c")
    expect(locks).not_to_contain_text("AsAh")


def test_what_is_locked_for_good_is_what_the_slider_says(page: Any) -> None:
    page.get_by_role("button", name="Always bets").click()
    expect(page.get_by_label("Locks").get_by_role("listitem")).to_contain_text("bets 100.0 %")
    expect(page.get_by_label("Frequency, percent, as a number")).to_have_value("100")
    expect(page.locator(".lock-effect")).to_contain_text("→ 0.0 %")
    page.get_by_role("button", name="Never bets").click()
    expect(page.get_by_label("Frequency, percent, as a number")).to_have_value("0")
    expect(page.locator(".lock-effect")).to_contain_text("→ 100.0 %")


def test_sliders_always_make_100_percent(page: Any) -> None:
    page.get_by_role("button", name="One mix").click()
    for action, percent in (("check", 10), ("bet 30", 60), ("all-in 240", 90)):
        field = page.get_by_label(f"{action}, percent, as a number")
        field.fill(str(percent))
        field.press("Tab")
        shown = [float(each.input_value()) for each in page.locator(".lock-action input[type=number]").all()]
        assert sum(shown) == pytest.approx(100, abs=0.2)
        assert float(field.input_value()) == percent
