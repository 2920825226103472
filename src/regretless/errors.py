"""What can go wrong, as types: every error a user can cause is a `RegretlessError` with one clear sentence.

    RegretlessError              exit code 1
    ├── InvalidOption            an option has a value that is not allowed
    ├── InvalidText              text (a range, a card, a game name, a file) cannot be read, and where
    ├── InvalidGame              the rules of a game contradict themselves
    ├── InvalidFile              a file is missing, damaged or not what it says
    ├── MissingExtra             an optional library is not installed
    └── WouldNotFit              exit code 3: more memory than there is, said before it is taken

The command prints `str(error)` and exits with `error.exit_code`; a library user catches the type.

What can be read but was probably meant otherwise is a warning, with Python's `warnings`:

    RegretlessWarning            a `UserWarning`; the command prints it as one line on stderr and carries on
    ├── OverlappingTerms         terms of a range give a hand different weights
    └── RoundedSizes             whole chips or the smallest bet move a size far from what was asked for
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping

from regretless.printable import printable

__all__ = [
    "ApproximateFile",
    "InvalidFile",
    "InvalidGame",
    "InvalidOption",
    "InvalidText",
    "MissingExtra",
    "OverlappingTerms",
    "RegretlessError",
    "RegretlessWarning",
    "RoundedSizes",
    "WouldNotFit",
]

_LONGEST_QUOTE = 60  # characters of a text that a message repeats
_LONGEST_MESSAGE = 1000  # characters


class RegretlessError(Exception):
    """Base of every error that a user's request can cause. A message is one line of bounded length, whatever it quotes.

    >>> print(RegretlessError("no field a" + chr(10) + "b"))
    no field a\\nb
    """

    exit_code = 1

    def __init__(self, message: str) -> None:
        if len(message) > _LONGEST_MESSAGE:  # its end says what is allowed, its beginning where
            half = _LONGEST_MESSAGE // 2
            message = f"{message[:half]} … {message[-half:]}"
        super().__init__(printable(message))


class InvalidOption(RegretlessError):
    """An option has a value that is not allowed.

    >>> print(InvalidOption("iterations", -5, "must be at least 1"))
    iterations: -5 must be at least 1
    """

    def __init__(self, option: str, value: object, reason: str) -> None:
        super().__init__(f"{option}: {_shown(value)} {reason}")
        self.option = option
        self.value = value


def _shown(value: object) -> str:
    """A value as a message shows it."""
    if isinstance(value, int) and abs(value) >= 10**_LONGEST_QUOTE:  # Python refuses to write out very long ones
        return f"a number of {int(value.bit_length() * 0.30103):,} digits"
    written = reprlib.repr(value) if isinstance(value, Mapping | list | tuple | set) else repr(value)
    return written if len(written) <= 2 * _LONGEST_QUOTE else f"{written[:_LONGEST_QUOTE]}..."


class InvalidText(RegretlessError):
    """Text that cannot be read; `position` counts characters from 1. Of a long text the message quotes what is there.

    >>> print(InvalidText("range", "AKx", 3, "'x' is neither s, o nor a suit"))
    range: 'AKx' at position 3: 'x' is neither s, o nor a suit
    >>> print(InvalidText("range", "22, " * 50 + "AKx", 203, "'x' is neither s, o nor a suit"))
    range: '..., 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, AKx' at position 203: ...
    """

    def __init__(self, field: str, text: str, position: int | None, reason: str) -> None:
        where = "" if position is None else f" at position {position}"
        super().__init__(f"{field}: {_quoted(text, position or 1)!r}{where}: {reason}")
        self.field = field
        self.position = position


def _quoted(text: str, position: int) -> str:
    """At most 60 characters of a text, the one at a position among them."""
    if len(text) <= _LONGEST_QUOTE:
        return text
    room = _LONGEST_QUOTE - 3
    if position <= room - 10:
        return text[:room] + "..."
    start = max(0, min(position - room // 2, len(text) - room))
    return "..." + text[start : start + room] + ("..." if start + room < len(text) else "")


class InvalidGame(RegretlessError):
    """The rules of a game contradict themselves: chance that does not sum to 1, say."""


class InvalidFile(RegretlessError):
    """A file that is missing, damaged or not what it says.

    >>> print(InvalidFile("leduc.rgl", "is not a Regretless solution"))
    leduc.rgl: is not a Regretless solution
    """

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path


class MissingExtra(RegretlessError):
    """An optional library is not installed; the message is the line that installs it.

    >>> print(MissingExtra("matplotlib", "plot"))
    matplotlib is not installed: pip install 'regretless[plot]'
    """

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(f"{library} is not installed: pip install 'regretless[{extra}]'")


class WouldNotFit(RegretlessError):
    """More memory than there is, said before any of it is taken; `hint` is what would fit.

    >>> print(WouldNotFit("leduc(ranks=60)", needed=3 * 2**30, available=2 * 2**30))
    leduc(ranks=60) needs 3.0 GiB of memory, but only 2.0 GiB are free
    """

    exit_code = 3

    def __init__(self, what: str, *, needed: int, available: int, hint: str = "") -> None:
        sizes = f"needs {needed / 2**30:.1f} GiB of memory, but only {available / 2**30:.1f} GiB are free"
        super().__init__(f"{what} {sizes}{f': {hint}' if hint else ''}")
        self.needed = needed
        self.available = available


class RegretlessWarning(UserWarning):
    """Base of every warning about what was asked; the answer is still the answer to what was written."""


class OverlappingTerms(RegretlessWarning):
    """Terms of a range give a hand different weights; the later term wins."""


class RoundedSizes(RegretlessWarning):
    """Whole chips or the smallest bet move a bet size far from what was asked for."""


class ApproximateFile(RegretlessWarning):
    """A file of an older version states figures that may be wrong."""
