"""Takes the pictures of the page in README.md and docs/: python -m tests.screenshots

The spot is examples/turn.toml, solved from the page itself, so that the pictures show what a reader gets. The study is
solved from the command line and takes a few minutes. python -m tests.screenshots library preflop takes only these two.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright
from tests.page.serving import API, TOKEN, Server, is_over, wait_for

REPOSITORY = Path(__file__).parent.parent
IMAGES = REPOSITORY / "docs" / "images"
DESKTOP = {"width": 1280, "height": 720}
PHONE = {"width": 390, "height": 844}
LOCK = {"node": "", "hands": "", "strategy": {"check": 1.0}}
NODE = "file=turn.rgl&line=check&pin=QJs"
STUDY = """
name = "BB against BTN"
flops = "subset(49)"
iterations = 60
pot = 55
stack = 475
oop.range = "22-99, A2s-AJs, K6s-KQs, Q8s-QJs, J8s-JTs, T8s+, 97s+, 86s+, 75s+, 64s+, 54s, A8o-AJo, KTo+, QTo+, JTo"
ip.range = "22+, A2s+, K4s+, Q7s+, J8s+, T8s+, 97s+, 86s+, 76s, 65s, 54s, A4o+, K9o+, Q9o+, J9o+, T9o"
bets.flop.bet = "33%, 75%"
bets.flop.raise = "3x"
bets.flop.max_raises = 1
rules.add_allin = 0
"""


def main(names: list[str]) -> None:
    with served_example(with_study=not names or "study" in names) as (address, solve), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-headless-shell"), args=["--no-sandbox"]
        )
        for name, view, options in (
            ("library", "/library?", {}),
            ("browse", f"/browse?{NODE}", {}),
            ("browse-light", f"/browse?{NODE}&tab=graph", {"theme": "light"}),
            ("browse-colour-blind", "/browse?file=turn.rgl&line=check,+check", {"palette": "safe"}),
            ("browse-phone", f"/browse?{NODE}", {"viewport": PHONE}),
            ("set-up", "/setup?file=turn.toml", {}),
            ("solve", f"/solve?solve={solve}", {}),
            ("compare", "/browse?file=turn+locked.rgl&line=check&tab=compare&other=turn.rgl", {}),
            ("study", "/studies?study=study&line=check&sort=-bet&filter=unpaired", {}),
            ("preflop", "/preflop?file=push+or+fold.rgl&pin=J7s", {}),
            ("practice", "/practice?file=turn.rgl", {"press": "1"}),
        ):
            if names and name not in names:
                continue
            take(browser, f"{address}{view}&token={TOKEN}", IMAGES / f"page-{name}.png", **options)
        browser.close()


@contextmanager
def served_example(*, with_study: bool) -> Iterator[tuple[str, str]]:
    """The address of a server with the example solved, once free and once locked, and the identity of the first."""
    with tempfile.TemporaryDirectory() as folder:
        example = REPOSITORY / "examples" / "turn.toml"
        shutil.copy(example, folder)
        if with_study:
            solve_study(Path(folder))
        server = Server(Path(folder))
        try:
            first = start(server, {"toml": example.read_text(encoding="utf-8"), "target": 0.3, "name": "turn"})
            start(server, {"again": "turn.rgl", "locks": [LOCK], "target": 0.3, "name": "turn locked"})
            start(server, {"game": "push-fold(stack=10)", "name": "push or fold"})
            yield str(server.client.base_url), first
        finally:
            server.close()


def solve_study(folder: Path) -> None:
    (folder / ".study.toml").write_text(STUDY, encoding="utf-8")  # hidden: the page lists the others
    command = [sys.executable, "-m", "regretless", "study", "run", str(folder / ".study.toml")]
    subprocess.run([*command, "--out", str(folder / "study")], check=True)


def start(server: Server, asked: dict[str, Any]) -> str:
    """Solve to the end; the identity of the solve."""
    answer = server.client.post(f"{API}/solves", json=asked)
    answer.raise_for_status()
    id_ = str(answer.json()["solve"]["id"])
    wait_for(server.client, id_, is_over, seconds=300)
    return id_


def take(
    browser: Browser,
    address: str,
    path: Path,
    *,
    theme: str = "dark",
    palette: str = "usual",
    viewport: Any = DESKTOP,
    press: str | None = None,
) -> None:
    page = browser.new_page(viewport=viewport, reduced_motion="reduce")
    page.add_init_script(
        f"localStorage['regretless.theme'] = '\"{theme}\"'; localStorage['regretless.palette'] = '\"{palette}\"'"
    )
    page.goto(address)
    page.wait_for_timeout(2500)
    if press is not None:
        page.keyboard.press(press)
        page.wait_for_timeout(1000)
    page.screenshot(path=path)
    page.close()


if __name__ == "__main__":
    main(sys.argv[1:])
