"""Practice: hands are dealt, choices judged, the score kept."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect
from tests.page.serving import Server


def play_a_hand(page: Any, decisions: int) -> int:
    """Take the first action until the hand is over; how many decisions that makes with those taken before."""
    while page.get_by_role("button", name="Next hand").count() == 0:
        page.locator(".choices .act").first.click()
        decisions += 1
        expect(page.locator(".score dd").nth(1)).to_have_text(str(decisions))  # judged, and what follows is shown
        expect(page.locator(".verdict .grade")).to_be_visible()
    return decisions


def test_hands_are_dealt_judged_and_counted(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/practice")
    page.get_by_role("button", name="whole hands").click()
    page.get_by_role("checkbox", name="river", exact=False).uncheck()
    page.get_by_role("button", name="Deal").click()
    expect(page.locator(".hole-cards .card")).to_have_count(2)
    expect(page.locator(".tile .share").first).to_have_text("")  # no peeking
    decisions = play_a_hand(page, 0)
    page.keyboard.press("n")
    expect(page.get_by_role("button", name="Next hand")).to_have_count(0)
    decisions = play_a_hand(page, decisions)
    shown = page.locator(".score dd").all_inner_texts()
    assert shown[:2] == ["2", str(decisions)]
    grades = page.locator(".grades strong").all_inner_texts()
    assert sum(map(int, grades)) == decisions


def test_a_judged_decision_opens_in_browse(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/practice?file=river.rgl")
    page.locator(".choices .act").first.click()
    expect(page.locator(".verdict tbody")).to_contain_text(re.compile("bet 50 %|raise [0-9]+ %|all-in"))
    page.get_by_role("button", name="Look at this decision").click()
    expect(page.locator(".cell.pinned")).to_have_count(1)
    expect(page.locator(".player.to-act")).to_have_count(1)


def test_a_reload_keeps_the_hand_and_the_score(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/practice?file=river.rgl")
    page.locator(".choices .act").first.click()
    expect(page.locator(".verdict .grade")).to_be_visible()
    seen = page.locator("main").inner_text()
    page.reload()
    expect(page.locator("main")).to_have_text(seen, use_inner_text=True)


def test_the_side_to_play_can_be_chosen(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/practice?file=river.rgl")
    side = page.locator(".felt .hint")
    expect(side).to_contain_text("You are")
    drawn = "OOP" if "You are OOP" in side.inner_text() else "IP"
    for player in ("IP" if drawn == "OOP" else "OOP", drawn):  # each click changes what is shown, so it can be awaited
        page.get_by_role("group", name="Play as").get_by_role("button", name=player, exact=True).click()
        expect(side).to_contain_text(f"You are {player}")


def test_decisions_are_filtered_and_mistakes_lead_to_their_decision(workshop: Server, open_page: Any) -> None:
    page = open_page(f"{workshop.client.base_url}/practice")
    page.get_by_role("group", name="Decision").get_by_role("button", name="against a bet").click()
    page.get_by_role("group", name="Street").get_by_role("button", name="river").click()
    page.get_by_role("button", name="Deal").click()
    for number in range(1, 13):
        expect(page.locator(".felt .hint")).to_contain_text("to call")
        page.keyboard.press("f")
        expect(page.locator(".score dd").nth(1)).to_have_text(str(number))
    page.get_by_role("button", name="How is this scored?").click()
    expect(page.get_by_role("dialog")).to_contain_text("less that of yours")
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Practice").click()
    mistakes = page.get_by_role("region", name="Mistakes").locator("li a")
    expect(mistakes.first).to_contain_text("fold, best")
    shown = [
        float(text.removeprefix("−").removesuffix(" %")) for text in mistakes.locator("> strong").all_inner_texts()
    ]
    assert shown == sorted(shown, reverse=True)
    mistakes.first.click()
    expect(page.locator(".cell.pinned")).to_have_count(1)
