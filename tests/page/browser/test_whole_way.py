"""One spot from the first click to the comparison of two solutions, as a person would do it."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.page.browser.parts import at_node, hand_row, paint_range, shown_frequencies, take, wait_for_line
from tests.page.serving import Server

from regretless.cli import main

BOARD = ["K of hearts", "Q of spades", "J of spades", "2 of clubs", "3 of diamonds"]


def show(path: Path, line: str) -> dict[str, Any]:
    """What the command says about a node."""
    with contextlib.redirect_stdout(io.StringIO()) as answer:
        assert main(["show", str(path), "--node", line, "--strategy", "--json"]) == 0
    node: dict[str, Any] = json.loads(answer.getvalue())["node"]
    return node


def set_up_river(page: Any) -> None:
    page.get_by_role("button", name="Clear everything").click()
    expect(page.get_by_label("Range of OOP as text")).to_have_value("")
    for card in BOARD:
        page.get_by_role("button", name=card, exact=True).click()
    page.get_by_label("Pot", exact=True).fill("100")
    page.get_by_label("Stack behind").fill("200")
    page.get_by_label("Bet", exact=True).fill("50%, a")
    page.get_by_label("Raise", exact=True).fill("2.5x")
    for player in ("OOP", "IP"):
        paint_range(page, player, "AA", "TT")
        expect(page.get_by_label(f"Range of {player} as text")).to_have_value("TT+,AT+,KT+,QT+,JT")


def solve(page: Any) -> None:
    page.get_by_role("button", name="Solve", exact=True).click()
    page.get_by_role("button", name="Browse", exact=True).wait_for()


def test_from_the_first_click_to_a_locked_solution(workshop: Server, open_page: Any) -> None:
    folder = workshop.folder
    page = open_page(f"{workshop.client.base_url}/setup")
    set_up_river(page)
    solve(page)
    page.get_by_role("button", name="Browse", exact=True).click()
    at_node(page, "oop")

    # to a decision facing a bet: by mouse, back, and by keys
    take(page, "bet 50")
    wait_for_line(page, "bet 50")
    page.keyboard.press("ArrowLeft")
    wait_for_line(page, "")
    page.keyboard.press("1")
    wait_for_line(page, "check")
    page.keyboard.press("b")
    wait_for_line(page, "check, bet 50")
    at_node(page, "oop")

    # what is read is what the command prints
    solved = next(folder.glob("spot*.rgl"))
    known = show(solved, "check, bet 50")
    assert shown_frequencies(page) == pytest.approx(
        {name: round(100 * share, 1) for name, share in zip(known["actions"], known["frequencies"])}, abs=0.11
    )
    hand = next(row for row in known["hands"]["oop"] if row["hand"] == "AhQh")
    numbers = hand_row(page, "AhQh")
    assert numbers[2 : 2 + len(known["actions"])] == [f"{100 * share:.1f}" for share in hand["strategy"].values()]
    assert numbers[-3] == f"{hand['ev']:.1f}"

    # a link reopens what is seen
    address, seen = page.url, page.locator("main").inner_text()
    again = open_page(address)
    wait_for_line(again, "check, bet 50")
    expect(again.locator("main")).to_have_text(seen, use_inner_text=True)

    # lock: the first player never checks
    page.keyboard.press("Escape")  # leaves the filter
    page.keyboard.press("Home")
    wait_for_line(page, "")
    page.keyboard.press("l")
    page.get_by_role("button", name="One mix").click()
    page.get_by_label("bet 50, percent, as a number").fill("100")
    page.get_by_label("bet 50, percent, as a number").press("Tab")
    page.get_by_role("button", name="Lock", exact=True).click()
    expect(page.locator(".tile.present .lock-mark")).to_be_visible()
    page.get_by_role("button", name="Solve again with these locks").click()

    # before and after
    page.get_by_role("button", name="Compare with").click()
    at_node(page, "oop")
    expect(page.get_by_role("row", name="whole range")).to_contain_text("→ 100.0")
    assert shown_frequencies(page)["bet 50"] == 100.0
    locked = next(folder.glob("spot*locked.rgl"))
    assert show(locked, "")["frequencies"][1] == pytest.approx(1)
    assert (folder / solved.name).exists()
