"""What can be measured of the look: accessibility in every theme, narrow screens, the keyboard alone, weight."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from starlette.testclient import TestClient
from tests.page.browser.parts import at_node, cell, wait_for_line

from regretless.page.app import STATIC

AXE = Path(__file__).parent / "axe" / "axe.min.js"
DESKTOP = {"width": 1280, "height": 720}
PHONE = {"width": 390, "height": 844}
HEAVIEST = 350_000  # bytes of all files together, as they are sent

VIEWS = {
    "set up": "/setup",
    "solve": "/solve",
    "library": "/",
    "hands": "/browse?file=turn.rgl&line=check&pin=QJs",
    "made hands": "/browse?file=turn.rgl&tab=made",
    "ranges": "/browse?file=turn.rgl&tab=ranges",
    "graph": "/browse?file=turn.rgl&tab=graph",
    "cards": "/browse?file=turn.rgl&line=check,+check",
    "cards as a table": "/browse?file=turn.rgl&line=check,+check&cards=-bets",
    "EV lost as colours": "/browse?file=turn.rgl&colour=lost&number=lost&fill=whole&unit=pot",
    "EV as colours": "/browse?file=turn.rgl&line=check&colour=ev",
    "lock": "/browse?file=turn.rgl&tab=lock",
    "compare": "/browse?file=turn.rgl&tab=compare",
    "studies": "/studies",
    "study": "/studies?study=study&pin=AsKsQs",
    "new study": "/studies?study=%2B",
    "preflop": "/preflop",
    "charts": "/preflop?file=push-fold.rgl&pin=A5s",
    "practice": "/practice?file=turn.rgl",
    "practice start": "/practice",
    "game": "/browse?file=kuhn.rgl",
}
THEMES = [("dark", "usual"), ("light", "usual"), ("dark", "safe"), ("light", "safe")]


def settle(page: Any) -> None:
    expect(page.locator("main > *").first).to_be_visible()
    if "/solve" in page.url:  # its stream of events never ends
        expect(page.get_by_role("option", name="kuhn")).to_have_count(1)
    else:
        page.wait_for_load_state("networkidle")


def set_theme(page: Any, theme: str, palette: str) -> None:
    page.evaluate(
        "chosen => Object.assign(document.documentElement.dataset, chosen)", {"theme": theme, "palette": palette}
    )


def serious_findings(page: Any, *rules: str) -> list[str]:
    """What axe finds, by all its rules unless some are given."""
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = list(rules)
    found = page.evaluate("options => axe.run(document, options).then(answer => answer.violations)", options)
    return [
        f"{each['id']}: {node['target']} {node['failureSummary']}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("view", VIEWS)
def test_a_phone_shows_every_view_without_sideways_scrolling_and_axe_finds_nothing_serious(
    site: str, open_page: Any, view: str
) -> None:
    page = open_page(site + VIEWS[view], viewport=PHONE, bypass_csp=True)
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert cut_fields(page) == []
    page.set_viewport_size(DESKTOP)
    page.add_script_tag(path=AXE)
    set_theme(page, "dark", "usual")
    assert serious_findings(page) == []
    set_theme(page, "light", "safe")
    assert serious_findings(page, "color-contrast") == []  # the only rule that a theme can break


def cut_fields(page: Any) -> list[str]:
    """Bet sizes that are longer than their fields, and hints that are."""
    return page.evaluate("""() => [...document.querySelectorAll(".sizes-table input")].filter((input) => {
      if (!input.value && input.placeholder) {
        input.value = input.placeholder; // hints are as wide as text
      }
      return input.scrollWidth > input.clientWidth;
    }).map((input) => input.getAttribute("aria-label") + ": " + input.value)""")  # type: ignore[no-any-return]


@pytest.mark.parametrize("size", [(1280, 900), (1024, 768)])
def test_a_small_laptop_shows_all_of_the_parts_and_fields_wide_enough_to_read(
    site: str, open_page: Any, size: tuple[int, int]
) -> None:
    width, height = size
    page = open_page(site + VIEWS["hands"], viewport={"width": width, "height": height})
    settle(page)
    for part in page.locator(".browse-right > *, .tabs > *, .player").all():
        box = part.bounding_box()
        assert box["x"] + box["width"] <= width, part.get_attribute("class")
    page.goto(site + VIEWS["set up"])
    settle(page)
    for field in page.locator(".setup-middle :is(select, input):visible:not(.sizes-table *)").all():
        assert field.bounding_box()["width"] >= 100, field.get_attribute("id")
    assert cut_fields(page) == []


@pytest.mark.slow
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_serious_in_any_theme(site: str, open_page: Any, view: str, size: dict[str, int]) -> None:
    page = open_page(site + VIEWS[view], viewport=size, bypass_csp=True)
    settle(page)
    page.add_script_tag(path=AXE)
    for theme, palette in THEMES:
        set_theme(page, theme, palette)
        assert serious_findings(page) == [], (theme, palette)


def test_a_phone_shows_the_parts_in_order_and_large_enough_to_tap(site: str, open_page: Any) -> None:
    page = open_page(site + VIEWS["hands"], viewport=PHONE)
    at_node(page, "ip")
    parts = [".strip", ".action-bar", ".grid", ".summary", ".pinned-class", ".tabs", ".tab-content"]
    tops = [page.locator(part).bounding_box()["y"] for part in parts]
    assert tops == sorted(tops)
    for button in page.locator("button:visible:not(.cell):not(.link):not(th button)").all():
        box = button.bounding_box()
        assert box["height"] >= 36, button.inner_text()
    page.locator(".tile.present button").first.click()
    expect(page.locator(".strip .taken")).to_have_count(2)


def test_a_phone_shows_every_view_in_the_header_and_how_exact_a_solution_is(site: str, open_page: Any) -> None:
    page = open_page(site + VIEWS["hands"], viewport=PHONE)
    at_node(page, "ip")
    for part in page.locator(".views a, .badge, .grid-controls > *").all():
        box = part.bounding_box()
        assert box["x"] + box["width"] <= PHONE["width"], part.inner_text()
        assert part.evaluate("element => element.scrollWidth <= element.clientWidth + 1"), part.inner_text()
    assert len({part.bounding_box()["y"] for part in page.locator(".views a").all()}) == 1
    expect(page.locator(".action-bar button").last).to_contain_text("check")


def test_nothing_moves_when_the_node_changes(site: str, open_page: Any) -> None:
    page = open_page(site + "/browse?file=turn.rgl")
    at_node(page, "oop")
    parts = [".strip", ".action-bar", ".grid", ".summary", ".pinned-class", ".tabs", ".tab-content"]
    before = [page.locator(part).bounding_box() for part in parts]
    page.keyboard.press("2")
    at_node(page, "ip")
    assert [page.locator(part).bounding_box() for part in parts] == before


def test_the_keyboard_alone_reaches_everything(site: str, open_page: Any) -> None:
    page = open_page(site + "/browse?file=turn.rgl")
    at_node(page, "oop")
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.getAttribute('role') || document.activeElement.className"))
        if page.evaluate("Boolean(document.activeElement.closest('.grid'))"):
            page.keyboard.press("ArrowDown")
            expect(page.locator(".cell.pinned")).to_have_count(1)
            page.keyboard.press("Shift+Tab")
            break
    assert "gridcell" in reached
    page.keyboard.press("Home")
    wait_for_line(page, "")
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("Boolean(document.activeElement.closest('.grid'))"):
            page.evaluate(
                "document.activeElement.closest('.browse-left').nextElementSibling.querySelector('button').focus()"
            )
        reached.add(page.evaluate("document.activeElement.getAttribute('role') || document.activeElement.tagName"))
    assert {"tab", "INPUT", "region"} <= reached


def test_the_page_can_be_zoomed_to_200_percent(site: str, open_page: Any) -> None:
    page = open_page(site + VIEWS["hands"], viewport={"width": 640, "height": 360})  # 1280 × 720, zoomed
    at_node(page, "ip")
    assert page.evaluate("document.documentElement.scrollWidth") <= 640
    expect(cell(page, "QJs")).to_be_visible()


def test_the_page_weighs_less_than_350_kb_and_asks_nobody_else(reading: TestClient) -> None:
    files = [path for path in STATIC.rglob("*") if path.is_file()]
    weight = 0
    for path in files:
        with reading.stream("GET", f"/static/{path.relative_to(STATIC).as_posix()}") as answer:
            weight += len(b"".join(answer.iter_raw()))  # compressed, as browsers ask for it
            assert answer.status_code == 200
    assert weight < HEAVIEST
    for path in files:
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text, path
        assert "https://" not in text, path


def test_the_look_is_chosen_and_kept(site: str, open_page: Any) -> None:
    page = open_page(site + "/browse", color_scheme="light")
    look = page.locator("html")
    expect(look).to_have_attribute("data-theme", "light")  # the system's
    page.get_by_role("button", name="Change the look").click()
    page.get_by_role("button", name="Dark, colour-blind palette").click()
    expect(look).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(look).to_have_attribute("data-palette", "safe")
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--call')") == "#009e73"


@pytest.mark.parametrize("view", ["library", "set up", "browse"])
def test_axe_finds_nothing_serious_in_the_glossary_which_keys_open(site: str, open_page: Any, view: str) -> None:
    addresses = {"library": "/", "set up": "/setup", "browse": VIEWS["hands"]}
    page = open_page(site + addresses[view], bypass_csp=True)
    settle(page)
    page.add_script_tag(path=AXE)
    page.get_by_role("button", name="Glossary").focus()
    page.keyboard.press("Enter")
    words = page.get_by_role("dialog", name="Words")
    for word in ("EQR", "Exploitability", "Reach"):
        expect(words.locator("dt", has_text=re.compile(f"^{word}$"))).to_be_visible()
    for theme, palette in THEMES:
        set_theme(page, theme, palette)
        assert serious_findings(page) == [], (theme, palette)
    page.set_viewport_size(PHONE)
    assert words.evaluate("dialog => dialog.scrollWidth <= dialog.clientWidth")
    page.keyboard.press("Escape")
    expect(words).to_have_count(0)


def test_axe_finds_nothing_serious_in_the_dialogs_of_the_library_and_of_practice(site: str, open_page: Any) -> None:
    page = open_page(site, bypass_csp=True)
    page.add_script_tag(path=AXE)
    page.get_by_role("button", name="More about turn").click()
    expect(page.get_by_role("dialog", name="turn.rgl")).to_be_visible()
    assert serious_findings(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Change the look").click()
    expect(page.get_by_role("dialog", name="Look")).to_be_visible()
    assert serious_findings(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Practice").click()
    page.get_by_role("button", name="Deal").click()
    page.locator(".choices .act").first.click()
    expect(page.locator(".verdict .grade")).to_be_visible()
    assert serious_findings(page) == []
    page.get_by_role("button", name="How is this scored?").click()
    expect(page.get_by_role("dialog", name="How practice is scored")).to_be_visible()
    assert serious_findings(page) == []


def test_a_phone_shows_the_whole_present_tile_and_no_badge_over_the_name(site: str, open_page: Any) -> None:
    page = open_page(site + "/browse?file=turn.rgl", viewport=PHONE)
    at_node(page, "oop")
    page.wait_for_function("""() => {
      const { left, right } = document.querySelector(".tile.present").getBoundingClientRect();
      return left >= 0 && right <= innerWidth;
    }""")
    for name in ("kuhn", "push-fold", "turn"):
        page.goto(f"{site}/browse?file={name}.rgl")
        settle(page)
        expect(page.locator(".file-name")).to_contain_text(name)
        brand, about = (page.locator(part).bounding_box() for part in (".brand", ".about-file"))
        assert brand["x"] + brand["width"] <= about["x"], name
        for part in page.locator(".about-file > *:visible").all():
            assert part.bounding_box()["x"] >= brand["x"] + brand["width"], (name, part.inner_text())


def test_axe_finds_nothing_serious_where_a_view_is_in_use(site: str, open_page: Any) -> None:
    """Dialogs and tabs that an address alone does not open: what can be taken away, locks by frequency and by brush."""
    page = open_page(site + "/browse?file=river.rgl&tab=lock", bypass_csp=True)
    at_node(page, "oop")
    page.add_script_tag(path=AXE)
    page.get_by_label("Frequency, percent, as a number").fill("60")
    expect(page.locator(".lock-effect")).to_contain_text("OOP loses")
    page.get_by_role("button", name="Lock", exact=True).click()
    expect(page.locator(".tile.present .share.locked").first).to_be_visible()
    for theme, palette in THEMES:
        set_theme(page, theme, palette)
        assert serious_findings(page) == [], (theme, palette)
    page.get_by_role("button", name="Paint").click()
    cell(page, "AA").click()
    assert serious_findings(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Take away").click()
    expect(page.get_by_role("button", name="Copy OOP: whole range")).to_be_visible()
    for theme, palette in THEMES:
        set_theme(page, theme, palette)
        assert serious_findings(page) == [], (theme, palette)
