"""The page in Chromium, driven by Playwright, against a real server; skipped, with the reason, without Chromium."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect, sync_playwright
from tests.page.serving import TOKEN, Server

# Chromium without windows opens pages in three quarters of the time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
DESKTOP = {"width": 1280, "height": 720}
PATIENCE = 180_000  # milliseconds: other tests may keep the machine busy


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser for the tests of a module: Playwright's event loop must not outlive them."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt-get install chromium-headless-shell")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def site(solved: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a server for tests that only read."""
    folder = tmp_path_factory.mktemp("read") / "served"
    shutil.copytree(solved, folder)
    server = Server(folder)
    yield str(server.client.base_url)
    server.close()


@pytest.fixture(scope="session")
def workshop(solved: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for tests that write: each uses names of its own, and ends its solves."""
    folder = tmp_path_factory.mktemp("written") / "served"
    shutil.copytree(solved, folder)
    server = Server(folder)
    yield server
    server.close()


OpenPage = Callable[..., Any]


@pytest.fixture
def open_page(chromium: Any) -> Iterator[OpenPage]:
    """Opens addresses; at the end of the test, nothing may have gone wrong in the console or left the machine."""
    contexts: list[Any] = []
    problems: list[str] = []

    def open_address(address: str, *, viewport: dict[str, int] = DESKTOP, **options: Any) -> Any:
        context = chromium.new_context(viewport=viewport, reduced_motion="reduce", **options)
        context.add_cookies([session_cookie(address)])
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        host = urlsplit(address).netloc
        page.on("console", lambda said: problems.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda sent: problems.append(sent.url) if leaves(sent.url, host) else None)
        page.goto(address)
        return page

    yield open_address
    for context in contexts:
        context.close()
    assert problems == []


def session_cookie(address: str) -> Any:
    """What a browser has after its first visit of a server."""
    found = urlsplit(address)
    name = f"regretless-{found.port}"
    return {"name": name, "value": TOKEN, "url": f"http://{found.netloc}", "httpOnly": True, "sameSite": "Strict"}


def leaves(address: str, host: str) -> bool:
    """Whether a request goes anywhere but to the server."""
    found = urlsplit(address)
    return found.scheme not in ("blob", "data") and found.netloc != host
