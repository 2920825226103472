"""The way in: the printed address, the cookie, and what a browser without it is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect
from tests.page.browser.parts import at_node
from tests.page.serving import TOKEN

RIVER = "/browse?file=river.rgl"


@pytest.fixture
def page(chromium: Any) -> Any:
    """A page of a browser that has never been here."""
    context = chromium.new_context()
    yield context.new_page()
    context.close()


def test_the_printed_address_lets_in_once_and_links_work_afterwards(site: str, page: Any) -> None:
    page.goto(f"{site}{RIVER}&token={TOKEN}")
    at_node(page, "oop")
    assert "token" not in page.url
    assert page.url.endswith(RIVER)
    [cookie] = page.context.cookies()
    assert cookie["name"] == f"regretless-{urlsplit(site).port}"
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")
    other = page.context.new_page()
    other.goto(f"{site}/solve")  # follows events
    expect(other.get_by_role("navigation", name="Views")).to_be_visible()
    other.goto(site + RIVER)
    at_node(other, "oop")


def test_a_tab_of_an_earlier_server_says_how_to_get_in(site: str, page: Any) -> None:
    found = urlsplit(site)
    page.context.add_cookies([{"name": f"regretless-{found.port}", "value": "old", "url": f"http://{found.netloc}"}])
    answer = page.goto(site + RIVER)
    assert answer.status == 403
    expect(page.locator("body")).to_contain_text("regretless serve")
    page.goto(f"{site}{RIVER}&token={TOKEN}")
    at_node(page, "oop")


@pytest.mark.parametrize("token", [f"&token={TOKEN}", ""], ids=["the address with the token", "a link without it"])
def test_a_file_or_another_site_may_lead_to_the_page(site: str, page: Any, tmp_path: Path, token: str) -> None:
    """As the file does with which `serve` opens a browser."""
    if not token:
        page.goto(f"{site}/?token={TOKEN}")
    leads = tmp_path / "leads.html"
    leads.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={site}{RIVER}{token}">')
    page.goto(leads.as_uri())
    at_node(page, "oop")
    assert "token" not in page.url
