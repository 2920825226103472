"""The mistakes made in practice, saved in `.regretless/practice.json`: those that cost most are listed first."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from pathlib import Path

from regretless.errors import InvalidFile
from regretless.files.fields import Fields
from regretless.files.state import replace_state, state_folder
from regretless.page.folder import STATE
from regretless.page.schema import Json, Mismatch, array, check, number, obj, text

__all__ = ["MISTAKE", "MistakeList"]

MAX_MISTAKES = 500
MAX_BYTES = 2**20  # bytes
MISTAKE = obj(
    {
        "file": text(longest=300),
        "line": text(longest=1_000),
        "player": text(enum=["oop", "ip"]),
        "board": text(longest=40),
        "hand": text(longest=10),
        "chosen": text(longest=100),
        "best": text(longest=100),
        "lost_pct_pot": number(minimum=0),
        "grade": text(enum=["inaccuracy", "mistake", "blunder"]),
        "time": number("seconds since 1970", minimum=0),
    }
)
_SAVED = obj({"mistakes": array(MISTAKE, maxItems=MAX_MISTAKES)})


class MistakeList:
    """What the user got wrong, oldest first."""

    def __init__(self, folder: Path) -> None:
        self._root, self._path = folder, folder / STATE / "practice.json"
        self._changing = threading.Lock()

    def read(self) -> list[Json]:
        """All of them; none if they cannot be read, as the folder may come from somebody else."""
        with suppress(InvalidFile, Mismatch):
            saved = Fields.read(self._path, self._root, largest=MAX_BYTES).table
            check(saved, _SAVED)
            return list(saved["mistakes"])
        return []

    def worst(self, count: int) -> list[Json]:
        """Those that cost most, in percent of the pot."""
        return sorted(self.read(), key=lambda each: -float(each["lost_pct_pot"]))[:count]

    def add(self, mistake: Json) -> None:
        """Add one; the oldest is dropped if there are too many. Nothing is saved if the folder is read-only."""
        with self._changing:
            self._write([*self.read(), mistake][-MAX_MISTAKES:])

    def forget(self) -> None:
        """Drop all of them."""
        with self._changing:
            self._write([])

    def _write(self, mistakes: list[Json]) -> None:
        with suppress(InvalidFile, OSError):
            state_folder(self._path.parent, self._root)
            with replace_state(self._path, self._root) as temporary:
                temporary.write_text(json.dumps({"mistakes": mistakes}), encoding="utf-8")
