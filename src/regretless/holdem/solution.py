"""The solution of a spot, and its `.rgl` file.

Besides the record and the spot's TOML, a file contains

    probabilities.S  [runouts, …]          of street S, node by node, in 32 bits or, for large spots, 16
                                           (the header's `probability_bits`), encoded by `engines.shares`
    values.P.S       [runouts, nodes, H]   of player P before the last street
    equity.P         [nodes, H]            on the first street, if two cards are to come
    form.…                                 runouts, copies and strengths, so that they need not be recomputed
    history          [points, 3]           iteration, seconds, exploitability

and, if it can be resumed, the regrets and averages as the engine stores them. A checkpoint has only these: its answers
are read from an engine that is restored when the first node is read. Values of the last street are not stored: they
follow from one runout's strategies. The row of a runout is read and checked when one of its nodes is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from regretless import engines
from regretless.engines import Snapshot
from regretless.errors import InvalidFile, InvalidOption, RegretlessError
from regretless.files.container import Container
from regretless.files.fields import Fields
from regretless.forms.public import BettingTree
from regretless.forms.tree_hash import tree_hash
from regretless.holdem.fitting import check_fits
from regretless.holdem.form.betting import betting_tree
from regretless.holdem.form.runouts import compile_spot
from regretless.holdem.head_to_head import seats_of_spots
from regretless.holdem.reading.nodes import NodeView, RunoutReport
from regretless.holdem.reading.spot_file import FileResults, packed_form, packed_results, unpacked_form
from regretless.holdem.reading.spot_reader import SpotReader
from regretless.holdem.reading.spot_results import EngineResults
from regretless.holdem.spots.locks import lock_text
from regretless.holdem.spots.spot import Spot, changed_fields
from regretless.holdem.spots.spot_fields import PlayerName
from regretless.holdem.verification import SpotVerification, verify_spot
from regretless.reprs import brief
from regretless.solving.game_solution import public_snapshot
from regretless.solving.head_to_head import HeadToHead
from regretless.solving.kinds import KINDS
from regretless.solving.record import Record, Settings
from regretless.solving.solution import Contents, Solution, restore_engine

__all__ = ["CHECKPOINT", "SpotSolution", "sampled_fields", "spot_and_tree"]

CHECKPOINT = KINDS["spot"].checkpoint  # the kind of files that hold only what a resume needs
MAX_SPOT_LENGTH = 2**23  # characters of TOML


@dataclass(frozen=True, kw_only=True)
class SpotSolution(Solution):
    """A solved spot, in the spot's chips.

    `node("check, bet 94, call, Th")` reads any node.
    """

    spot: Spot

    __repr__ = brief

    @cached_property
    def reader(self) -> SpotReader:
        """Reads nodes of the solution."""
        reader: SpotReader = self.make_reader()
        return reader

    @property
    def subject(self) -> Spot:
        return self.spot

    def check_same(self, spot: Spot | None) -> None:
        """Refuse to resume this as a solve of a spot that differs in more than its name."""
        if spot is not None and replace(spot, name=self.spot.name) != self.spot:
            reason = f"is a solve of a different spot from {spot.name or 'the one given'}"
            raise InvalidOption("resume", self.where, reason)

    @property
    def scale(self) -> float:
        return 100 / self.spot.pot

    @property
    def unit(self) -> str:
        return "in % of the pot"

    @property
    def exploitability_pct_pot(self) -> float:
        """Exploitability in percent of the starting pot."""
        return 100 * self.exploitability / self.spot.pot

    @property
    def ev(self) -> Mapping[PlayerName, float]:
        """Chips each player takes out of the hand, including the starting pot; they sum to the pot minus rake."""
        return {"oop": self.values[1], "ip": self.values[0]}

    @property
    def equity(self) -> Mapping[PlayerName, float]:
        """Share of the pot at showdown if nobody bet."""
        return {"oop": self.root.equity("oop"), "ip": self.root.equity("ip")}

    @property
    def probability_bits(self) -> int:
        """Bits per stored probability: in the file, or in memory after a solve."""
        return self.reader.results.probability_bits

    @cached_property
    def root(self) -> NodeView:
        """The first decision."""
        return self.node("")

    def node(self, line: str = "", cards: Sequence[int] = ()) -> NodeView:
        """Everything known where a line of play leads: "check, bet 94, call, Th".

        `cards` are those omitted from the line.
        """
        return self.reader.view(self.reader.find(line, cards))

    def runouts(self, line: str, *, then: str = "", cards: Sequence[int] = ()) -> RunoutReport:
        """Frequencies, EV and equity for each card that can come after a line: "check, check".

        `then` are actions after the card: "check" reports what the player in position does after a check.
        """
        return self.reader.runout_report(self.reader.find(line, cards), then)

    def against(self, other: Solution, **options: Any) -> HeadToHead:
        """Exact values against another solution of the same spot, each in both seats, in chips; locks may differ.

        Like EVs, they include what a player takes of the starting pot.
        """
        for option, value in options.items():
            raise InvalidOption(option, value, "is not for spots: every runout is evaluated")
        if not isinstance(other, SpotSolution):
            return super().against(other)
        changed = [field for field in changed_fields(self.spot, other.spot) if field != "locks"]
        if changed:
            reason = f"is a solve of a different spot from {self.where}: they differ in {', '.join(changed)}"
            raise InvalidFile(other.where, reason)
        return self.head_to_head(seats_of_spots(self.reader, other.reader))

    def verify(self, **options: Any) -> SpotVerification:
        """Recompute EVs and exploitability without merged suits, in float64; options as in `verify_spot`."""
        return verify_spot(self.record, self.reader, **options)

    def _repr_html_(self) -> str:
        """The solution in a notebook: figures and the first decision."""
        return super()._repr_html_() + self.root._repr_html_()

    def as_json(self, *, strategy: bool = False) -> dict[str, Any]:
        """The object that `regretless solve SPOT.toml --json` prints."""
        answer = super().as_json()
        root = self.root
        root_fields: dict[str, object] = {
            "player": root.player, "actions": list(root.actions), "frequencies": list(root.frequencies),
        }  # fmt: skip
        if strategy:
            root_fields["hands"] = {
                player: {row.pop("hand"): row for row in root.rows(player)} for player in ("oop", "ip")
            }
        return answer | {
            "exploitability_pct_pot": self.exploitability_pct_pot,
            "pot": self.spot.pot,
            "ev": dict(self.ev),
            "equity": dict(self.equity),
            "locks": [lock_text(lock) for lock in self.spot.locks],
            "root": root_fields,
            **sampled_fields(self.settings),
        }

    # --- files -------------------------------------------------------------------------------------------------------

    def _contents(self, resumable: bool) -> Contents:
        """Strategies in 32 bits, those of large spots in 16, encoded by `engines.shares`."""
        arrays = packed_form(self.reader.form) | packed_results(self.reader)
        header = self._fields() | {"probability_bits": 8 * arrays["probabilities.0"].dtype.itemsize}
        if resumable:
            assert self.snapshot is not None
            arrays |= self.snapshot.arrays
            header["weight"] = self.snapshot.weight
        return Contents(header, arrays)

    def _state(self) -> Contents:
        assert self.snapshot is not None
        return Contents(self._fields() | {"weight": self.snapshot.weight}, self.snapshot.arrays)

    def _fields(self) -> dict[str, Any]:
        return {"spot": self.spot.to_toml()}

    @classmethod
    def read(cls, file: Container) -> Self:
        """The solution in an opened file; strategies stay on disk until a node is read."""
        path = file.path
        header = Fields(path, file.header)
        spot, tree = spot_and_tree(header)
        record = Record.read(file, players=2)
        snapshot = public_snapshot(file, record.iterations)
        if snapshot is not None:
            settings = replace(record.settings, storage=file.bits("regret.0"))
            record = replace(record, settings=settings)

        def make_reader() -> SpotReader:
            if file.kind == CHECKPOINT:
                return _restored(spot, record, snapshot, path)
            form = unpacked_form(file, spot, tree)
            return SpotReader(spot, form, FileResults(file, form))

        return cls(record=record, snapshot=snapshot, path=path, spot=spot, make_reader=make_reader)


def sampled_fields(settings: Settings) -> dict[str, object]:
    """What `as_json` adds for a solve on sampled runouts."""
    return {} if settings.sample_runouts is None else {"sample_runouts": settings.sample_runouts}


def spot_and_tree(header: Fields) -> tuple[Spot, BettingTree]:
    """The spot of a file, and its betting tree."""
    try:
        spot = Spot.parse(header.text("spot", longest=MAX_SPOT_LENGTH), warn=False)
        tree = betting_tree(spot)
    except InvalidFile:
        raise
    except RegretlessError as error:
        raise InvalidFile(header.path, f"contains a spot that cannot be read: {error}") from None
    if tree_hash(tree) != header.text("tree_hash"):
        raise InvalidFile(header.path, "was written by another version, which built a different betting tree")
    return spot, tree


def _restored(spot: Spot, record: Record, snapshot: Snapshot | None, path: str | Path) -> SpotReader:
    """A reader of a checkpoint's solution so far."""
    if snapshot is None:
        raise InvalidFile(path, "is damaged: it contains no regrets")
    storage = record.settings.storage or 32
    check_fits(spot, storage=storage, predicts=snapshot.predicts, can_shrink=False)
    form = compile_spot(spot)
    engine = engines.create("auto", form, storage=storage, threads=1, predicts=snapshot.predicts)
    restore_engine(engine, snapshot, path)
    return SpotReader(spot, form, EngineResults(engine))
