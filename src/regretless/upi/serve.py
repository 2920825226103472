"""The loop: a line of input is a command, and its answer is printed before the next is read.

The solver's messages come from its own thread, and never in the middle of an answer. Commands here concern the loop
itself: where answers go, how they end, and commands from a file. Everything else is loaded with the first command that
needs it, so that a client hears at once that the process is ready.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from typing import IO, TYPE_CHECKING

from regretless import __version__
from regretless.errors import RegretlessError

if TYPE_CHECKING:
    from regretless.upi.session import Session
    from regretless.upi.table import Command

__all__ = ["LOOP_COMMANDS", "Client", "commands", "serve"]

PROTOCOL = "3.0.0"  # the version of the protocol's documentation that this follows
BANNER = f"Regretless {__version__} (UPI {PROTOCOL})\nApache License 2.0\nregistered to everyone\n\n"
END = "END"  # after a message of the solver of several lines, unless the client sets another
MAX_SCRIPTS = 10  # scripts that load each other
_WORD = re.compile(r'"([^"]*)"|(\S+)')


class Output:
    """Where answers go: to the client, or to a file of its choice."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream
        self.end_string = ""
        self.is_broken = False  # whether the client has closed it
        self._file: IO[str] | None = None
        self._lock = threading.Lock()

    def answer(self, text: str) -> None:
        self.write(f"{text}\n{self.end_string}" if self.end_string else text)

    def message(self, text: str) -> bool:
        """A message of the solver, and whether anybody reads it; one of several lines ends like an answer."""
        self.write(f"{text}\n{self.end_string or END}" if "\n" in text else text)
        return not self.is_broken

    def write(self, text: str) -> None:
        with self._lock:
            if self._file is not None:
                error = _write(self._file, text)
                if error is None:
                    return
                with suppress(OSError):  # tries again to write the rest
                    self._file.close()
                text = f"ERROR: {self._file.name}: {error}; answers go to the client again"
                self._file = None
            if _write(self.stream, text) is not None:
                self.is_broken = True

    def redirect(self, path: str | None, mode: str = "w") -> None:
        """Write to a file from now on, or back to the client."""
        file = None if path is None else open(path, mode, encoding="utf-8")  # noqa: SIM115  open until redirected
        with self._lock:
            previous, self._file = self._file, file
        if previous is not None:
            previous.close()


def _write(stream: IO[str], text: str) -> Exception | None:
    """Write a line, or return what is wrong: the stream is closed at either end, or its disk is full."""
    try:
        stream.write(f"{text}\n")
        stream.flush()
    except (OSError, ValueError) as error:
        return error
    return None


class Client:
    """One client: its session, and its output."""

    def __init__(self, stream: IO[str]) -> None:
        self.output = Output(stream)
        self._session: Session | None = None
        self.scripts = 0  # that are being read: one, or those that load each other
        self.has_left = False

    def read(self, line: str, *, silent: bool = False) -> None:
        """Carry out one line. In scripts, answers have no end string; in silent ones, only errors are printed."""
        words = [match[1] if match[2] is None else match[2] for match in _WORD.finditer(line)]
        if not words or line.lstrip().startswith("#"):
            return
        self._begin()
        name, arguments = words[0], words[1:]
        try:
            text = self._answer(name, arguments)
        except Exception as error:  # whatever it is, the client waits for an answer
            from regretless.upi.formatting import error_text

            text = f"ERROR: {error_text(error)}"
        if text is not None and not self.scripts:
            self.output.answer(text)
            self._begin()
        elif text is not None and (not silent or text.startswith("ERROR")):
            self.output.write(text)

    def _answer(self, name: str, arguments: list[str]) -> str | None:
        if any("\0" in word for word in (name, *arguments)):  # ends the name of a file, for the operating system
            raise RegretlessError("a line must not contain a NUL character")
        if name in LOOP_COMMANDS:
            usage, handler = LOOP_COMMANDS[name]
            if not usage.endswith("…") and len(arguments) != len(usage.split()):
                raise RegretlessError(f"the usage is: {name} {usage}".rstrip())
            return handler(self, *arguments)
        known = commands()
        if name not in known:
            close = get_close_matches(name, [*known, *LOOP_COMMANDS], n=1)
            raise RegretlessError(f"unknown command {name[:40]!r}{f'; did you mean {close[0]}?' if close else ''}")
        return known[name].answer(self.session, arguments)

    @property
    def session(self) -> Session:
        """What the client has set, built and solved."""
        from regretless.upi.session import Session

        if self._session is None:
            self._session = Session(self.output.message)
        return self._session

    def _begin(self) -> None:
        """Start a solve that waits for the answer to its command."""
        if self._session is not None:
            self._session.begin()

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
        self.output.redirect(None)

    # --- commands of the loop; None answers nothing -------------------------------------------------------------------

    def leave(self) -> None:
        self.has_left = True

    def set_end_string(self, text: str) -> str:
        self.output.end_string = text
        return "set_end_string ok!"

    def reset_end_string(self) -> str:
        self.output.end_string = ""
        return "reset_end_string ok!"

    def redirect(self, path: str, mode: str = "w") -> None:
        """The file begins with the next answer."""
        self.output.redirect(path, mode)

    def redirect_back(self) -> str:
        self.output.redirect(None)
        return "stdoutback ok!"

    def load_script(self, path: str, *, silent: bool = False) -> str:
        if self.scripts == MAX_SCRIPTS:
            raise RegretlessError(f"{path}: more than {MAX_SCRIPTS} scripts load each other")
        with open(path, encoding="utf-8", errors="replace") as script:
            lines = script.readlines()
        self.scripts += 1
        try:
            for line in lines:
                self.read(line, silent=silent)
                if self.has_left or self.output.is_broken:
                    break
        finally:
            self.scripts -= 1
        return "load_script_silent ok!" if silent else "load_script ok!"


# What each takes, and what carries it out.
LOOP_COMMANDS: dict[str, tuple[str, Callable[..., str | None]]] = {
    "is_ready": ("", lambda client: "is_ready ok!"),
    "exit": ("", Client.leave),
    "echo": ("TEXT…", lambda client, *words: " ".join(words)),
    "show_version": ("", lambda client: PROTOCOL),
    "set_end_string": ("TEXT", Client.set_end_string),
    "reset_end_string": ("", Client.reset_end_string),
    "load_script": ("FILE", Client.load_script),
    "load_script_silent": ("FILE", lambda client, path: client.load_script(path, silent=True)),
    "stdoutredi": ("FILE", Client.redirect),
    "stdoutredi_append": ("FILE", lambda client, path: client.redirect(path, "a")),
    "stdoutback": ("", Client.redirect_back),
}


@cache
def commands() -> Mapping[str, Command]:
    """The other commands, which load the solver."""
    from regretless.upi.node_commands import NODE_COMMANDS
    from regretless.upi.tree_commands import TREE_COMMANDS

    return TREE_COMMANDS | NODE_COMMANDS


def serve(lines: Iterable[str], stream: IO[str]) -> None:
    """Answer the commands of a client until it leaves, its input ends, or nobody reads the answers."""
    client = Client(stream)
    try:
        client.output.write(BANNER.removesuffix("\n"))
        for line in lines:
            client.read(line)
            if client.has_left or client.output.is_broken:
                break
    finally:
        client.close()
