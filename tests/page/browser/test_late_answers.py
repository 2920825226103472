"""An answer of the server that comes late undoes nothing that was done since, and draws into no other view."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.page.browser.parts import at_node, cell, wait_for_line
from tests.page.serving import Server

RIVER = "/browse?file=river.rgl"
RELEASED = 300  # milliseconds: what a late answer draws is drawn by then


class Waiting:
    """Requests to an address, kept from the server until they are released, in the order in which they were made."""

    def __init__(self, page: Any, pattern: str | re.Pattern[str], only: Callable[[Any], bool] = lambda _: True) -> None:
        self._page = page
        self._routes: list[Any] = []
        page.route(pattern, lambda route: self._routes.append(route) if only(route.request) else route.continue_())

    def wait(self, count: int) -> None:
        """Wait until so many requests were made."""
        while len(self._routes) < count:
            self._page.wait_for_timeout(10)

    def release(self, place: int) -> None:
        """Let a request be answered, and give the page the time to draw the answer."""
        route = self._routes[place]
        answer = route.fetch()
        try:
            route.fulfill(response=answer)
        except Exception as error:  # the page has given the request up
            assert "route" in str(error).lower() or "intercept" in str(error).lower(), error  # noqa: PT017
        self._page.wait_for_timeout(RELEASED)


def test_a_game_that_is_read_late_leaves_the_view_that_was_chosen_since(site: str, open_page: Any) -> None:
    page = open_page(site)
    waiting = Waiting(page, "**/api/v1/file?*")
    page.evaluate("""() => {
      history.pushState(null, "", "/browse?file=push-fold.rgl");
      dispatchEvent(new PopStateEvent("popstate"));
    }""")
    waiting.wait(1)
    page.get_by_role("link", name="Library").click()
    expect(page.locator(".library-table tbody tr").nth(1)).to_be_visible()
    waiting.release(0)
    expect(page.locator(".library-table tbody tr").nth(1)).to_be_visible()
    expect(page.get_by_role("link", name="Library")).to_have_attribute("aria-current", "page")
    expect(page.locator(".file-name")).to_have_text("Open…")


@pytest.mark.parametrize(
    ("view", "pattern"),
    [
        ("/browse?file=absent.rgl", "**/api/v1/file?*"),
        ("/studies?study=absent", "**/api/v1/study?*"),
        ("/preflop?file=absent.rgl", "**/api/v1/preflop?*"),
        ("/practice?file=absent.rgl", "**/api/v1/file?*"),
    ],
)
def test_an_error_of_a_view_that_was_left_is_not_shown(site: str, open_page: Any, view: str, pattern: str) -> None:
    page = open_page(f"{site}/solve")
    held: list[Any] = []
    page.route(pattern, lambda route: held.append(route))
    page.evaluate("to => { history.pushState(null, '', to); dispatchEvent(new PopStateEvent('popstate')) }", view)
    while not held:
        page.wait_for_timeout(10)
    page.get_by_role("link", name="Library").click()
    expect(page.locator(".library-table tbody tr").nth(1)).to_be_visible()
    held[0].fulfill(body="no JSON")  # an error to the page, but not in Chromium's console
    page.wait_for_timeout(RELEASED)
    expect(page.locator(".library-table tbody tr").nth(1)).to_be_visible()
    expect(page.locator("footer")).to_contain_text("new spot")  # the keys of the library


def test_enter_opens_what_was_searched_for_however_fast_it_was_typed(site: str, open_page: Any) -> None:
    page = open_page(site)
    expect(page.locator(".library-table tbody tr").nth(1)).to_be_visible()
    page.evaluate("""() => {
      const field = document.querySelector(".library input[type=search]");
      field.focus();
      field.value = "ks9h4h2c7d";
      field.dispatchEvent(new InputEvent("input", { bubbles: true }));
      field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    }""")
    at_node(page, "oop")
    expect(page.locator(".file-name")).to_have_text("river.rgl")
    page.wait_for_timeout(RELEASED)
    assert "find=" not in page.url  # the search stays in the library


def test_a_check_of_an_earlier_draft_enables_nothing(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/setup?file=river.toml")
    solve, pot = page.get_by_role("button", name="Solve", exact=True), page.get_by_label("Pot", exact=True)
    expect(solve).to_be_enabled()
    waiting = Waiting(page, "**/api/v1/spots/check")
    pot.fill("61")
    waiting.wait(1)
    pot.evaluate("""(field) => {
      window.enabled = false;
      const watch = new MutationObserver(() => { window.enabled ||= !document.querySelector(".solve").disabled; });
      watch.observe(document.querySelector(".estimate"), { subtree: true, attributes: true });
      const edit = () => {
        field.value = String(Number(field.value) + 1);
        field.dispatchEvent(new InputEvent("input", { bubbles: true }));
      };
      edit();
      const typing = setInterval(edit, 50);
      setTimeout(() => clearInterval(typing), 1000);
    }""")
    waiting.release(0)
    assert not page.evaluate("window.enabled")
    waiting.wait(2)
    waiting.release(1)
    expect(solve).to_be_enabled()


def test_a_file_that_is_read_late_changes_no_other_view(site: str, open_page: Any) -> None:
    page = open_page(site + RIVER)
    at_node(page, "oop")
    draft = page.evaluate("localStorage['regretless.draft'] ?? null")
    waiting = Waiting(page, "**/api/v1/file?*")
    page.get_by_role("button", name="Set up this spot again").click()
    waiting.wait(1)
    page.go_back()
    waiting.wait(2)
    waiting.release(1)
    at_node(page, "oop")
    waiting.release(0)
    at_node(page, "oop")
    assert "file=river.rgl" in page.url
    if draft is not None:
        assert page.evaluate("localStorage['regretless.draft']") == draft


def test_the_best_hands_do_not_come_back_once_the_range_is_cleared(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/setup")
    text = page.get_by_label("Range of OOP as text")
    expect(text).not_to_have_value("")
    waiting = Waiting(page, "**/api/v1/ranges/top?*")
    page.get_by_label("Best hands for OOP, percent").fill("5")
    waiting.wait(1)
    page.get_by_role("button", name="Clear", exact=True).first.click()
    expect(text).to_have_value("")
    waiting.release(0)
    expect(text).to_have_value("")


def test_text_in_another_format_does_not_replace_what_was_painted_since(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/setup")
    page.get_by_role("button", name="Clear everything").click()
    text = page.get_by_label("Range of OOP as text")
    text.fill("AA")
    expect(cell(page, "AA", "Range of OOP")).to_have_text("AA100 %")
    waiting = Waiting(page, "**/api/v1/ranges/format", lambda request: "gto+" in request.post_data)
    page.get_by_label("Write the text as").first.select_option("gto+")
    waiting.wait(1)
    cell(page, "KK", "Range of OOP").click()
    expect(text).to_have_value("KK+")
    waiting.release(0)
    expect(text).to_have_value("KK+")


def test_a_random_flop_does_not_replace_the_board_that_was_typed_since(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/setup")
    board = page.get_by_label("Board", exact=True)
    expect(page.get_by_label("Pot", exact=True)).not_to_have_value("")
    waiting = Waiting(page, "**/api/v1/boards/random*")
    page.get_by_role("button", name="Random flop").click()
    waiting.wait(1)
    board.fill("Ks 7d 2c")
    waiting.release(0)
    expect(page.locator(".picker-card[aria-pressed=true]")).to_have_text(["K♠", "7♦", "2♣"])


def test_the_effect_of_a_lock_is_that_of_the_frequency_shown(site: str, open_page: Any) -> None:
    page = open_page(f"{site}{RIVER}&tab=lock")
    at_node(page, "oop")
    effect, field = page.locator(".lock-effect"), page.get_by_label("Frequency, percent, as a number")
    expect(effect).to_contain_text("OOP loses")
    waiting = Waiting(page, "**/api/v1/locks/check")
    field.fill("100")
    waiting.wait(1)
    field.fill("0")
    waiting.wait(2)
    waiting.release(1)
    expect(effect).to_contain_text("→ 100.0 %")  # checks
    shown = effect.inner_text()
    waiting.release(0)
    expect(effect).to_have_text(shown, use_inner_text=True)


def test_ranges_to_take_away_are_in_the_format_that_is_chosen(site: str, open_page: Any) -> None:
    page = open_page(site + RIVER)
    at_node(page, "oop")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.keyboard.press("x")
    copy, format_ = page.get_by_role("button", name="Copy OOP: whole range"), page.get_by_label("Format of ranges")
    expect(copy).to_be_enabled()
    waiting = Waiting(page, "**/api/v1/node/ranges?*")
    format_.select_option("weights")
    waiting.wait(1)
    format_.select_option("short")
    waiting.wait(2)
    waiting.release(1)
    waiting.release(0)
    copy.click()
    expect(page.get_by_text("Copied OOP: whole range.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("AA,")


def test_a_filter_is_kept_when_the_field_is_left_at_once(site: str, open_page: Any) -> None:
    page = open_page(site + RIVER)
    at_node(page, "oop")
    field = page.get_by_role("searchbox", name="Filter hands")
    field.fill("AA")
    page.locator(".tile.present button").first.click()
    wait_for_line(page, "check")
    expect(field).to_have_value("AA")
    expect(page.locator("table.hands tbody tr:not(.spacer)")).to_have_count(6)


def test_a_solve_that_is_read_late_does_not_replace_the_chosen_one(workshop: Server, open_page: Any) -> None:
    client = workshop.client
    first, second = (
        client.post("/api/v1/solves", json={"game": "kuhn", "name": name, "iterations": 10}).json()["solve"]["id"]
        for name in ("the first of two", "the second of two")
    )
    page = open_page(f"{client.base_url}/solve?solve={second}")
    title = page.locator(".solve-panel h2")
    expect(title).to_have_text("the second of two")
    waiting = Waiting(page, f"**/api/v1/solves/{first}")
    page.get_by_role("button", name="the first of two").click()
    waiting.wait(1)
    page.get_by_role("button", name="the second of two").click()
    expect(title).to_have_text("the second of two")
    waiting.release(0)
    expect(title).to_have_text("the second of two")


def test_of_two_flops_the_one_clicked_last_is_opened(site: str, open_page: Any) -> None:
    pytest.importorskip("duckdb")
    page = open_page(f"{site}/studies?study=study")
    rows = page.locator(".flops tbody .flop")
    expect(rows).to_have_count(6)
    waiting = Waiting(page, "**/api/v1/study/spot?*")
    page.get_by_title("Open QsJh2h").click()
    waiting.wait(1)
    page.get_by_title("Open Ts9h8d").click()
    waiting.wait(2)
    waiting.release(0)
    expect(page.get_by_role("link", name="Studies")).to_have_attribute("aria-current", "page")
    waiting.release(1)
    expect(page).to_have_url(re.compile("Ts9h8d"))
