"""A study on the page: the whole way from the list to a flop, a study that is running, and a hostile one."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.cluster.studies import FLOPS, edit_part, solve_here, study_text
from tests.page.browser.parts import at_node
from tests.page.serving import Server

import regretless as rl

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

HOSTILE = "<img src=x onerror=alert(1)>"


def expect_flops(page: Any, *names: str) -> None:
    """Wait until exactly these flops are shown, in this order."""
    shown = page.locator(".flops tbody .flop")
    expect(shown).to_have_count(len(names))
    for place, name in enumerate(names):
        expect(shown.nth(place)).to_have_attribute("title", f"Open {name}")


def test_from_the_list_to_a_flop(site: str, solved: Path, open_page: Any) -> None:
    study = rl.Study(solved / "study")
    page = open_page(f"{site}/studies")
    page.get_by_role("link", name="Formation").click()
    expect(page).to_have_title(re.compile("^first decision · Formation"))
    expect(page.locator(".mean th").first).to_have_text("6 flops")

    asked = "SELECT flop FROM summary WHERE line = '{}' AND variation = {} AND place = 0 {} ORDER BY {}"
    order = [row["flop"] for row in study.query(asked.format("", 1, "", "oop_ev")).to_pylist()]
    expect_flops(page, *reversed(order))
    page.get_by_title("Sort by EV").click()
    expect_flops(page, *order)

    page.keyboard.press("/")
    page.keyboard.type("rainbow unp")
    expect(page.locator(".mean th").first).to_have_text("3 flops")
    page.keyboard.press("Escape")
    page.get_by_role("combobox", name="rules.rake").select_option("0.05")
    page.get_by_role("combobox", name="Line").select_option("check")
    expect(page).to_have_title(re.compile("^check · Formation"))
    where = "AND suits = 'rainbow' AND pairing = 'unpaired'"
    order = [row["flop"] for row in study.query(asked.format("check", 2, where, "ip_ev")).to_pylist()]
    expect_flops(page, *order)
    direct = study.query(
        "SELECT sum(weight * reach * frequency) / sum(weight * reach) AS mean FROM summary WHERE line = 'check' "
        f"AND variation = 2 AND action = 'bet 30' {where}"
    ).to_pylist()
    names = page.locator(".flops thead tr").first.locator("th").all_inner_texts()
    column = next(place for place, name in enumerate(names) if name.startswith("bet 50 %"))
    expect(page.locator(".mean th").nth(column)).to_have_text(f"{100 * direct[0]['mean']:.1f}")

    expect(page).to_have_url(re.compile("filter=rainbow\\+unp"))
    page.reload()  # the address holds all of it
    expect_flops(page, *order)
    expect(page.get_by_role("searchbox", name="Filter flops")).to_have_value("rainbow unp")
    page.get_by_role("region", name="Filter").get_by_role("button", name="rainbow", exact=True).click()
    expect(page.locator(".mean th").first).to_have_text("5 flops")  # all that are unpaired

    page.get_by_title("Open Ts9h8d").click()
    at_node(page, "ip")
    expect(page).to_have_url(re.compile("file=study%2Fsolutions%2FTs9h8d-2.rgl"))
    page.go_back()
    expect(page.locator("tr.pinned .flop")).to_have_attribute("title", "Open Ts9h8d")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".flops tbody .flop").first).to_be_focused()
    first = page.locator(".flops tbody .flop").first.get_attribute("title").removeprefix("Open ")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"solutions%2F{first}-2.rgl"))


def test_two_studies_are_compared_and_a_filter_changes_all_that_is_shown(workshop: Server, open_page: Any) -> None:
    shutil.copytree(workshop.folder / "study", workshop.folder / "twin")
    page = open_page(f"{workshop.client.base_url}/studies?study=study&line=check")
    mean, bars, strip = page.locator(".mean"), page.locator(".texture-chart tbody tr"), page.locator(".tile.present")
    expect(mean.locator("th").first).to_have_text("6 flops")
    everything = [mean.inner_text(), strip.inner_text(), page.locator(".study-players").inner_text()]
    page.get_by_role("searchbox", name="Filter flops").fill("monotone, Ts9h")  # a comma adds flops
    expect(mean.locator("th").first).to_have_text("2 flops")
    expect_flops_named(page, "9s8s7s", "Ts9h8d")
    expect(bars).to_have_count(2)
    shown = [mean.inner_text(), strip.inner_text(), page.locator(".study-players").inner_text()]
    assert all(before != after for before, after in zip(everything, shown, strict=True))

    compare = page.get_by_role("combobox", name="Compare")
    compare.select_option("twin")
    differences = page.locator(".flops tbody tr:not(.spacer) td.versus:nth-child(3)")
    expect(differences).to_have_text(["0.0", "0.0"])
    expect(page.locator(".texture-chart tbody tr").first.locator(".mix")).to_have_count(2)
    compare.select_option("")
    expect(differences).to_have_count(0)


def expect_flops_named(page: Any, *names: str) -> None:
    """Wait until exactly these flops are shown, in any order."""
    expect(page.locator(".flops tbody .flop")).to_have_count(len(names))
    for name in names:
        expect(page.locator(f".flops tbody .flop[title='Open {name}']")).to_have_count(1)


def test_a_flop_without_a_solution_is_offered_to_be_solved(site: str, open_page: Any) -> None:
    page = open_page(f"{site}/studies?study=study&filter=monotone")
    page.get_by_title("Open 9s8s7s").click()
    dialog = page.get_by_role("dialog", name="Solve 9s8s7s?")
    expect(dialog).to_contain_text("of memory")
    expect(dialog.get_by_role("button", name="Solve it")).to_be_enabled()


def test_a_study_that_is_running_grows(workshop: Server, open_page: Any) -> None:
    study = workshop.folder / "running"
    shutil.copytree(workshop.folder / "study", study)
    part = study / "runs" / "QsJh2h-1.parquet"
    aside = workshop.folder / "aside.parquet"
    shutil.move(part, aside)
    page = open_page(f"{workshop.client.base_url}/studies?study=running")
    expect(page.locator(".mean th").first).to_have_text("5 flops")
    expect(page.get_by_role("status").filter(has_text="11 of 12 spots solved so far")).to_be_visible()
    said = page.get_by_text("5 of 6 flops are solved, with 88.0 % of the weight; means are over these.")
    expect(said).to_be_visible()
    shutil.move(aside, part)
    expect(page.locator(".mean th").first).to_have_text("6 flops")
    expect(said).to_be_hidden()


def test_a_study_opens_where_there_is_something_to_choose(workshop: Server, open_page: Any) -> None:
    solve_here(study_text(FLOPS[:2], more='bets.flop.oop.bet = ""'), workshop.folder / "checked")
    page = open_page(f"{workshop.client.base_url}/studies?study=checked")
    expect(page).to_have_title(re.compile("^check · "))
    expect(page.locator(".tile.present")).to_contain_text("bet 50 %")
    page.keyboard.press("Home")
    expect(page).to_have_title(re.compile("^first decision · "))
    expect(page.locator(".texture-chart")).to_contain_text("–")
    expect(page.locator(".texture-chart")).not_to_contain_text("– %")


def test_what_a_hostile_study_says_is_shown_as_text(workshop: Server, open_page: Any) -> None:
    study = workshop.folder / "hostile"
    shutil.copytree(workshop.folder / "study", study)
    (study / "merged.json").unlink()

    def edit(table: Any) -> Any:
        for name in ("action", "flop", "spot"):
            values = pyarrow.array([HOSTILE] * len(table), "str")
            table = table.set_column(table.column_names.index(name), table.schema.field(name), values)
        return table

    for path in (study / "summary").iterdir():
        edit_part(study, path.stem, edit)
    manifest = study / "study.json"
    manifest.write_text(manifest.read_text().replace("Formation", HOSTILE))
    page = open_page(f"{workshop.client.base_url}/studies?study=hostile")
    expect(page.locator(".study-name")).to_have_text(HOSTILE)
    expect(page.locator(".flops tbody .flop").first).to_have_text(HOSTILE)
    expect(page.get_by_title(f"Sort by {HOSTILE}")).to_have_text(HOSTILE)
    assert page.locator("main img").count() == 0
