"""The solution of a game from the deal, and its `.rgl` file.

Besides the record and the game's TOML, a file contains

    average.P, regret.P, matched.P    what player P learned, per decision, action and bucket, in the engine's layout
    STREET.division                   the centroids or limits that give the bucket of any hand on any board
    history                           [points, 3] measurements, if there are any

so that it can be read without the tables of buckets, and always be resumed, with them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from regretless.engines import Snapshot, TableLayout
from regretless.errors import InvalidFile, InvalidGame, InvalidText, RegretlessError
from regretless.files.container import Container, StoredArrays
from regretless.files.fields import Fields
from regretless.forms.public import NodeKind
from regretless.holdem.buckets.divided import DividedBuckets
from regretless.holdem.games.big_blinds import BigBlindSolution
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.nolimit.form import AVERAGES, game_buckets, make_form, snapshot_strategy
from regretless.holdem.nolimit.price import flop_tree
from regretless.holdem.nolimit.pricing import Price, PriceProgress, price_game
from regretless.holdem.nolimit.reader import NoLimitReader
from regretless.holdem.reading.places import Played
from regretless.reprs import brief
from regretless.solving.game_solution import LEARNED
from regretless.solving.record import Record
from regretless.solving.solution import Contents

__all__ = ["NoLimitSolution"]

BUCKETS = "abstraction"  # the field of the header
LONGEST_GAME = 2**20  # characters of TOML


@dataclass(frozen=True, kw_only=True)
class NoLimitSolution(BigBlindSolution):
    """A solved game from the deal. Its `strategy` is that before the flop; `node` reads any line on any board."""

    file_kinds: ClassVar[tuple[str, ...]] = ("holdem-game",)

    rules: HoldemGame
    buckets: DividedBuckets | None = field(repr=False)  # None if nobody acts after the flop
    make_reader: Callable[[], NoLimitReader] = field(repr=False)

    __repr__ = brief

    @classmethod
    def reading(cls, make_reader: Callable[[], NoLimitReader], **fields: Any) -> Self:
        """A solution whose strategy and nodes are read through `make_reader`, which is called on first use."""
        make_reader = cache(make_reader)
        return cls(make_reader=make_reader, read_strategy=lambda: make_reader().preflop(), **fields)

    @property
    def subject(self) -> HoldemGame:
        return self.rules

    @property
    def reader(self) -> NoLimitReader:
        """Reads nodes of the solution."""
        return self.make_reader()

    def node(self, line: str = "", cards: Sequence[int] = ()) -> Played:
        """The acting player's strategy with each hand where a line leads: "raise 5, call, Qs Jh 2h, check".

        `cards` is what the line omits of the board.
        """
        place = self.reader.find(line, cards)
        if self.reader.tree.kind[place.node] != NodeKind.DECISION:
            raise InvalidText("line", line, None, "nobody acts there")
        return self.reader.played(place)

    def charts(self) -> Iterator[Played]:
        return map(self.reader.played, self.reader.before_cards())

    @property
    def boards(self) -> int:
        """Boards drawn so far."""
        return self.iterations * (self.settings.sample_runouts or 0)

    @property
    def has_flops(self) -> bool:
        """Whether anybody acts after the flop: otherwise a price needs no flops."""
        return bool(flop_tree(self.reader.tree).begins)

    def as_json(self, *, strategy: bool = False) -> dict[str, Any]:
        settings, record = self.settings, self.record
        count = settings.sample_runouts or 0
        return super().as_json(strategy=strategy) | {
            "big_blind": self.rules.big_blind,
            "buckets": settings.buckets,
            "sample_runouts": count,
            "boards": self.boards,
            "boards_per_second": count / record.seconds_per_iteration if record.seconds_per_iteration > 0 else None,
        }

    def price(
        self,
        flops: str | int | Sequence[str] | None = None,
        *,
        folder: str | Path | None = None,
        threads: int | None = None,
        device: str = "auto",
        report: Callable[[PriceProgress], None] = lambda progress: None,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> Price | None:
        """Exact values and best responses with real cards, in big blinds: over all 1,755 flops, or some of them.

        `flops` are those of `pricing.read_flops`, by default all. With a few, it is the exact exploitability in a game
        with only these flops, weighted, and an estimate of that of the whole game, biased upwards. A flop takes from
        seconds to minutes, depending on the betting tree and the device. With a folder, flops that are done are stored,
        and a run that was stopped is resumed, on any device. `device` is "cpu", "cuda" or "auto": a GPU if there is one
        with enough memory, unless `threads` are given. A game without flops (`has_flops`) refuses `flops`, `threads`
        and any device but "auto". None if it was `interrupted`.
        """
        return price_game(
            self.rules,
            self.reader,
            flops,
            folder=folder,
            digest="" if folder is None else self.strategy_digest(),
            threads=threads,
            device=device,
            report=report,
            interrupted=interrupted,
        )

    def strategy_digest(self) -> str:
        """What exploitability depends on: the game, its buckets and the average strategy."""
        assert self.snapshot is not None
        digest = hashlib.sha256(self.rules.to_toml().encode())
        arrays = {name: self.snapshot.arrays[name] for name in AVERAGES}
        if self.buckets is not None:
            digest.update(json.dumps(self.buckets.header(), sort_keys=True).encode())
            arrays |= self.buckets.arrays()
        for name, array in sorted(arrays.items()):
            digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def verify(self, **options: Any) -> Any:
        raise InvalidGame(f"{self.game}: is too large to be checked by its rules: regretless price evaluates it")

    def _contents(self, resumable: bool) -> Contents:
        assert self.snapshot is not None
        arrays = {name: self.snapshot.arrays[name] for name in self.snapshot.arrays if resumable or name in AVERAGES}
        header: dict[str, Any] = {"rules": self.rules.to_toml(), BUCKETS: None}
        if self.buckets is not None:
            header[BUCKETS] = self.buckets.header()
            arrays |= self.buckets.arrays()
        return Contents(header, arrays)

    @classmethod
    def read(cls, file: Container, *, to_resume: bool = False) -> Self:
        path = file.path
        header = Fields(path, file.header)
        record = Record.read(file, players=2)
        try:
            game = HoldemGame.parse(header.text("rules", longest=LONGEST_GAME))
        except InvalidFile:
            raise
        except RegretlessError as error:
            raise InvalidFile(path, f"is damaged: {error}") from None
        buckets = DividedBuckets.read(file, BUCKETS) if header.value(BUCKETS) is not None else None
        try:
            of_game = game_buckets(game, buckets, () if buckets is None else buckets.plan.streets)
        except RegretlessError as error:
            raise InvalidFile(path, f"is damaged: {error}") from None
        form = make_form(game, of_game, count=1, seed=0)
        layout = TableLayout(form)
        wide = np.float64 if record.settings.storage == 64 else np.float32
        for player, name in enumerate(AVERAGES):
            file.check(name, (layout.entries[player],), (wide,))
        snapshot = Snapshot(record.iterations, StoredArrays(file, LEARNED))
        return cls.reading(
            lambda: NoLimitReader(form, of_game, snapshot_strategy(layout, snapshot)),
            record=record,
            snapshot=snapshot,
            path=path,
            rules=game,
            buckets=buckets,
        )
