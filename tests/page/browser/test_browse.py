"""Browsing a saved solution: the strip, the grid, the tabs, keys and links."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import expect
from tests.page.browser.parts import at_node, cell, shown_frequencies, take, wait_for_line
from tests.page.serving import TOKEN

from regretless.cli import main

RIVER = "/browse?file=river.rgl"
TURN = "/browse?file=turn.rgl"


@pytest.fixture
def river(site: str, open_page: Any) -> Any:
    page = open_page(site + RIVER)
    at_node(page, "oop")
    return page


def test_the_folder_is_listed_and_a_file_opens(site: str, open_page: Any) -> None:
    page = open_page(site)
    page.locator("a[title='river.rgl']").click()
    at_node(page, "oop")
    expect(page.locator(".file-name")).to_have_text("river.rgl")
    expect(page.locator(".badge")).to_contain_text("% of pot")


def test_any_action_of_the_strip_leads_there(river: Any) -> None:
    take(river, "check")
    wait_for_line(river, "check")  # the first decision has a bet of 30 too
    take(river, "bet 30")
    wait_for_line(river, "check, bet 30")
    river.locator(".tile").nth(1).get_by_role("button", name=re.compile("^all-in")).click()
    wait_for_line(river, "all-in 240")
    river.go_back()
    wait_for_line(river, "check, bet 30")
    expect(river.locator(".tile .taken")).to_have_count(2)


def test_arrow_keys_walk_the_line_and_its_neighbours(river: Any) -> None:
    for key, line in (
        ("c", "check"),
        ("2", "check, bet 30"),
        ("ArrowDown", "check, all-in 240"),
        ("ArrowUp", "check, bet 30"),
        ("ArrowLeft", "check"),
        ("ArrowRight", "check, bet 30"),
        ("f", "check, bet 30, fold"),
        ("Home", ""),
    ):
        river.keyboard.press(key)
        wait_for_line(river, line)


def test_a_class_is_pinned_by_mouse_by_arrows_and_by_name(river: Any) -> None:
    pinned = river.get_by_label("Combos of a class").locator("strong")
    cell(river, "KK").click()
    expect(pinned).to_have_text("KK")
    river.keyboard.press("ArrowUp")
    expect(pinned).to_have_text("AKs")
    river.keyboard.press("/")
    river.get_by_label("Hand", exact=True).fill("9h9d")
    river.keyboard.press("Enter")
    expect(pinned).to_have_text("99")
    cell(river, "QQ").click(modifiers=["Shift"])
    expect(pinned).to_have_text(["99", "QQ"])
    river.keyboard.press("Escape")
    expect(pinned).to_have_count(0)


def test_hovering_previews_without_pinning(river: Any) -> None:
    cell(river, "AA").click()
    cell(river, "22").hover()
    pinned = river.get_by_label("Combos of a class").locator("strong")
    expect(pinned).to_have_text("22")
    river.locator(".brand").hover()
    expect(pinned).to_have_text("AA")


def test_the_other_range_is_one_key_away(river: Any) -> None:
    expect(cell(river, "QJs")).not_to_have_class(re.compile("out"))
    river.keyboard.press("p")
    expect(cell(river, "QJs")).to_have_class(re.compile("out"))
    cell(river, "AA").click()
    river.keyboard.press("Tab")
    expect(cell(river, "QJs")).not_to_have_class(re.compile("out"))


def test_hands_are_filtered_and_sorted(river: Any) -> None:
    rows = river.locator("table.hands tbody tr:not(.spacer) .hand")
    river.get_by_role("searchbox", name="Filter hands").fill("AA, 44")
    expect(rows).to_have_count(9)
    river.get_by_role("searchbox", name="Filter hands").fill("Flush")
    expect(river.get_by_text("No hand of this range passes the filter.")).to_be_visible()
    river.get_by_role("searchbox", name="Filter hands").fill("AKx")
    expect(river.get_by_role("searchbox", name="Filter hands")).to_have_attribute("aria-invalid", "true")
    river.get_by_role("searchbox", name="Filter hands").fill("pairs")
    expect(river.get_by_role("searchbox", name="Filter hands")).not_to_have_attribute("aria-invalid", "true")
    equity = river.get_by_role("columnheader", name="Equity")
    equity.get_by_role("button").click()
    expect(equity).to_have_attribute("aria-sort", "descending")
    shown = river.locator("table.hands tbody tr:not(.spacer) td:nth-last-child(2)").all_inner_texts()
    assert shown == sorted(shown, key=float, reverse=True)


def test_a_filter_changes_grid_bar_and_totals(river: Any, solved: Path) -> None:
    """As `show --hands` prints them; a comma adds hands."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(["show", str(solved / "river.rgl"), "--hands", "AA, QJs", "--json"]) == 0
    known = json.loads(printed.getvalue())["node"]
    ev = river.locator(".player").first.locator("dd").first
    everything = ev.inner_text()
    river.get_by_role("searchbox", name="Filter hands").fill("AA, QJs")
    bar = river.get_by_role("group", name="Mix of the hands that pass the filter")
    for action, share in zip(known["actions"], known["frequencies"], strict=True):
        label = {"check": "check", "bet 30": "bet 50 %"}.get(action, "all-in")
        if share > 0.0005:
            expect(bar.get_by_role("button", name=f"{label} · {100 * share:.1f} %")).to_have_count(1)
    expect(cell(river, "AA")).not_to_have_class(re.compile("out"))
    expect(cell(river, "QJs")).not_to_have_class(re.compile("out"))
    expect(cell(river, "KK")).to_have_class(re.compile("out"))
    expect(ev).to_have_text(f"{known['ev']['oop']:.1f}")
    expect(river.locator(".player").first).to_contain_text(f"{sum(known['combos']):.1f} combos")
    river.keyboard.press("Escape")
    river.keyboard.press("m")  # wherever the filter cannot be seen
    bar.get_by_role("button", name="Show every hand").click()
    expect(cell(river, "KK")).not_to_have_class(re.compile("out"))
    expect(ev).to_have_text(everything)
    river.keyboard.press("h")
    expect(river.get_by_role("searchbox", name="Filter hands")).to_have_value("")
    river.get_by_role("searchbox", name="Filter hands").fill("32o")
    expect(river.get_by_role("group", name="Mix of the hands that pass the filter")).to_contain_text("No hand passes")
    expect(ev).to_have_text("–")


def test_every_tab_opens_and_is_in_the_address(river: Any) -> None:
    for tab in ("Made hands", "Ranges", "Graph", "Lock", "Compare"):
        river.get_by_role("tab", name=tab).click()
        panel = river.get_by_role("tabpanel", name=tab)
        expect(panel).to_be_visible()
        expect(panel.get_by_text(re.compile(r"\S")).or_(panel.locator("svg")).first).to_be_visible()
        river.reload()
        expect(panel).to_be_visible()


def test_made_hands_lead_to_their_hands(river: Any) -> None:
    river.keyboard.press("m")
    river.get_by_role("button", name="Top pair").click()
    expect(river.get_by_role("searchbox", name="Filter hands")).to_have_value("Top pair")
    expect(river.locator("table.hands .hand").first).to_contain_text("K")


def test_cards_are_chosen_from_the_deck_or_typed(site: str, open_page: Any) -> None:
    page = open_page(f"{site}{TURN}&line=check,+check")
    page.get_by_role("button", name=re.compile("^T♥.*EV")).click()
    wait_for_line(page, "check, check, Th")
    page.keyboard.press("ArrowLeft")
    wait_for_line(page, "check, check")
    page.keyboard.press("a")
    page.keyboard.press("d")
    wait_for_line(page, "check, check, Ad")
    page.keyboard.press("ArrowLeft")
    wait_for_line(page, "check, check")
    for key in "tmh":  # another key in between: not the ten of hearts
        page.keyboard.press(key)
    expect(page.get_by_role("tab", name="Made hands")).to_have_attribute("aria-selected", "false")
    wait_for_line(page, "check, check")
    page.keyboard.press("ArrowRight")
    wait_for_line(page, "check, check, Ad")
    page.keyboard.press("t")
    page.get_by_role("button", name=re.compile("^5♣.*EV")).click()
    wait_for_line(page, "check, check, 5c")


@pytest.mark.parametrize(
    ("line", "choice"),
    [("bet 40, all-in 240, call", "River cards"), ("bet 40, all-in 240", "River cards after a call")],
)
def test_cards_after_an_all_in_say_only_who_wins(line: str, choice: str, site: str, open_page: Any) -> None:
    page = open_page(f"{site}{TURN}&line={line}&tab=cards")
    expect(page.get_by_role("button", name=re.compile("^T♥.*EV"))).to_be_visible()
    choices = page.get_by_role("group", name="Which cards").get_by_role("button")
    expect(choices).to_have_text([choice, "Deck", "Table"])
    expect(page.locator(".cards-tab > .hint")).to_have_text(re.compile("^Numbers: EV"))


def test_a_link_reopens_exactly_what_is_seen(river: Any, open_page: Any) -> None:
    take(river, "check")
    wait_for_line(river, "check")
    cell(river, "AA").click()
    river.keyboard.press("Escape")
    cell(river, "KQo").click()
    river.keyboard.press("e")
    river.get_by_role("columnheader", name="Weight").get_by_role("button").click()
    river.locator(".brand").hover()
    again = open_page(river.url)
    wait_for_line(again, "check")
    expect(again.locator("main")).to_have_text(river.locator("main").inner_text(), use_inner_text=True)


def test_the_keys_are_listed(river: Any) -> None:
    river.keyboard.press("?")
    dialog = river.get_by_role("dialog", name="Keys")
    expect(dialog).to_contain_text("find a hand")
    assert dialog.evaluate("element => element.scrollTop") == 0, "the list begins at its top"
    river.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    river.get_by_role("link", name="Solve").click()  # has no keys of its own
    expect(river.get_by_role("option", name="kuhn")).to_have_count(1)
    river.keyboard.press("?")
    expect(dialog).to_contain_text("this list")


def test_frequencies_of_the_strip_sum_to_100(river: Any) -> None:
    assert sum(shown_frequencies(river).values()) == pytest.approx(100, abs=0.3)


def test_a_wrong_address_is_answered_with_a_sentence(site: str, open_page: Any, chromium: Any) -> None:
    page = chromium.new_page()  # Chromium reports the refused request in its console, rightly
    page.goto(f"{site}/browse?file=river.rgl&line=bet+7&token={TOKEN}")
    expect(page.get_by_role("alert")).to_contain_text("bet 7")
    page.goto(f"{site}/browse?file=absent.rgl")
    expect(page.get_by_role("alert")).to_contain_text("absent.rgl")
    page.close()


def test_names_from_files_are_shown_as_text(site: str, open_page: Any) -> None:
    page = open_page(f"{site}{RIVER}&pin=<img+src=x+onerror=alert(1)>&filter=<b>")
    at_node(page, "oop")
    expect(page.locator("main img, main b")).to_have_count(0)


def test_a_server_that_is_gone_is_said_so_and_the_node_stays(start_server: Any, chromium: Any) -> None:
    server = start_server()
    page = chromium.new_page()  # Chromium reports the failed request in its console, rightly
    page.goto(f"{server.client.base_url}{RIVER}&token={TOKEN}")
    at_node(page, "oop")
    server.kill()
    take(page, "check")
    expect(page.get_by_role("alert")).to_contain_text("does not answer")
    at_node(page, "oop")
    assert "line=" not in page.url
    page.close()


def test_the_tile_of_a_card_to_come_opens_the_cards(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/browse?file=turn.rgl&line=check,%20check&tab=lock")
    page.get_by_role("button", name="Choose the river card").click()
    expect(page.get_by_role("tabpanel", name="River cards")).to_be_visible()


def test_hands_without_a_number_come_last_whichever_way(site: str, open_page: Any) -> None:
    address = f"{site}/api/v1/node?file=river.rgl&line=bet%2030,%20call"
    node = httpx2.get(address, headers={"authorization": f"Bearer {TOKEN}"}).json()
    assert None in node["players"]["ip"]["hands"]["eqr"]
    for sort in ("eqr", "-eqr"):
        page = open_page(f"{site}/browse?file=river.rgl&line=bet%2030,%20call&player=ip&sort={sort}")
        expect(page.locator("table.hands tbody tr:not(.spacer)").first).to_be_visible()
        assert page.locator("table.hands tbody tr:not(.spacer) td:last-child").first.inner_text() != "–"
