"""Small games: a table of information sets with bars."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import expect

import regretless as rl


def test_kuhn_is_shown_as_it_was_solved(site: str, solved: Any, open_page: Any) -> None:
    page = open_page(f"{site}/browse?file=kuhn.rgl")
    expect(page.get_by_role("heading", name="kuhn")).to_be_visible()
    solution: Any = rl.load(solved / "kuhn.rgl")
    strategy = solution.strategy
    rows = page.locator(".game-sets tbody tr")
    expect(rows).to_have_count(len(strategy))
    for key, shares in strategy.items():
        row = page.get_by_role("row", name=f"{key} ").first
        shown = [text for text in row.locator("td").all_inner_texts()[2:] if text]
        assert shown == [f"{100 * share:.1f}" for share in shares.values()]


def test_information_sets_are_found_by_text(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/browse?file=leduc.rgl")
    rows = page.locator(".game-sets tbody tr")
    expect(rows).to_have_count(200)
    page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(400)
    page.keyboard.press("/")
    page.get_by_role("searchbox").fill("Ks")
    expect(page.get_by_role("status").filter(has_text="of 936")).not_to_contain_text("936 of 936")
    again = open_page(page.url)
    expect(again.get_by_role("searchbox")).to_have_value("Ks")
