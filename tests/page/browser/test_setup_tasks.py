"""From a question to a solved spot in at most so many clicks and keys, and changes that can be taken back."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.page.browser.parts import cell, shown_frequencies, take, wait_for_line
from tests.page.serving import API, Server, is_over, wait_for
from tests.page.tasks import Acts

import regretless as rl
from regretless.cli import main
from regretless.holdem import Spot
from regretless.holdem.solution import SpotSolution

COARSE = {"target": "5", "device": "auto", "threads": "", "storage": "32"}  # what the reader chose earlier


def open_set_up(workshop: Server, open_page: Any, **options: str) -> Any:
    """The set-up of a reader who has solved to a coarse target before."""
    page = open_page(f"{workshop.client.base_url}/setup")
    page.evaluate("options => localStorage.setItem('regretless.options', options)", json.dumps(COARSE | options))
    page.reload()
    expect(cell(page, "AA", "Range of OOP")).to_be_visible()
    return page


def solve_and_browse(workshop: Server, page: Any) -> Path:
    """Press Solve, wait for the end, press Browse; the file that was written."""
    page.get_by_role("button", name="Solve", exact=True).click()
    page.wait_for_url("**/solve?solve=*")
    solve = wait_for(workshop.client, page.url.partition("solve=")[2], is_over)
    assert solve["state"] == "done", solve
    page.get_by_role("button", name="Browse", exact=True).click()
    wait_for_line(page, "")
    return workshop.folder / str(solve["file"])


def bets_by_command(path: Path, line: str) -> float:
    """How often the player after a line bets, in percent, as the command says."""
    with contextlib.redirect_stdout(io.StringIO()) as answer:
        assert main(["show", str(path), "--node", line, "--json"]) == 0
    node = json.loads(answer.getvalue())["node"]
    shares = zip(node["actions"], node["frequencies"], strict=True)
    return 100 * sum(share for action, share in shares if action.partition(" ")[0] in ("bet", "all-in"))


def test_how_often_the_button_bets(workshop: Server, open_page: Any) -> None:
    page = open_set_up(workshop, open_page)
    acts = Acts(page)
    for card in ("K of spades", "7 of diamonds", "2 of clubs"):
        page.get_by_role("button", name=card, exact=True).click()
    page.get_by_role("button", name="small").click()
    expect(page.get_by_role("heading", name="BTN, acts last")).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_have_value("BTN opens, BB calls")
    solved = solve_and_browse(workshop, page)
    take(page, "check")
    wait_for_line(page, "check")
    assert acts.total <= 8
    shown = sum(share for action, share in shown_frequencies(page).items() if action.startswith("bet"))
    assert shown == pytest.approx(bets_by_command(solved, "check"), abs=0.1)
    assert 0 < shown < 100


def test_a_three_bet_pot_on_a_turn(workshop: Server, open_page: Any) -> None:
    page = open_set_up(workshop, open_page)
    acts = Acts(page)
    page.get_by_label("Formation").select_option(label="BTN opens, BB 3-bets, BTN calls")
    for card in ("A of hearts", "T of diamonds", "6 of hearts", "2 of clubs"):
        page.get_by_role("button", name=card, exact=True).click()
    solved = Spot.parse(SpotSolution.load(solve_and_browse(workshop, page)).spot.to_toml())
    assert acts.total <= 8
    assert (solved.pot, solved.position_of("oop"), solved.raiser, len(solved.board)) == (22.5, "BB", "oop", 4)


def test_the_same_spot_on_another_flop(workshop: Server, open_page: Any) -> None:
    spot = Spot(
        board="Ks 7d 2c",
        pot=20,
        stack=30,
        oop={"range": "QQ,JJ", "name": "BB"},  # type: ignore[arg-type]
        ip={"range": "AKs, A5s, AQs", "name": "BTN"},  # type: ignore[arg-type]
        bets={"flop": {"bet": "33%"}, "turn": {"bet": "75%"}, "river": {"bet": "a"}},  # type: ignore[arg-type]
        name="Two pairs",
    )
    rl.solve(spot, iterations=10, storage=16).save(workshop.folder / "one-flop.rgl")
    page = open_set_up(workshop, open_page)
    page.goto(f"{workshop.client.base_url}/browse?file=one-flop.rgl")
    wait_for_line(page, "")
    acts = Acts(page)
    page.get_by_role("button", name="Set up this spot again").click()
    expect(page.get_by_label("Board", exact=True)).to_have_value("Ks 7d 2c")
    page.get_by_role("button", name="Random flop").click()
    expect(page.get_by_label("Board", exact=True)).not_to_have_value("Ks 7d 2c")
    solved = SpotSolution.load(solve_and_browse(workshop, page))
    assert acts.total <= 4
    again = solved.spot
    assert again.board != spot.board
    assert Spot(**{**vars(again), "board": spot.board}) == spot
    assert (again.oop.typed, again.ip.typed, again.positions) == ("QQ,JJ", "AKs, A5s, AQs", ("BTN", "BB"))
    assert solved.settings.storage == 16


def test_a_solved_spot_is_set_up_with_everything_as_it_was(workshop: Server, open_page: Any) -> None:
    listed = workshop.client.get(f"{API}/files").json()["files"]
    assert "turn.rgl" in [each["file"] for each in listed]
    page = open_set_up(workshop, open_page, target="1")
    page.goto(f"{workshop.client.base_url}/setup?file=turn.rgl")
    expect(page.get_by_label("Target, % of pot")).to_have_value("0.5")
    expect(page.get_by_label("Range of OOP as text")).to_have_value("22+, A2s+, KQo, QJs")
    for street in ("turn", "river"):
        for player in ("oop", "ip"):
            expect(page.get_by_label(f"{street} {player} bet", exact=True)).to_have_value("66%")
            expect(page.get_by_label(f"{street} {player} raise", exact=True)).to_have_value("a")


def test_the_first_visit_shows_the_sizes_of_its_tree(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/setup")
    expect(page.get_by_label("flop ip bet", exact=True)).to_have_value("33%, 75%")
    expect(page.get_by_label("flop oop bet", exact=True)).to_have_value("none")
    expect(page.get_by_label("river raises at most", exact=True)).to_have_value("1")
    expect(page.get_by_label("Smallest chip")).to_have_value("0.01")


def test_every_change_is_taken_back_and_made_again(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/setup")
    text, pot = page.get_by_label("Range of IP as text"), page.get_by_label("Pot", exact=True)
    undo, redo = (page.get_by_role("button", name=name) for name in ("Undo", "Redo"))
    expect(pot).to_have_value("5.5")
    opening = text.input_value()
    pot.fill("7")
    page.get_by_role("button", name="K of spades").click()
    page.get_by_role("button", name="Swap seats").click()
    expect(page.get_by_role("heading", name="BTN, acts first")).to_be_visible()
    expect(page.get_by_label("flop ip bet", exact=True)).to_have_value("none")
    page.get_by_label("Formation").select_option(label="UTG opens, BB calls")
    expect(page.get_by_role("heading", name="UTG, acts last")).to_be_visible()
    page.get_by_role("button", name="Clear everything").click()
    expect(text).to_have_value("")
    expect(redo).to_be_disabled()

    undo.click()  # the clearing
    expect(page.get_by_role("heading", name="UTG, acts last")).to_be_visible()
    page.keyboard.press("Control+z")  # the formation
    expect(page.get_by_role("heading", name="BTN, acts first")).to_be_visible()
    undo.click()  # the swap
    expect(text).to_have_value(opening)
    undo.click()  # the card
    expect(page.get_by_label("Board", exact=True)).to_have_value("")
    undo.click()  # the pot
    expect(pot).to_have_value("5.5")
    page.keyboard.press("Control+y")
    expect(pot).to_have_value("7")
    redo.click()
    expect(page.get_by_label("Board", exact=True)).to_have_value("Ks")


def test_a_stroke_of_the_brush_skips_no_cell_and_is_undone_alone(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/setup")
    page.get_by_role("button", name="Clear everything").click()
    text = page.get_by_label("Range of OOP as text")
    grid = page.get_by_role("grid", name="Range of OOP", exact=True)
    boxes = [grid.locator(f"[data-class='{name}']").bounding_box() for name in ("AA", "A2s")]
    ends = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]
    page.mouse.move(*ends[0])
    page.mouse.down()
    page.mouse.move(*ends[1], steps=1)  # in one leap
    page.mouse.up()
    expect(text).to_have_value("AA,A2s+")
    cell(page, "KK", "Range of OOP").click()
    expect(text).to_have_value("KK+,A2s+")
    page.get_by_role("button", name="Undo").click()
    expect(text).to_have_value("AA,A2s+")
    page.get_by_label("Best hands for OOP, percent").fill("5")
    expect(page.locator("[data-player='oop'] header .hint")).to_contain_text("· 5.")
    expect(cell(page, "AKs", "Range of OOP")).to_have_text("AKs100 %")


def test_the_slider_of_the_best_hands_shows_nothing_once_the_range_is_another(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/setup")
    slider, text = page.get_by_label("Best hands for IP, percent"), page.get_by_label("Range of IP as text")
    expect(text).not_to_have_value("")
    opening = text.input_value()
    slider.fill("5")
    expect(text).not_to_have_value(opening)
    expect(slider).to_have_value("5")
    page.get_by_role("button", name="Undo").click()
    expect(text).to_have_value(opening)
    expect(slider).to_have_value("0")


def test_a_range_read_late_leaves_the_slider_of_the_best_hands(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/setup")
    slider, text = page.get_by_label("Best hands for IP, percent"), page.get_by_label("Range of IP as text")
    expect(text).not_to_have_value("")
    parses: list[Any] = []
    tops: list[Any] = []
    page.route("**/ranges/parse", lambda route: parses.append(route))
    page.route("**/ranges/top**", lambda route: tops.append(route))
    page.reload()
    expect(text).not_to_have_value("")
    opening = text.input_value()
    with page.expect_request("**/ranges/top**"):
        slider.fill("5")
    for route in parses:
        with page.expect_response(route.request.url):
            route.continue_()
    tops[0].continue_()
    expect(text).not_to_have_value(opening)
    expect(slider).to_have_value("5", timeout=5000)


def test_a_random_turn_keeps_the_flop(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/setup")
    board = page.get_by_label("Board", exact=True)
    board.fill("Ks 7d 2c")
    page.get_by_role("button", name="turn", exact=True).click()
    expect(board).to_have_value(re.compile(r"^Ks 7d 2c \w\w$"))
    page.get_by_role("button", name="river", exact=True).click()
    expect(board).to_have_value(re.compile(r"^Ks 7d 2c \w\w \w\w$"))


def test_a_tree_too_large_is_cut_in_two_clicks(workshop: Server, open_page: Any) -> None:
    page = open_set_up(workshop, open_page)
    page.get_by_label("Board", exact=True).fill("Ks 7d 2c")
    page.get_by_label("Bet", exact=True).fill("20%, 33, 50, 75, 100, 150")
    page.get_by_label("Raise", exact=True).fill("2.5x, 4x, a")
    page.get_by_label("Raises", exact=True).fill("")
    page.get_by_label("Donk", exact=True).fill("")
    solve = page.get_by_role("button", name="Solve", exact=True)
    expect(page.locator(".estimate .problem")).to_contain_text("are free")
    expect(solve).to_be_disabled()
    page.get_by_role("button", name="Shrink to fit…").click()
    dialog = page.get_by_role("dialog", name="Cuts that make it fit")
    expect(dialog.locator("li").first).to_contain_text("no donk bets")
    dialog.get_by_role("button", name="Take these cuts").click()
    expect(solve).to_be_enabled()
    expect(page.locator(".estimate .problem")).to_have_text("")
    expect(page.get_by_label("flop oop donk", exact=True)).to_have_value("none")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("Donk", exact=True)).to_have_value("")


def test_an_estimate_is_never_old_beside_an_active_solve(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/setup?file=river.toml")
    solve = page.get_by_role("button", name="Solve", exact=True)
    expect(solve).to_be_enabled()
    page.route("**/api/v1/spots/check", lambda _route: None)  # an answer that does not come
    page.get_by_label("Pot", exact=True).fill("61")
    expect(solve).to_be_disabled()
    expect(page.locator(".estimate.stale")).to_be_visible()
