"""Text that came from a user or a file, made safe to print: what a terminal or an XML reader would act on is escaped.

A spot's name, a file's name or a label of a game may hold anything. An escape sequence could recolour the terminal or
retitle its window, a carriage return overwrite a line, a right-to-left mark reorder what follows it, and XML allows
none of the control characters at all. They are written as Python writes them in a string: `\\x1b`, `\\u202e`.
"""

from __future__ import annotations

import re

__all__ = ["printable"]

_CONTROLS = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, line feeds and tabs apart
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction marks, which reorder what follows them
    r"\u2028\u2029"  # line and paragraph separators
    r"\ud800-\udfff"  # halves of a pair: bytes of a file name that are not UTF-8
    r"\ufffe\uffff"  # no characters at all, and not allowed in XML
)
_IN_LINES = re.compile(f"[{_CONTROLS}]")
_IN_A_LINE = re.compile(f"[\n\t{_CONTROLS}]")


def printable(text: str, *, lines: bool = False) -> str:
    """The same text on one line, control characters escaped; `lines` keeps line breaks and tabs.

    >>> printable("a [/b] c"), printable("red \\x1b[31m" + "\\n")
    ('a [/b] c', 'red \\\\x1b[31m\\\\n')
    """
    return (_IN_LINES if lines else _IN_A_LINE).sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode("ascii")
