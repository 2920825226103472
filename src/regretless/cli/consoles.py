"""Where output goes: answers to stdout, everything about the work itself to stderr."""

from __future__ import annotations

from rich.console import Console

__all__ = ["for_answers", "for_people"]


def for_answers() -> Console:
    """The console of results; colours only on a terminal."""
    return Console(highlight=False)


def for_people() -> Console:
    """The console of progress, notes and errors: stderr, so that a pipe gets the answer alone."""
    return Console(stderr=True, highlight=False)
