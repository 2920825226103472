"""The folder of a price, which is also its state: one file per flop, each complete or absent.

    price.json        whose price it is, and the answer of the last run that was finished
    flops/QsJh2h.rgl  [2, 2, lines, 169] the values where the betting of a flop begins, on every line that leads there

The values of a flop depend on nothing but the strategy, so a run may be killed at any time and started again, with the
same flops or others: what the folder has is not computed again. Before the flop a best response maximises over the
weighted sum of all flops, which is why vectors are stored and not one number per flop.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from regretless.errors import InvalidFile
from regretless.files.atomic import reason
from regretless.files.container import open_container, write_container
from regretless.files.fields import Fields
from regretless.files.state import check_state, replace_state, state_folder
from regretless.holdem.nolimit.price import PreflopValues

__all__ = ["PriceFolder"]

ANSWER, FLOPS = "price.json", "flops"
VERSION = 1
FILE_KIND = "flop-price"
VALUES = "values"
LARGEST_ANSWER = 2**20  # bytes


@dataclass(frozen=True)
class PriceFolder:
    """The values of flops for one strategy, which its digest identifies."""

    path: Path
    digest: str
    game: str
    shape: tuple[int, ...]  # of the values of a flop

    def prepare(self) -> None:
        """Create the folder; refuse one that holds the price of another strategy, or something else."""
        answer = self.path / ANSWER
        if os.path.lexists(answer):
            self._check(answer)
        elif self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise InvalidFile(self.path, "is neither empty nor the folder of a price: choose another folder")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            state_folder(self.path / FLOPS, self.path)
        except OSError as error:
            raise InvalidFile(self.path, f"cannot be created: {reason(error)}") from None
        if not answer.exists():
            self.write_answer(None)

    def _check(self, answer: Path) -> None:
        fields = Fields.read(answer, self.path, largest=LARGEST_ANSWER)
        if fields.whole("version") != VERSION:
            raise InvalidFile(self.path, "was written by another version of Regretless: choose another folder")
        if fields.text("digest") != self.digest:
            raise InvalidFile(self.path, "holds the price of another strategy: choose another folder")

    def write_answer(self, answer: dict[str, Any] | None) -> None:
        """Write what a finished run found."""
        table = {"version": VERSION, "game": self.game, "digest": self.digest, "answer": answer}
        with replace_state(self.path / ANSWER, self.path) as temporary:
            temporary.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")

    # --- flops -------------------------------------------------------------------------------------------------------

    def read(self, flop: str) -> tuple[PreflopValues, float] | None:
        """The values of a flop and the seconds they took; None if they are missing or damaged."""
        path = self.where(flop)
        check_state(path, self.path)
        if not path.exists():
            return None
        try:
            file = open_container(path, FILE_KIND)
            header = Fields(path, file.header)
            if header.text("digest") != self.digest or header.text("flop") != flop:
                return None
            file.check(VALUES, self.shape, (np.float64,))
            return file.array(VALUES), header.number("seconds", low=0.0)
        except InvalidFile:
            return None

    def write(self, flop: str, values: PreflopValues, seconds: float) -> None:
        """Store the values of a flop."""
        header = {"digest": self.digest, "flop": flop, "seconds": seconds}
        check_state(path := self.where(flop), self.path)
        write_container(path, FILE_KIND, header, {VALUES: np.ascontiguousarray(values)}, follow=False)

    def where(self, flop: str) -> Path:
        """The file of a flop."""
        return self.path / FLOPS / f"{flop}.rgl"
