"""The library: searching, sorting, folders, renaming, notes, and deleting with undo."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.page.browser.parts import at_node
from tests.page.serving import Server


@pytest.fixture
def shelf(solved: Path, tmp_path: Path) -> Any:
    """A server of a folder that the test changes."""
    folder = tmp_path / "served"
    shutil.copytree(solved, folder, ignore=shutil.ignore_patterns("study"))
    server = Server(folder)
    yield server
    server.close()


def test_the_library_comes_first_and_finds_sorts_and_opens(site: str, open_page: Any) -> None:
    page = open_page(site)
    rows = page.locator(".library-table tbody tr")
    expect(rows).to_have_count(6)
    page.get_by_title("Sort by Size").click()
    expect(page.locator(".library-name a").first).to_have_text("turn")
    page.keyboard.press("/")
    page.keyboard.type("ks9h4h2c7d")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("11 %")
    expect(page.get_by_role("status").filter(has_text="1 of 6 file")).to_be_visible()
    page.reload()
    expect(rows).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    at_node(page, "oop")
    page.go_back()
    expect(rows).to_have_count(1)
    page.get_by_role("searchbox").fill("no such words")
    expect(rows).to_have_text("Nothing here has these words.")


def test_a_file_is_renamed_moved_and_noted(shelf: Server, open_page: Any) -> None:
    page = open_page(str(shelf.client.base_url))
    page.get_by_role("button", name="More about turn").click()
    dialog = page.get_by_role("dialog", name="turn.rgl")
    dialog.get_by_label("Notes").fill("barrels too much")
    dialog.get_by_label("Folder").fill("single-raised")
    dialog.get_by_label("Name").fill("a turn")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    page.get_by_role("group", name="Folders").get_by_role("button", name="single-raised").click()
    row = page.locator(".library-table tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("a turn")
    expect(row).to_contain_text("barrels too much")
    assert (shelf.folder / "single-raised" / "a turn.rgl").exists()


def test_a_deleted_file_can_be_brought_back_until_the_time_is_over(shelf: Server, open_page: Any) -> None:
    page = open_page(str(shelf.client.base_url))
    page.get_by_role("button", name="More about kuhn").click()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("kuhn is deleted")).to_be_visible()
    expect(page.get_by_role("link", name="kuhn")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("link", name="kuhn")).to_be_visible()
    assert (shelf.folder / "kuhn.rgl").exists()


def test_an_empty_folder_says_what_to_do(tmp_path: Path, open_page: Any) -> None:
    server = Server(tmp_path)
    try:
        page = open_page(str(server.client.base_url))
        expect(page.get_by_role("heading", name="No solution here yet")).to_be_visible()
        page.get_by_role("button", name="Set up a spot").click()
        expect(page.get_by_role("grid", name="Range of OOP", exact=True)).to_be_visible()
        page.close()  # before the server, which it would miss
    finally:
        server.close()
