"""Whole hands in the browser: with the mouse, with the keyboard alone, with flops that are solved, stopped and late."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.page.browser.test_look import AXE, PHONE, THEMES, serious_findings, set_theme
from tests.page.serving import Server


@pytest.fixture(scope="module")
def house(games: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with whole games; every test has a browser, and so a table, of its own."""
    folder = tmp_path_factory.mktemp("house") / "served"
    shutil.copytree(games, folder)
    server = Server(folder)
    yield server
    server.close()


def sit_down(page: Any, *, target: str = "100", seat: str = "SB") -> None:
    page.get_by_label("Flops to").fill(target)
    page.get_by_role("group", name="Your seat").get_by_role("button", name=seat).click()
    page.get_by_role("button", name="Deal").click()
    expect(page.locator(".hole-cards .card")).to_have_count(2)


def hands_played(page: Any) -> Any:
    return page.locator(".score dd").first


def settle(page: Any) -> None:
    """Wait until the hand can go on, or is over."""
    expect(page.locator(".choices > button").first).to_be_visible()


def act(page: Any, choose: Callable[[], object]) -> None:
    """Take an action, and wait until the hand can go on."""
    before = page.locator(".strip").inner_text()
    choose()
    expect(page.locator(".strip")).not_to_have_text(before, use_inner_text=True)
    settle(page)


def to_flop(page: Any) -> None:
    """Call as the small blind, hand after hand, until a flop has to be solved."""
    for _ in range(30):
        page.keyboard.press("c")
        expect(page.locator(".flop-solve, .choices .button, .board-cards .card").first).to_be_visible()
        if page.locator(".flop-solve").count():
            return
        while page.get_by_role("button", name="Next hand").count() == 0:
            act(page, page.locator(".choices .act").last.click)
        page.keyboard.press("n")
        expect(page.locator(".choices .act").first).to_be_visible()
    raise AssertionError("no hand came to a flop")


def test_a_whole_hand_with_the_mouse(house: Server, open_page: Any) -> None:
    page = open_page(f"{house.client.base_url}/practice")
    page.get_by_role("region", name="Whole hands").get_by_role("link", name="flops.rgl").click()
    waits = page.get_by_role("region", name="How long you wait")
    expect(waits.get_by_role("row", name=re.compile("^Flop"))).to_contain_text("about")
    expect(waits.get_by_role("row", name="Turn, river")).to_contain_text("none")
    expect(page.get_by_label("Safe", exact=False)).to_be_hidden()  # the game has no buckets
    sit_down(page)
    expect(page.locator(".tile .share").first).to_have_text("")  # no peeking
    expect(page.get_by_role("link", name="Practice")).to_have_attribute("aria-current", "page")
    choices = page.get_by_role("group", name="Your action")
    act(page, choices.get_by_role("button", name="call").click)
    while page.get_by_role("button", name="Next hand").count() == 0:
        act(page, choices.locator(".act").first.click)
    expect(hands_played(page)).to_have_text("1")
    log = page.get_by_role("region", name="This hand")
    expect(log).to_contain_text("You: call")
    expect(log.locator(".street").first).to_contain_text("flop")
    expect(page.locator(".verdict .grade")).to_be_visible()
    page.get_by_role("button", name="Next hand").click()
    expect(log).to_contain_text("Hand 2")
    page.get_by_role("button", name="How is this scored?").click()
    expect(page.get_by_role("dialog")).to_contain_text("All-in adjusted")


def test_a_whole_hand_with_the_keyboard_alone(house: Server, open_page: Any) -> None:
    page = open_page(f"{house.client.base_url}/preflop?file=flops.rgl")
    button = page.get_by_role("button", name="Play a hand against it")
    button.focus()
    page.keyboard.press("Enter")
    page.get_by_label("Flops to").fill("100")
    page.keyboard.press("Enter")
    expect(page.locator(".hole-cards .card")).to_have_count(2)
    while page.get_by_role("button", name="Next hand").count() == 0:
        act(page, lambda: page.keyboard.press("c"))
    expect(hands_played(page)).to_have_text("1")
    page.keyboard.press("n")
    expect(page.get_by_role("region", name="This hand")).to_contain_text("Hand 2")


def test_a_folded_hand_and_a_reload(house: Server, open_page: Any) -> None:
    page = open_page(f"{house.client.base_url}/play?file=all-in.rgl")
    expect(page.get_by_role("region", name="How long you wait")).to_contain_text("none")
    sit_down(page)
    page.keyboard.press("f")
    expect(page.locator(".outcome")).to_have_text("You fold")
    expect(page.locator(".score")).to_contain_text("-0.50 bb")
    expect(page.locator(".verdict .grade")).to_contain_text("Played")
    seen = page.locator("main").inner_text()
    page.reload()
    expect(page.locator("main")).to_have_text(seen, use_inner_text=True)
    page.get_by_role("button", name="Another table").click()
    expect(page.get_by_role("heading", name="Play whole hands")).to_be_visible()


def test_an_all_in_before_the_flop_shows_both_hands(house: Server, open_page: Any) -> None:
    page = open_page(f"{house.client.base_url}/play?file=all-in.rgl")
    sit_down(page)
    for number in range(1, 40):
        page.keyboard.press("a")
        expect(hands_played(page)).to_have_text(str(number))
        if page.locator(".opponent .card").count():
            break
        page.keyboard.press("n")
        expect(page.locator(".choices .act").first).to_be_visible()
    expect(page.locator(".board-cards .card")).to_have_count(5)
    expect(page.locator(".outcome")).to_contain_text("at showdown")
    expect(page.locator(".score")).to_contain_text("All-in adjusted")


def test_a_flop_is_watched_stopped_solved_again_and_left(house: Server, open_page: Any) -> None:
    page = open_page(f"{house.client.base_url}/play?file=flops.rgl", bypass_csp=True)
    page.add_script_tag(path=AXE)
    assert serious_findings(page) == []
    sit_down(page, target="0.000001")
    to_flop(page)
    expect(page.get_by_role("progressbar", name="Solving the flop")).to_be_visible()
    expect(page.locator(".flop-solve")).to_contain_text(re.compile("% of pot, to 0 %|% of pot"))
    page.keyboard.press("1")  # nobody can act, and nothing breaks
    page.keyboard.press("n")
    for theme, palette in THEMES:
        set_theme(page, theme, palette)
        assert serious_findings(page) == [], (theme, palette)
    page.keyboard.press("Escape")
    expect(page.locator(".flop-solve .outcome")).to_have_text("Stopped: this flop is not solved")
    assert serious_findings(page) == []
    page.keyboard.press("s")
    expect(page.get_by_role("progressbar", name="Solving the flop")).to_be_visible()
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("button", name="Next hand").click()
    expect(page.locator(".choices .act").first).to_be_visible()
    expect(page.get_by_role("region", name="This hand").locator(".street")).to_have_count(0)


def test_an_answer_that_comes_late_is_dropped(house: Server, open_page: Any) -> None:
    """The state before the hand was over, which the server sends again after it."""
    page = open_page(f"{house.client.base_url}/play?file=all-in.rgl")
    sit_down(page)
    id_ = re.search("session=(w[0-9a-f]+)", page.url)
    assert id_ is not None
    early = house.client.get(f"/api/v1/play/{id_[1]}").json()
    page.route("**/deal", lambda route: route.fulfill(status=200, body=json.dumps(early)))
    page.keyboard.press("f")
    expect(page.locator(".outcome")).to_have_text("You fold")
    with page.expect_response("**/deal"):
        page.keyboard.press("n")
    expect(page.locator(".outcome")).to_have_text("You fold")
    page.unroute("**/deal")
    page.keyboard.press("n")
    expect(page.get_by_role("region", name="This hand")).to_contain_text("Hand 2")


def test_a_late_answer_about_a_stopped_solve_does_not_hide_the_next_one(house: Server, open_page: Any) -> None:
    page = open_page(f"{house.client.base_url}/play?file=flops.rgl")
    sit_down(page, target="0.000001")
    to_flop(page)
    late: list[Any] = []
    page.route(
        re.compile("/play/w[0-9a-f]+$"), lambda route: late.append(route)
    )  # the state after the stop, which is kept waiting
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Solve it again")).to_be_visible()
    page.wait_for_timeout(300)
    answers = [route.fetch() for route in late]
    page.keyboard.press("s")
    expect(page.get_by_role("progressbar", name="Solving the flop")).to_be_visible()
    for route, answer in zip(late, answers, strict=True):
        route.fulfill(response=answer)
    page.wait_for_timeout(300)
    expect(page.get_by_role("progressbar", name="Solving the flop")).to_be_visible()
    assert late
    page.unroute_all(behavior="ignoreErrors")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Solve it again")).to_be_visible()


def test_a_phone_shows_it_all_without_sideways_scrolling(house: Server, open_page: Any) -> None:
    page = open_page(f"{house.client.base_url}/play?file=buckets.rgl", viewport=PHONE)
    expect(page.get_by_label("Safe", exact=False)).to_be_visible()

    def fits() -> bool:
        return bool(page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"])

    assert fits()
    sit_down(page)
    to_flop(page)
    assert fits()
    for button in page.locator("main button:visible:not(.strip *):not(.link)").all():
        assert button.bounding_box()["height"] >= 36, button.inner_text()
    settle(page)
    assert fits()


def test_what_cannot_be_played_is_said_in_one_sentence(house: Server, open_page: Any) -> None:
    page = open_page(f"{house.client.base_url}/play?file=flops.rgl")
    page.get_by_label("Flops to").fill("much")
    page.get_by_role("button", name="Deal").click()
    expect(page.get_by_role("alert")).to_have_text("'much' is not a target: give percent of the pot, such as 0.5")
