"""Where the values of flops are stored while a game is priced: in a folder, or in memory.

With a folder, flops that are done survive a stop. It is the state of a run, one file per flop, each complete or absent:

    price.json        whose price it is, and the price that the last finished run computed
    flops/QsJh2h.rgl  [2, 2, lines, 169] the values where the betting of a flop begins, on every line that leads there
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from regretless.errors import InvalidFile
from regretless.files.atomic import reason
from regretless.files.container import write_container
from regretless.files.fields import Fields
from regretless.files.state import check_state, replace_state, state_folder
from regretless.holdem.games.flop_pricer import PreflopValues
from regretless.solving.kinds import open_file

__all__ = ["PriceFolder", "PriceMemory", "StoredFlop"]

PRICE, FLOPS = "price.json", "flops"
VERSION = 1
FILE_KIND = "flop-price"
VALUES = "values"
MAX_PRICE = 2**20  # bytes of price.json


class StoredFlop(NamedTuple):
    """The values of a flop, and how long it took to compute them."""

    values: PreflopValues
    seconds: float


@dataclass(frozen=True)
class PriceFolder:
    """The values of flops for one strategy, which its digest identifies."""

    path: Path
    digest: str
    game: str
    shape: tuple[int, ...]  # of the values of a flop

    def prepare(self) -> None:
        """Create the folder; refuse one that holds the price of another strategy, or something else."""
        price = self.path / PRICE
        if os.path.lexists(price):
            self._check(price)
        elif self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise InvalidFile(self.path, "is neither empty nor the folder of a price: choose another folder")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            state_folder(self.path / FLOPS, self.path)
        except OSError as error:
            raise InvalidFile(self.path, f"cannot be created: {reason(error)}") from None
        if not price.exists():
            self.write_price(None)

    def _check(self, price: Path) -> None:
        fields = Fields.read(price, self.path, largest=MAX_PRICE)
        if fields.whole("version") != VERSION:
            raise InvalidFile(self.path, "was written by another version of Regretless: choose another folder")
        if fields.text("digest") != self.digest:
            raise InvalidFile(self.path, "holds the price of another strategy: choose another folder")

    def write_price(self, price: dict[str, object] | None) -> None:
        """Write the price that a finished run computed; None if no run has finished yet."""
        table = {"version": VERSION, "game": self.game, "digest": self.digest, "answer": price}
        with replace_state(self.path / PRICE, self.path) as temporary:
            temporary.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")

    def read(self, flop: str) -> StoredFlop | None:
        """The values of a flop; None if they are missing or damaged."""
        path = self.file_of(flop)
        check_state(path, self.path)
        if not path.exists():
            return None
        try:
            file = open_file(path, FILE_KIND)
            header = Fields(path, file.header)
            if header.text("digest") != self.digest or header.text("flop") != flop:
                return None
            file.check(VALUES, self.shape, (np.float64,))
            return StoredFlop(file.array(VALUES), header.number("seconds", low=0.0))
        except InvalidFile:
            return None

    def write(self, flop: str, stored: StoredFlop) -> None:
        """Store the values of a flop."""
        header = {"digest": self.digest, "flop": flop, "seconds": stored.seconds}
        check_state(path := self.file_of(flop), self.path)
        write_container(path, FILE_KIND, header, {VALUES: np.ascontiguousarray(stored.values)}, follow=False)

    def file_of(self, flop: str) -> Path:
        """The file of a flop."""
        return self.path / FLOPS / f"{flop}.rgl"


class PriceMemory:
    """The values of flops in memory, for a price without a folder."""

    def __init__(self) -> None:
        self._stored: dict[str, StoredFlop] = {}

    def prepare(self) -> None:
        """Nothing needs to be created."""

    def read(self, flop: str) -> StoredFlop | None:
        """The values of a flop; None if they are missing."""
        return self._stored.get(flop)

    def write(self, flop: str, stored: StoredFlop) -> None:
        """Store the values of a flop."""
        self._stored[flop] = stored

    def write_price(self, price: dict[str, object]) -> None:
        """Nothing needs to be written: the caller has the price."""

    def file_of(self, flop: str) -> Path:
        """What an error calls a flop."""
        return Path(flop)
