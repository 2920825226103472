"""Makes text from users and files safe to print by escaping characters that a terminal or XML parser acts on.

The name of a spot or file, or a label in a game, may contain anything. An escape sequence could recolour the terminal
or retitle its window, a carriage return could overwrite a line, a right-to-left mark could reorder the text after it,
and XML forbids control characters altogether. They are escaped as in Python string literals: `\\x1b`, `\\u202e`.
"""

from __future__ import annotations

import re

__all__ = ["printable"]

_CONTROLS = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters except line feed and tab
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction marks, which reorder the text after them
    r"\u2028\u2029"  # line and paragraph separators
    r"\ud800-\udfff"  # lone surrogates: bytes of a file name that are not UTF-8
    r"\ufffe\uffff"  # noncharacters, forbidden in XML
)
_IN_LINES = re.compile(f"[{_CONTROLS}]")
_IN_A_LINE = re.compile(f"[\n\t{_CONTROLS}]")


def printable(text: str, *, lines: bool = False) -> str:
    """The text on one line with control characters escaped; `lines` keeps line breaks and tabs.

    >>> printable("a [/b] c"), printable("red \\x1b[31m" + "\\n")
    ('a [/b] c', 'red \\\\x1b[31m\\\\n')
    """
    controls = _IN_LINES if lines else _IN_A_LINE
    return controls.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)
