"""`regretless serve`: the page."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from regretless.cli.arguments.options import argument, option
from regretless.cli.terminal.consoles import note
from regretless.errors import InvalidOption, MissingExtra

__all__ = ["serve"]


def serve(
    folder: Annotated[Path, argument("Folder of solutions (.rgl) and spots (.toml).", "FOLDER")] = Path(),
    host: Annotated[
        str, option("Address to listen on; the default is reachable from this machine only.")
    ] = "127.0.0.1",
    port: Annotated[int | None, option("Port.", default="the first free one from 8040")] = None,
    solves: Annotated[int, option("Solves that may run at the same time.")] = 1,
    browser: Annotated[
        bool | None,
        typer.Option("--open/--no-browser", help="Open the page in a browser; by default in an interactive terminal."),
    ] = None,
) -> None:
    """Set up, solve, browse, lock and practise spots in the browser.

    \b
    [cyan]regretless serve[/cyan]   the current folder
    [cyan]regretless serve solutions --port 9000 --no-browser[/cyan]
    """
    if not folder.is_dir():
        raise InvalidOption("FOLDER", str(folder), "is not a folder")
    if port is not None and not 0 <= port <= 65535:
        raise InvalidOption("port", port, "must be from 0 to 65535")
    if solves < 1:
        raise InvalidOption("solves", solves, "must be at least 1")
    try:
        from regretless.web.serve import serve as run
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in ("starlette", "uvicorn"):
            raise
        raise MissingExtra(library, "web") from None
    show = _is_interactive() if browser is None else browser
    with suppress(KeyboardInterrupt):  # how a server is meant to end; it has saved what was running
        run(folder, host=host, port=port, solves=solves, show=show, ready=_tell)


def _is_interactive() -> bool:
    display = sys.platform in ("darwin", "win32") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    return display and sys.stdout.isatty()


def _tell(address: str) -> None:
    note(f"the page is at {address} (Ctrl-C ends it)")
