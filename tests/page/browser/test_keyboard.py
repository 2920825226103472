"""A whole small way with keys alone: nothing is clicked, and the focus is never set by the test."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect
from tests.page.browser.parts import at_node, cell, shown_frequencies, wait_for_line
from tests.page.serving import Server

MAX_TABS = 60


def tab_to(page: Any, role: str, name: str, **how: Any) -> None:
    """Press Tab until an element has the focus."""
    wanted = page.get_by_role(role, name=name, **how).first
    expect(wanted).to_be_visible()
    for _ in range(MAX_TABS):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"{MAX_TABS} times Tab did not reach {name!r}")


def test_from_the_library_to_a_locked_solution(workshop: Server, open_page: Any) -> None:
    page = open_page(str(workshop.client.base_url))
    expect(page.locator(".library-table tbody tr").nth(1)).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("river.rgl")
    expect(page.locator(".library-table tbody tr")).to_have_count(1)
    page.keyboard.press("Enter")
    at_node(page, "oop")

    page.keyboard.press("1")
    wait_for_line(page, "check")
    page.keyboard.press("2")
    wait_for_line(page, "check, bet 30")
    page.keyboard.press("ArrowLeft")
    wait_for_line(page, "check")
    page.keyboard.press("i")
    page.keyboard.press("ArrowRight")
    expect(cell(page, "AKs")).to_be_focused()
    page.keyboard.press("Escape")

    page.keyboard.press("l")
    tab_to(page, "button", "Never bets")
    page.keyboard.press("Enter")
    tab_to(page, "button", "Lock", exact=True)
    page.keyboard.press("Enter")
    tab_to(page, "button", "Solve again with these locks")
    page.keyboard.press("Enter")
    tab_to(page, "button", "Browse", exact=True)
    page.keyboard.press("Enter")
    at_node(page, "oop")
    page.keyboard.press("c")
    wait_for_line(page, "check")
    assert shown_frequencies(page)["check"] == 100.0


def test_a_study_a_chart_and_a_hand_of_practice(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/preflop")
    tab_to(page, "link", "push-fold.rgl")
    page.keyboard.press("Enter")
    tab_to(page, "gridcell", "AA")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("region", name="Class")).to_contain_text("AKs")
    page.keyboard.press("2")
    expect(page.locator(".tile.present")).to_contain_text("BB")

    tab_to(page, "link", "Practice")
    page.keyboard.press("Enter")
    tab_to(page, "button", "Deal")
    page.keyboard.press("Enter")
    expect(page.locator(".choices .act").first).to_be_visible()
    page.keyboard.press("1")
    expect(page.locator(".verdict .grade")).to_be_visible()

    tab_to(page, "link", "Studies")
    page.keyboard.press("Enter")
    tab_to(page, "link", "study")
    page.keyboard.press("Enter")
    tab_to(page, "searchbox", "Filter flops")
    page.keyboard.type("paired")
    expect(page.locator(".mean th").first).not_to_contain_text("6 flops")
