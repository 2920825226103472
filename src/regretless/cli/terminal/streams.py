"""The process's standard streams: made fit for any text when the command starts, and silenced if nobody reads them."""

from __future__ import annotations

import codecs
import os
import sys
from contextlib import suppress
from typing import IO

__all__ = ["discard", "prepare_streams"]

FALLBACK = "regretless.fallback"  # the name of the error handler below
REPLACEMENTS = {  # for characters that a stream's encoding lacks
    "♣": "c", "♦": "d", "♥": "h", "♠": "s",
    "█": "#", "■": "#", "·": "-", "–": "-", "—": "-", "−": "-", "→": "->", "…": "...", "×": "x", "±": "+-",
    "≤": "<=", "≥": ">=", "µ": "u", "’": "'", "“": '"', "”": '"', "\xa0": " ",
    "α": "alpha", "β": "beta", "γ": "gamma",
}  # fmt: skip


def prepare_streams() -> None:
    """Make stdout and stderr accept any text, and stdin any bytes: what their encoding lacks is replaced.

    If one of them was closed when the command started (`>&-`), output to it is dropped or the input is empty, and its
    file descriptor is occupied so that no file opened later gets it.
    """
    while (free := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(free, True)
    os.close(free)
    codecs.register_error(FALLBACK, _replace)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  open until the process ends
        with suppress(AttributeError):  # replaced by an object that is no text stream
            getattr(sys, name).reconfigure(errors=FALLBACK)
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115  open until the process ends
    with suppress(AttributeError, OSError):  # no text stream, or already read from
        getattr(sys.stdin, "reconfigure")(errors="backslashreplace")  # noqa: B009  typed as a stream without it


def _replace(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace what cannot be encoded by plain characters, or else by its number."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unencodable = error.object[error.start : error.end]
    return "".join(REPLACEMENTS.get(letter) or ascii(letter)[1:-1] for letter in unencodable), error.end


def discard(stream: IO[str]) -> None:
    """Drop what is printed from now on: the reader of a pipe closed it, or the disk that holds a log is full."""
    with suppress(OSError, ValueError):  # not a file of the operating system, or closed
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
