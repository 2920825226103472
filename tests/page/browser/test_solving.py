"""Running solves from the page: stop, resume, refine, queue, and coming back to one that still runs."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect
from tests.page.browser.parts import at_node
from tests.page.serving import API, RIVER, SLOW, Server, is_over, wait_for


def begin(server: Server, spot: dict[str, Any], **options: Any) -> str:
    answer = server.client.post(f"{API}/solves", json={"spot": spot, "threads": 1, **options})
    solve: dict[str, Any] = answer.json()["solve"]
    return str(solve["id"])


def number(page: Any, name: str) -> Any:
    return page.locator(".solve-numbers div", has_text=name).first.locator("dd")


def test_a_solve_is_watched_left_reopened_stopped_and_resumed(workshop: Server, open_page: Any) -> None:
    id_ = begin(workshop, SLOW, iterations=1_000_000, name="slow")
    page = open_page(f"{workshop.client.base_url}/solve")
    expect(page.get_by_role("heading", name="slow")).to_be_visible()
    expect(page.locator(".solve-curve polyline")).to_be_visible()
    first = int(number(page, "Iteration").inner_text().replace(",", ""))
    address = page.url
    page.close()

    again = open_page(address)  # it went on meanwhile
    expect(again.locator(".solve-curve polyline")).to_be_visible()
    assert int(number(again, "Iteration").inner_text().replace(",", "")) >= first
    again.get_by_role("button", name="Stop", exact=True).click()
    again.get_by_role("button", name="Resume", exact=True).click()
    again.get_by_role("button", name="Stop", exact=True).click()
    wait_for(workshop.client, id_, is_over)


def test_a_finer_target_goes_on_from_the_coarse_one(workshop: Server, open_page: Any) -> None:
    wait_for(workshop.client, begin(workshop, RIVER, target=5, name="river to refine"), is_over)
    page = open_page(f"{workshop.client.base_url}/solve")
    expect(number(page, "Exploitability")).to_contain_text("%")
    before = int(number(page, "Iteration").inner_text())
    page.get_by_label("Finer target").fill("abc")
    page.get_by_role("button", name="Solve to a finer target").click()
    expect(page.get_by_text("Finer target: 'abc' must be a number above 0")).to_be_visible()
    page.get_by_label("Finer target").fill("0.5")
    page.get_by_role("button", name="Solve to a finer target").click()
    expect(page.get_by_label("Finer target")).to_have_value("0.2")  # the next one
    assert int(number(page, "Iteration").inner_text()) > before
    assert float(number(page, "Exploitability").inner_text().split()[0]) <= 0.5


@pytest.mark.slow  # tests/page/test_solves.py has a queue as well
def test_solves_wait_for_each_other_and_a_waiting_one_can_be_stopped(workshop: Server, open_page: Any) -> None:
    slow = begin(workshop, SLOW, iterations=1_000_000, name="first in line")
    begin(workshop, RIVER, name="second in line")
    page = open_page(f"{workshop.client.base_url}/solve")
    waiting = page.locator(".solve-list li", has_text="second in line")
    expect(waiting).to_contain_text("queued")
    waiting.get_by_role("button").click()
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(waiting).to_contain_text("stopped")
    page.locator(".solve-list li", has_text="first in line").get_by_role("button").click()
    page.get_by_role("button", name="Stop", exact=True).click()
    wait_for(workshop.client, slow, is_over)


def test_a_small_game_is_solved_and_browsed(workshop: Server, open_page: Any) -> None:
    page = open_page(f"{workshop.client.base_url}/solve")
    page.get_by_label("Game", exact=True).select_option("kuhn")
    page.get_by_role("button", name="Solve", exact=True).click()
    expect(page.get_by_role("heading", name="kuhn")).to_be_visible()
    page.get_by_role("button", name="Browse", exact=True).click()
    expect(page.get_by_role("heading", name="kuhn")).to_be_visible()
    expect(page.locator(".game-sets tbody tr")).to_have_count(12)


def test_a_file_is_browsed_while_it_is_being_solved(workshop: Server, open_page: Any) -> None:
    id_ = begin(workshop, SLOW, iterations=1_000_000, name="read meanwhile")
    solve = wait_for(workshop.client, id_, lambda solve: bool(solve["readable"]))
    page = open_page(f"{workshop.client.base_url}/browse?file={solve['file']}")
    at_node(page, "oop")
    workshop.client.post(f"{API}/solves/{id_}/stop", json={})
    wait_for(workshop.client, id_, is_over)
    last = workshop.client.get(f"{API}/solves/{id_}").json()["solve"]["exploitability"]
    expect(page.locator(".badge")).to_have_text(f"{last:#.2g} % of pot")
