"""`regretless serve`: the page."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from regretless.cli.arguments.options import argument, flag, option
from regretless.cli.terminal.consoles import note
from regretless.errors import InvalidOption, MissingExtra, RegretlessError

__all__ = ["serve"]


def serve(
    folder: Annotated[Path, argument("Folder of solutions (.rgl) and spots (.toml).", "FOLDER")] = Path(),
    host: Annotated[
        str,
        option("Address to listen on; the default is reachable from this machine only.", default=True),
    ] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        option("Another name or address by which the server is reached, such as that of a proxy; may be repeated."),
    ] = None,
    port: Annotated[int | None, option("Port.", default="the first free one from 8040")] = None,
    solves: Annotated[int, option("Solves that may run at the same time.", default=True)] = 1,
    no_token: Annotated[
        bool, flag("--no-token", "Let in every user and program that can reach the address, without a token.")
    ] = False,
    browser: Annotated[
        bool | None,
        typer.Option(
            "--open/--no-browser", metavar="", help="Open the page in a browser; by default in an interactive terminal."
        ),
    ] = None,
) -> None:
    """Set up, solve, browse, lock and practise spots in the browser.

    The address contains a token, without which nobody is let in: a new one for each server, or that of the environment
    variable REGRETLESS_TOKEN. Scripts send it as Authorization: Bearer.

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
        from regretless.page.guard import is_loopback, new_token
        from regretless.page.serve import serve as run
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in ("starlette", "uvicorn"):
            raise
        raise MissingExtra(library, "web") from None
    token = None if no_token else _chosen_token() or new_token()

    def print_address(address: str) -> None:
        note(f"the page is at {address} (Ctrl-C ends it)")
        if warning := _exposure(host, is_local=is_loopback(host), no_token=no_token):
            note(warning)

    show = _is_interactive() if browser is None else browser
    hosts = allow_host or []
    with suppress(KeyboardInterrupt):  # how a server is meant to end; it has saved what was running
        run(folder, token=token, host=host, other_hosts=hosts, port=port, solves=solves, show=show, ready=print_address)


def _chosen_token() -> str | None:
    """The token of the environment, if it sets one."""
    token = os.environ.get("REGRETLESS_TOKEN") or None
    if token is not None and not re.fullmatch(r"[A-Za-z0-9_-]{16,512}", token):
        reason = "must have 16 to 512 letters, digits, - or _: unset it to get a random token"
        raise RegretlessError(f"REGRETLESS_TOKEN: {reason}")
    return token


def _exposure(host: str, *, is_local: bool, no_token: bool) -> str | None:
    """Who can use the page, if that is more than the user of this machine who sees the address."""
    can = "read and write the solutions and spots in the folder and start solves"
    if is_local:
        return f"without a token, every user of this machine can {can}" if no_token else None
    where = "this machine over any network" if host in ("0.0.0.0", "::") else f"{host} over the network"
    who = f"everyone who reaches {where}" if no_token else f"everyone who reaches {where} and has this address"
    return f"{who} can {can}; nothing is encrypted"


def _is_interactive() -> bool:
    display = sys.platform in ("darwin", "win32") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    return display and sys.stdout.isatty()
