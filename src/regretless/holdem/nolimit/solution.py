"""The solution of a game from the deal, and its `.rgl` file.

Besides the record and the game's TOML, a file contains

    average.P, regret.P, matched.P    what player P learned, per decision, action and bucket, in the engine's layout
    STREET.division                   the centroids or limits that give the bucket of any hand on any board
    history                           [points, 3] measurements, if there are any

so that it can be read without the tables of buckets, and always be resumed, with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from regretless.cards.deck import parse_board
from regretless.cards.isomorphism import canonical_boards
from regretless.engines.bucketed.tables import TableLayout
from regretless.engines.contract import Evaluation, Snapshot
from regretless.errors import InvalidFile, InvalidGame, InvalidText, RegretlessError
from regretless.forms.public import Kind
from regretless.holdem.buckets.divided import DividedBuckets
from regretless.holdem.form.betting import betting_of
from regretless.holdem.games.big_blinds import BigBlindSolution
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.nolimit.form import AVERAGES, game_buckets, make_form, snapshot_strategy
from regretless.holdem.nolimit.price import CLASSES, flop_tree, flop_values, priced
from regretless.holdem.nolimit.reader import NoLimitReader
from regretless.holdem.reading.places import Played
from regretless.holdem.studies.subsets import subset
from regretless.reprs import brief
from regretless.solvers.game_solution import LEARNED
from regretless.solvers.record import Record
from regretless.storage.container import StoredArrays, open_container, write_container
from regretless.storage.fields import Fields

__all__ = ["FILE_KIND", "NoLimitSolution"]

FILE_KIND = "holdem-game"
BUCKETS = "abstraction"  # the field of the header
LONGEST_GAME = 2**20  # characters of TOML


@dataclass(frozen=True, kw_only=True)
class NoLimitSolution(BigBlindSolution):
    """A solved game from the deal. Its `strategy` is that before the flop; `node` reads any line on any board."""

    kind: ClassVar[str] = FILE_KIND

    rules: HoldemGame
    buckets: DividedBuckets | None = field(repr=False)  # None if nobody acts after the flop
    make_reader: Callable[[], NoLimitReader] = field(repr=False)

    __repr__ = brief

    @classmethod
    def reading(cls, make_reader: Callable[[], NoLimitReader], **fields: Any) -> NoLimitSolution:
        """A solution whose strategy and nodes are read through `make_reader`, which is called on first use."""
        make_reader = cache(make_reader)
        return cls(make_reader=make_reader, read_strategy=lambda: make_reader().preflop(), **fields)

    @property
    def reader(self) -> NoLimitReader:
        """Reads nodes of the solution."""
        return self.make_reader()

    def node(self, line: str = "", cards: Sequence[int] = ()) -> Played:
        """The acting player's strategy with each hand where a line leads: "raise 5, call, Qs Jh 2h, check".

        `cards` is what the line omits of the board.
        """
        place = self.reader.find(line, cards)
        if self.reader.tree.kind[place.node] != Kind.DECISION:
            raise InvalidText("line", line, None, "nobody acts there")
        return self.reader.played(place)

    @property
    def boards(self) -> int:
        """Boards drawn so far."""
        return self.iterations * (self.settings.sample_runouts or 0)

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
        self, *, flops: int | None = None, report: Callable[[int, int], None] = lambda done, total: None
    ) -> Evaluation:
        """Exact values and best responses with real cards, in big blinds: over all 1,755 flops, or a weighted subset.

        `flops` is the size of a subset of `holdem.studies.subsets`. With one, it is the exact exploitability in a game
        with only these flops, and an estimate of that of the whole game, biased upwards. A flop takes from seconds to
        minutes, by the size of the betting tree; `report` is told how many are done.
        """
        betting = betting_of(self.rules)
        strategy = lru_cache(maxsize=None)(self.reader.bucket_strategy)
        given = flop_tree(betting.tree)
        total = np.zeros((2, 2, len(given.begins), CLASSES))
        chosen = _flops(flops) if given.begins or flops is not None else []
        for done, (flop, weight) in enumerate(chosen if given.begins else [], start=1):
            total += weight * flop_values(given, betting.payoffs, self.reader.buckets, strategy, flop)
            report(done, len(chosen))
        lines = {node: total[:, :, place] for place, node in enumerate(given.chance)}
        return priced(betting.tree, betting.payoffs, strategy, lines, self.rules.big_blind)

    def verify(self, **options: Any) -> Any:
        raise InvalidGame(f"{self.game}: is too large to be checked by its rules")

    def save(self, path: str | Path, *, resumable: bool = True) -> None:
        """Write a `.rgl` file; without `resumable`, only the strategy."""
        if self.snapshot is None:
            raise InvalidFile(path, "cannot be written: the solution holds nothing that was learned")
        kept = {name: self.snapshot.arrays[name] for name in self.snapshot.arrays if resumable or name in AVERAGES}
        header = self.record.header() | {"rules": self.rules.to_toml(), BUCKETS: None}
        arrays = {**kept, "history": self.record.points()}
        if self.buckets is not None:
            header |= {BUCKETS: self.buckets.header()}
            arrays |= self.buckets.arrays()
        write_container(path, FILE_KIND, header, arrays)

    @classmethod
    def load(cls, path: str | Path) -> NoLimitSolution:
        """Read a solution; a missing, damaged or unrelated file raises `InvalidFile`."""
        file = open_container(path, FILE_KIND)
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
            path=Path(path),
            rules=game,
            buckets=buckets,
        )


def _flops(size: int | None) -> list[tuple[tuple[int, ...], float]]:
    """Flops and how many of the 22,100 each stands for: a subset, or one of each class."""
    if size is not None:
        return [(tuple(parse_board(text)), weight) for text, weight in subset(size).items()]
    classes = canonical_boards(3)
    return [
        (tuple(cards), float(count))
        for cards, count in zip(classes.cards.tolist(), classes.multiplicity.tolist(), strict=True)
    ]
