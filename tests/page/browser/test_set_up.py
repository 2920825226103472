"""Setting up a spot: every field is judged as it is typed, in the server's words, and ranges have two faces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.page.browser.parts import cell, paint_range
from tests.page.serving import Server

SPOT = """
board = "Qs Jh 2h 7c 3d"
pot = 60
stack = 200
[oop]
range = "22+, A2s+"
[ip]
range = "KK:0.5, AhKh"
[bets]
bet = "50%"
[bets.river.oop]
bet = "33%, a"
[rules]
rake = 0.05
"""


@pytest.fixture
def page(site: str, open_page: Any) -> Any:
    """The set-up with nothing in it."""
    page = open_page(f"{site}/setup")
    clear(page)
    return page


def clear(page: Any) -> None:
    page.get_by_role("button", name="Clear everything").click()
    expect(page.get_by_label("Range of OOP as text")).to_have_value("")
    expect(page.locator(".grid.paint .cell[aria-selected='true']")).to_have_count(0)


def estimate(page: Any, name: str) -> Any:
    return page.locator(".estimate dl div", has_text=name).locator("dd")


def test_wrong_fields_say_what_is_wrong_and_keep_what_was_typed(page: Any) -> None:
    for label, text, sentence in (
        ("Pot", "18o", "must be a number"),
        ("Board", "Qs Qs 2h", "twice"),
        ("Bet", "50q", "50q"),
        ("Range of OOP as text", "22+, AKx", "'x' is neither s, o nor a suit"),
    ):
        field = page.get_by_label(label, exact=True)
        field.fill(text)
        expect(field).to_have_attribute("aria-invalid", "true")
        described = field.get_attribute("aria-describedby").split()[-1]
        expect(page.locator(f"[id='{described}']")).to_contain_text(sentence)
        expect(field).to_have_value(text)
    expect(page.get_by_role("button", name="Solve", exact=True)).to_be_disabled()


def test_wrong_options_keep_a_spot_from_being_solved(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/setup?file=river.toml")
    solve, target = page.get_by_role("button", name="Solve", exact=True), page.get_by_label("Target, % of pot")
    expect(solve).to_be_enabled()
    target.fill("abc")
    expect(solve).to_be_disabled()
    expect(target).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("Target: 'abc' must be a number")).to_be_visible()
    target.fill("")  # the default, which the field shows
    expect(target).to_have_attribute("placeholder", "0.3")
    expect(solve).to_be_enabled()


def test_an_error_in_a_closed_section_opens_it(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/setup?file=river.toml")
    section, rake = page.locator("details.rules"), page.get_by_label("Rake", exact=True)
    section.locator("summary").click()
    expect(page.get_by_role("button", name="Solve", exact=True)).to_be_enabled()
    checks: list[Any] = []
    page.route("**/spots/check", lambda route: checks.append(route))
    with page.expect_request("**/spots/check"):
        rake.fill("7")
    section.locator("summary").click()
    expect(rake).to_be_hidden()
    checks[-1].continue_()
    expect(rake).to_be_visible()
    expect(page.get_by_text("A field above needs attention")).to_be_visible()


def test_locks_of_a_file_are_shown_and_removed(tmp_path: Path, site: str, open_page: Any) -> None:
    given = tmp_path / "locked.toml"
    lock = '[[locks]]\nnode = "check"\nhands = "AhKh"\nstrategy = { "bet 30" = 1.0 }\n'
    given.write_text(f"{SPOT}{lock}", encoding="utf-8")
    page = open_page(f"{site}/setup")
    page.get_by_role("button", name="Open TOML…").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="From this computer…").click()
    chooser.value.set_files(given)
    locks = page.get_by_label("Locks of this spot")
    expect(locks).to_contain_text("After check: AhKh")
    page.get_by_label("Pot", exact=True).fill("80")
    expect(page.locator(".spot-locks .problem")).to_contain_text("is not an action there")
    locks.get_by_role("button", name="Remove").click()
    expect(locks).to_be_hidden()
    expect(page.get_by_role("button", name="Solve", exact=True)).to_be_enabled()


def test_text_paints_the_grid_and_the_grid_writes_text(page: Any) -> None:
    text = page.get_by_label("Range of OOP as text")
    text.fill("[50]KK[/50], AhKh")  # as GTO+ writes it
    expect(cell(page, "KK", "Range of OOP")).to_have_text("KK50 %")
    expect(cell(page, "AKs", "Range of OOP")).to_have_text("AKs25 %")
    paint_range(page, "OOP", "AA", "AA")
    expect(text).to_have_value("AA,AhKh,KK:0.5")
    paint_range(page, "OOP", "KK", "KK")  # starting on a painted cell erases
    expect(text).to_have_value("AA,AhKh")
    page.get_by_label("Weight of the brush for OOP, percent").fill("25")
    paint_range(page, "OOP", "QQ", "QQ")
    expect(text).to_have_value("AA,AhKh,QQ:0.25")


def test_one_combo_is_set_by_its_suits(page: Any) -> None:
    paint_range(page, "IP", "QQ", "QQ")
    editor = page.get_by_label("Range of IP", exact=True).first
    editor.get_by_role("button", name="Q♠Q♥ 100").click()
    expect(page.get_by_label("Range of IP as text")).to_have_value("QsQd,QhQd,QsQc,QhQc,QdQc")


def test_the_keyboard_paints_too(page: Any) -> None:
    cell(page, "AA", "Range of IP").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(page.get_by_label("Range of IP as text")).to_have_value("KK")


def test_own_ranges_outlive_the_page(page: Any) -> None:
    page.get_by_label("Range of OOP as text").fill("77+")
    page.get_by_label("Ranges to start from").first.select_option("save")
    page.get_by_label("Name of the range").fill("My pairs")
    page.get_by_role("button", name="Save", exact=True).click()
    page.reload()
    page.get_by_label("Ranges to start from").nth(1).select_option(label="My pairs")
    expect(page.get_by_label("Range of IP as text")).to_have_value("77+")
    expect(cell(page, "77", "Range of IP")).to_have_text("77100 %")


def test_a_formation_and_a_random_board_make_a_spot(page: Any) -> None:
    page.get_by_label("Formation").select_option(label="BTN opens, BB calls")
    page.get_by_role("button", name="river", exact=True).click()
    expect(page.get_by_role("button", name="Solve", exact=True)).to_be_enabled()
    assert float(estimate(page, "Nodes").inner_text().replace(",", "")) > 10
    expect(estimate(page, "Memory")).to_contain_text("B")
    page.get_by_text("Betting tree").click()
    expect(page.locator(".tree")).to_contain_text("BB acts")


def test_a_spot_file_opens_saves_and_opens_again(workshop: Server, tmp_path: Path, open_page: Any) -> None:
    given = tmp_path / "given.toml"
    given.write_text(SPOT, encoding="utf-8")
    page = open_page(f"{workshop.client.base_url}/setup")
    page.get_by_role("button", name="Open TOML…").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="From this computer…").click()
    chooser.value.set_files(given)
    expect(page.get_by_label("Pot", exact=True)).to_have_value("60")
    expect(cell(page, "KK", "Range of IP")).to_have_text("KK50 %")
    expect(page.get_by_label("river oop bet", exact=True)).to_have_value("33%, a")
    expect(page.get_by_label("river ip bet", exact=True)).to_have_value("50%")
    expect(page.get_by_label("flop oop bet", exact=True)).to_be_hidden()
    page.get_by_label("river oop bet", exact=True).fill("75%")
    page.get_by_role("button", name="Save TOML…").click()
    page.get_by_label("File name").fill("kept")
    page.get_by_role("button", name="Save in the folder").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert '"75%"' in (workshop.folder / "kept.toml").read_text(encoding="utf-8")
    clear(page)
    expect(page.get_by_label("Pot", exact=True)).to_have_value("")
    page.get_by_role("button", name="Open TOML…").click()
    page.get_by_role("link", name="kept.toml").click()
    expect(page.get_by_label("river oop bet", exact=True)).to_have_value("75%")


def test_a_solved_spot_can_be_set_up_again(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/browse?file=river.rgl")
    page.get_by_role("button", name="Set up this spot again").click()
    expect(page.get_by_label("Board", exact=True)).to_have_value("Ks 9h 4h 2c 7d")
    expect(page.get_by_role("button", name="Solve", exact=True)).to_be_enabled()
