"""What a person does with the page, from the question to the answer, in at most so many clicks and keys."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.page.serving import Server
from tests.page.tasks import Acts


def test_clicks_keys_and_menus_are_counted(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/setup")
    acts = Acts(page)
    page.get_by_role("button", name="K of spades", exact=True).click()
    page.get_by_label("Pot", exact=True).fill("60")
    assert (acts.clicks, acts.keys) == (1, 2)
    page.get_by_label("Pot", exact=True).press("Tab")
    page.keyboard.type("97.5")
    assert (acts.clicks, acts.keys) == (1, 7)
    page.get_by_label("Storage").select_option("16")
    assert acts.total == 10
    page.reload()
    page.get_by_role("button", name="K of spades", exact=True).click()
    assert acts.total == 11
    page.get_by_label("Best hands for OOP, percent").fill("5")
    page.get_by_role("button", name="Undo").evaluate("button => button.click()")
    page.get_by_role("button", name="Redo").dispatch_event("click")
    assert acts.total == 14


def test_pasted_text_is_counted(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/setup")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    board = page.get_by_label("Board", exact=True)
    board.fill("")
    acts = Acts(page)
    page.evaluate("navigator.clipboard.writeText('Ks 7d 2c')")
    board.focus()
    page.keyboard.press("Control+v")
    expect(board).to_have_value("Ks 7d 2c")
    assert acts.keys >= len("Ks 7d 2c")


def test_four_hands_are_practised_in_six(site: str, open_page: Any) -> None:
    page = open_page(site)
    acts = Acts(page)
    page.get_by_role("link", name="Practice").click()
    page.get_by_role("button", name="Deal").click()
    for number in range(1, 5):
        expect(page.locator(".choices .act").first).to_be_visible()
        page.keyboard.press("1")
        expect(page.locator(".score dd").nth(1)).to_have_text(str(number))
        expect(page.locator(".verdict .grade")).to_be_visible()
    assert acts.total <= 6


@pytest.mark.slow  # 18 flops are solved
def test_a_study_of_18_flops_is_started_finished_and_sorted_in_ten(workshop: Server, open_page: Any) -> None:
    pytest.importorskip("duckdb")
    page = open_page(str(workshop.client.base_url))
    acts = Acts(page)
    page.get_by_role("button", name="Start a study").click()
    page.get_by_label("Formation").select_option(label="UTG opens, BB 3-bets, UTG calls")
    page.get_by_label("Solve to").select_option("3")
    expect(page.locator(".study-start dd").first).to_have_text("18")
    page.get_by_role("button", name="Start the study").click()
    expect(page.locator(".mean th").first).to_have_text("18 flops", timeout=900_000)
    page.get_by_title(re.compile("^Sort by bet")).first.click()
    expect(page.locator(".flops thead th[aria-sort=descending]")).to_contain_text("bet")
    column = [text.split(" ")[0] for text in page.locator(".flops thead tr").first.locator("th").all_inner_texts()]
    place = column.index("bet")
    shares = [
        float(row.locator("td").nth(place).inner_text()) for row in page.locator(".flops tbody tr:not(.spacer)").all()
    ]
    assert shares == sorted(shares, reverse=True)
    assert acts.total <= 10
