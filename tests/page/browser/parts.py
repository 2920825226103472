"""What the tests find on the page, by what a person would call it."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect

__all__ = ["at_node", "cell", "hand_row", "paint_range", "shown_frequencies", "take", "wait_for_line"]


def cell(page: Any, name: str, grid: str = "Strategy by class") -> Any:
    return page.get_by_role("grid", name=grid, exact=True).locator(f"[data-class='{name}']")


def take(page: Any, action: str) -> None:
    """Click an action of the present decision, named as in a line."""
    page.locator(f".tile.present button[data-action='{action}']").click()


def at_node(page: Any, player: str) -> None:
    """Wait until a player is to act."""
    expect(page.locator(".player.to-act strong")).to_have_text(player.upper())


def wait_for_line(page: Any, line: str) -> None:
    expect(page).to_have_title(re.compile("^" + re.escape(line or "first decision") + " · "))


def hand_row(page: Any, hand: str) -> list[str]:
    """The numbers of a hand in the table: its actions, weight, EV, equity and EQR, as they are written."""
    page.get_by_role("searchbox", name="Filter hands").fill(hand)
    row = page.locator("table.hands tbody tr:not(.spacer)")
    expect(row).to_have_count(1)
    return [text.split("\n")[0] for text in row.locator("td").all_inner_texts()]


def shown_frequencies(page: Any) -> dict[str, float]:
    """Frequencies of the present decision in percent, as the strip writes them, by names as in a line."""
    found = {}
    for button in page.locator(".tile.present button").all():
        found[button.get_attribute("data-action")] = float(button.locator(".share").inner_text())
    return found


def paint_range(page: Any, player: str, first: str, last: str) -> None:
    """Drag over the rectangle of cells between two classes, row by row."""
    grid = page.get_by_role("grid", name=f"Range of {player}", exact=True)
    grid.locator("[data-class='22']").scroll_into_view_if_needed()
    grid.locator("[data-class='AA']").scroll_into_view_if_needed()
    start, end = (grid.locator(f"[data-class='{name}']").bounding_box() for name in (first, last))
    height = start["height"] + 2
    y = start["y"] + height / 2
    while y < end["y"] + end["height"]:
        page.mouse.move(start["x"] + 8, y)
        page.mouse.down()
        page.mouse.move(end["x"] + end["width"] / 2, y, steps=12)
        page.mouse.up()
        y += height
