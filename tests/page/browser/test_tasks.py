"""What a person does with the page, from the question to the answer, in at most so many clicks and keys."""

from __future__ import annotations

from typing import Any

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
