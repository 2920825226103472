"""Examples in docstrings as code: lines from `>>>` to the next empty line are put into a fenced block.

Markdown alone would read `>>>` as a quotation in a quotation in a quotation.
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
