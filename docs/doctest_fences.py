"""Puts doctest examples in docstrings, from `>>>` to the next empty line, into fenced code blocks.

Plain Markdown would read `>>>` as three nested quotations.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)


class DoctestFences(Extension):
    """Rewrites every docstring once it is loaded."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(lambda match: f"```pycon\n{match.group()}\n```", obj.docstring.value)
