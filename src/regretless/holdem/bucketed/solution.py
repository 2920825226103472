"""The solution of a spot with buckets, and its `.rgl` file.

Besides the record and the spot's TOML, a file contains

    average.P        sums of strategies of player P, per decision, action and bucket, in the engine's layout
    bucket.P.S       [runouts, H] the bucket of each hand of player P on every runout of street S
    history          [points, 3] iteration, seconds, exploitability with real cards

and, if it can be resumed, the regrets. Runouts and strengths are recomputed, and values when the first node is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from regretless.engines import BucketTables, Snapshot, StrategyEvaluator, encode_shares, with_real_cards
from regretless.errors import InvalidFile
from regretless.files.container import Container, StoredArrays
from regretless.files.fields import Fields
from regretless.forms.bucketed import BucketedForm
from regretless.forms.drawn_runouts import BucketMaps, bucketed_form
from regretless.forms.history import FloatArray
from regretless.forms.public import NodeKind, PublicForm
from regretless.holdem.form.runouts import compile_spot
from regretless.holdem.reading.evaluation import places
from regretless.holdem.reading.probabilities import layout
from regretless.holdem.reading.reading import SpotReader
from regretless.holdem.solution import SpotSolution, spot_and_tree
from regretless.reprs import brief
from regretless.solving.game_solution import LEARNED
from regretless.solving.record import Record
from regretless.solving.solution import Contents

__all__ = ["BucketedAnswers", "BucketedSpotSolution"]

AVERAGES = ("average.0", "average.1")


@dataclass(frozen=True, kw_only=True)
class BucketedSpotSolution(SpotSolution):
    """A spot solved with buckets. Nodes, values and exploitability are those of real hands on real runouts."""

    file_kinds: ClassVar[tuple[str, ...]] = ("spot-buckets",)

    maps: BucketMaps = field(repr=False)
    buckets: tuple[tuple[int, ...], tuple[int, ...]]  # per player: their number on each street

    __repr__ = brief

    def as_json(self, *, strategy: bool = False) -> dict[str, Any]:
        settings = self.settings
        return super().as_json(strategy=strategy) | {
            "buckets": settings.buckets,
            "sample_runouts": settings.sample_runouts,
        }

    @property
    def is_resumable(self) -> bool:
        return self.snapshot is not None and "regret.0" in self.snapshot.arrays

    def _contents(self, resumable: bool) -> Contents:
        assert self.snapshot is not None
        arrays = {name: self.snapshot.arrays[name] for name in self.snapshot.arrays if resumable or name in AVERAGES}
        for player, of_player in enumerate(self.maps):
            arrays |= {f"bucket.{player}.{street}": map_.astype(np.int32) for street, map_ in enumerate(of_player)}
        return Contents({"spot": self.spot.to_toml(), "buckets": [list(each) for each in self.buckets]}, arrays)

    def checkpoint(self, path: str | Path) -> None:
        self.save(path, resumable=True)

    @classmethod
    def read(cls, file: Container, *, to_resume: bool = False) -> Self:
        header = Fields(file.path, file.header)
        spot, _ = spot_and_tree(header)
        record = Record.read(file, players=2)
        form = compile_spot(spot)
        buckets = _read_counts(header, len(form.streets))
        maps = _read_maps(file, form, buckets)
        snapshot = Snapshot(record.iterations, StoredArrays(file, LEARNED))
        tables = BucketTables(_form_of(form, maps, buckets), np.float32)
        for player, name in enumerate(AVERAGES):
            file.check(name, (tables.layout.entries[player],), (np.float32,))
        resumable = "regret.0" in file

        def answers() -> BucketedAnswers:
            return BucketedAnswers(form, maps, lambda node: _strategy(tables, snapshot, node))

        return cls(
            record=record,
            snapshot=snapshot if resumable or not to_resume else None,
            path=file.path,
            spot=spot,
            make_reader=lambda: SpotReader(spot, form, answers()),
            maps=maps,
            buckets=buckets,
        )


class BucketedAnswers:
    """Strategies of hands read from those of their buckets, and their exact values before the last street."""

    probability_bits = 32
    threads = 1

    def __init__(self, form: PublicForm, maps: BucketMaps, strategy: Callable[[int], FloatArray]) -> None:
        self.form = form
        self._played = with_real_cards(form, maps, strategy)
        self._begin = layout(form)[0]
        self._place = places(form.tree)

    def strategy(self, node: int, runout: int) -> FloatArray:
        return self._played(node, runout)

    def encoder(self, street: int, runouts: slice, rows: NDArray[Any]) -> Callable[[], None]:
        tree = self.form.tree
        nodes = np.flatnonzero((tree.kind == NodeKind.DECISION) & (tree.street == street)).tolist()

        def fill() -> None:
            for row, runout in zip(rows, range(runouts.start, runouts.stop), strict=True):
                for node in nodes:
                    kept = encode_shares(self._played(node, runout), 8 * rows.dtype.itemsize).ravel()
                    row[self._begin[node] : self._begin[node] + len(kept)] = kept

        return fill

    def values(self, player: int, node: int, runout: int) -> FloatArray:
        found = self._early[player][int(self.form.tree.street[node])][runout, self._place[node]]
        return np.asarray(found, dtype=np.float64)

    def all_values(self, player: int, street: int) -> NDArray[np.float32]:
        return self._early[player][street]

    def equities(self, player: int, node: int) -> FloatArray | None:
        return None

    @cached_property
    def _early(self) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        """Per player, for each street before the last, [runouts, nodes of the street, H]."""
        evaluator = StrategyEvaluator(self.form)
        first, second = (evaluator.values_before_last(player, self._played) for player in range(2))
        return first, second


def _form_of(form: PublicForm, maps: BucketMaps, buckets: tuple[tuple[int, ...], tuple[int, ...]]) -> BucketedForm:
    return bucketed_form(form, maps, buckets=buckets, count=1)


def _strategy(tables: BucketTables, snapshot: Snapshot, node: int) -> FloatArray:
    """[actions, K] average strategy at a node, from a snapshot."""
    sums = tables.layout.rows(snapshot.arrays[AVERAGES[int(tables.form.tree.player[node])]], node).astype(np.float64)
    total = sums.sum(axis=0)
    return np.where(total > 0, sums / np.where(total > 0, total, 1.0), 1.0 / len(sums))


def _read_counts(header: Fields, streets: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    given = header.value("buckets")
    shaped = isinstance(given, list) and len(given) == 2 and all(isinstance(each, list) for each in given)
    if not shaped or not all(
        len(each) == streets and all(type(count) is int and 0 < count < 2**31 for count in each) for each in given
    ):
        raise header.wrong("buckets", "is not a list of numbers of buckets per player and street")
    return tuple(given[0]), tuple(given[1])


def _read_maps(file: Container, form: PublicForm, buckets: tuple[tuple[int, ...], tuple[int, ...]]) -> BucketMaps:
    """The maps of a file, refused where they point beyond the tables."""
    found: list[tuple[NDArray[Any], ...]] = []
    for player in range(2):
        maps = []
        for number, street in enumerate(form.streets):
            name = f"bucket.{player}.{number}"
            file.check(name, (len(street.parent), len(form.hands[player].weight)), (np.int32,))
            map_ = file.array(name)
            if map_.size and not (int(map_.min()) >= 0 and int(map_.max()) < buckets[player][number]):
                raise InvalidFile(file.path, f"is damaged: {name} has buckets that do not exist")
            maps.append(map_)
        found.append(tuple(maps))
    return found[0], found[1]
