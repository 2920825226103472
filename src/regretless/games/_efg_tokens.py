"""Tokenizer for Gambit files that tracks positions for error messages.

A token is text in double quotes (a backslash escapes the next character), a number (`2`, `-.5`, `1e-3`, `1/3`), a
word, a brace or a comma. Whitespace is ignored; `//` and `#` begin a comment that runs to the end of the line.
"""

from __future__ import annotations

import math
import re
from typing import NoReturn

from regretless.errors import InvalidFile

__all__ = ["END", "Tokens"]

_TOKEN = re.compile(
    r"""(?:\s++|//[^\n]*+|\#[^\n]*+)*+  # whitespace and comments; possessive, to prevent backtracking
      (?: (?P<text>"[^"\\]*+(?:\\.[^"\\]*+)*+")
      | (?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?:/\d+)?)
      | (?P<word>[A-Za-z]+)
      | (?P<mark>[{},])
      | (?P<end>\Z))""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_BLANK = re.compile(r"(?:\s++|//[^\n]*+|#[^\n]*+)*+", re.ASCII)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
LONGEST_NUMBER = 100  # characters
END = "end"  # kind of the token after the last one


class Tokens:
    """A cursor over the tokens of a file: `kind` and `value` describe the next one."""

    def __init__(self, source: str, path: object) -> None:
        self.source = source
        self.path = path
        self.kind = ""
        self.value = ""
        self._start = 0
        self._after = 0
        self._find(0)

    def fail(self, reason: str) -> NoReturn:
        """Refuse the file, pointing at the next token."""
        line = self.source.count("\n", 0, self._start) + 1
        column = self._start - self.source.rfind("\n", 0, self._start)
        raise InvalidFile(self.path, f"line {line}, column {column}: {reason}")

    def take(self) -> str:
        """Return the next token and move past it."""
        value = self.value
        self._find(self._after)
        return value

    def accept(self, mark: str) -> bool:
        """Move past `mark` if it is next."""
        if self.value == mark and self.kind != "text":
            self._find(self._after)
            return True
        return False

    def expect(self, mark: str, where: str) -> None:
        if not self.accept(mark):
            self.fail(f"expected {mark!r} {where}, found {self.shown()}")

    def text(self, what: str) -> str:
        if self.kind != "text":
            self.fail(f"expected {what} in double quotes, found {self.shown()}")
        inside = self.take()[1:-1]
        return _ESCAPE.sub(r"\1", inside) if "\\" in inside else inside

    def integer(self, what: str) -> int:
        if self.kind != "number" or len(self.value) > 18 or not self.value.isdecimal():
            self.fail(f"expected {what}, a whole number of at least 0, found {self.shown()}")
        return int(self.take())

    def number(self, what: str) -> float:
        if self.kind != "number" or len(self.value) > LONGEST_NUMBER:
            self.fail(f"expected {what}, a number, found {self.shown()}")
        above, _, below = self.value.partition("/")
        try:
            if not below:
                value = float(above)
            elif above.lstrip("+-").isdecimal():
                value = int(above) / int(below)  # integers, so that it is rounded only once
            else:
                value = float(above) / int(below)
        except ZeroDivisionError:
            self.fail(f"{what} {self.value} divides by 0")
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            self.fail(f"{what} {self.shown()} is too large")
        self.take()
        return value

    def shown(self) -> str:
        """The next token as shown in a message."""
        if self.kind == END:
            return "the end of the file"
        shown = self.value if len(self.value) <= 40 else self.value[:37] + "..."
        return " ".join(shown.split())

    def _find(self, position: int) -> None:
        match = _TOKEN.match(self.source, position)
        if match is None:
            blank = _BLANK.match(self.source, position)
            self._start = blank.end() if blank else position
            if self.source[self._start] == '"':
                self.fail("this double quote is never closed")
            self.fail(f"unexpected character {self.source[self._start]!r}")
        self.kind = kind = match.lastgroup or END
        self.value = match[kind]
        self._start, self._after = match.span(kind)
