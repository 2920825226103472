"""Spots in `.rgl` files: solutions that open at once, and checkpoints that a solve goes on from.

A solution holds, beside the spot's TOML and the figures of the solve,

    probabilities.S  [runouts, …]          of street S, node by node, in 32 bits or, of large spots, in 16:
                                           `probabilities` says how, and the header's `probability_bits` how many
    values.P.S       [runouts, nodes, H]   of player P before the last street
    equity.P         [nodes, H]            of the first street, where two cards are to come
    form.…                                 runouts, copies and strengths, so that nothing has to be worked out again

and with `resumable` the regrets and averages as the engine keeps them, which is all that a checkpoint holds. The last
street's values are not stored: they follow from one runout's strategies. A row of a runout is read, and checked, when
a node of it is asked for. Files of version 0.1.0 hold `strategy.S` instead of `probabilities.S`: probabilities of all
actions but the last, × 65535 in 16 bits.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regretless import __version__
from regretless.engines.contract import Snapshot
from regretless.errors import ApproximateFile, InvalidFile, RegretlessError
from regretless.forms.public import BettingTree
from regretless.holdem.form.betting import betting_tree
from regretless.holdem.reading.file_answers import FileAnswers, packed_answers
from regretless.holdem.reading.file_form import packed_form, unpacked_form
from regretless.holdem.reading.reading import SpotReader
from regretless.holdem.solution import CURVE_UNIT, SpotSolution, percent_of_pot
from regretless.holdem.spots.spot import Spot
from regretless.solvers.loop import Measurement
from regretless.solvers.solution import Settings
from regretless.storage.headers import CheckpointHeader, SpotHeader
from regretless.storage.mapped import Mapped, file_kind, open_mapped, write_mapped
from regretless.variants.presets import PRESETS

if TYPE_CHECKING:
    from regretless.engines.contract import PublicEngine

__all__ = ["Checkpoint", "load_checkpoint", "load_solution", "save_checkpoint", "save_solution", "tree_hash"]

SOLUTION, CHECKPOINT = "spot-solution", "spot-checkpoint"
_COPIED = (
    "game", "variant", "engine", "device", "threads", "iterations", "reason", "seconds", "setup_seconds",
    "seconds_per_iteration", "memory_bytes", "nodes", "information_sets", "tree_hash",
)  # fmt: skip


def save_solution(solution: SpotSolution, path: str | Path, *, resumable: bool = False) -> None:
    """Write a solved spot; with `resumable`, what `resume_spot` needs too."""
    from regretless.holdem.reading.engine_answers import EngineAnswers

    answers = solution.reader.answers
    header = {name: getattr(solution, name) for name in _COPIED} | {
        "written_by": __version__,
        "rule": repr(PRESETS[solution.variant]) if solution.variant in PRESETS else solution.variant,
        "exploitability": solution.exploitability,
        "spot": solution.spot.to_toml(),
        "settings": asdict(solution.settings),
        "values": solution.evaluation.values,
        "best_response_values": solution.evaluation.best_response_values,
        "history": _points(solution.history),
        "symmetric": not isinstance(answers, FileAnswers) or answers.mapped.header.get("symmetric") is True,
    }
    arrays = packed_form(solution.reader.form) | packed_answers(solution.reader)
    header["probability_bits"] = 8 * arrays["probabilities.0"].dtype.itemsize
    if resumable:
        if not isinstance(answers, EngineAnswers):
            raise InvalidFile(
                path, "cannot be made resumable: the regrets of a solve that was read from a file are gone"
            )
        arrays |= answers.engine.snapshot(copy=False).arrays
        header["weight"] = answers.engine.snapshot(copy=False).weight
    write_mapped(path, SOLUTION, header, arrays)


def load_solution(path: str | Path) -> SpotSolution:
    """Open a solved spot; nothing is read but its header and its form."""
    if file_kind(path) == CHECKPOINT:
        raise InvalidFile(path, f"is a solve that was interrupted: regretless solve --resume {path}")
    mapped = open_mapped(path, SOLUTION)
    header = SpotHeader.read(path, mapped.header)
    spot, tree = _spot_and_tree(path, header.spot, header.tree_hash)
    form = unpacked_form(mapped, spot, tree)
    reader = SpotReader(spot, form, FileAnswers(mapped, form))
    if not header.symmetric and len(form.permutations[0]) > 1:
        message = (
            f"{path} was written by an older version, in which hands drifted apart where suits merge: its "
            f"exploitability may be too low; 'regretless verify {path}' recomputes it"
        )
        warnings.warn(ApproximateFile(message), stacklevel=2)
    from regretless.holdem.solve import root_strategy

    return SpotSolution(
        **header.common,
        history=header.history,
        snapshot=None,
        read_strategy=lambda: root_strategy(reader),
        spot=spot,
        reader=reader,
    )


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A solve that was interrupted."""

    spot: Spot
    header: CheckpointHeader
    mapped: Mapped

    @property
    def variant(self) -> str:
        return self.header.variant

    @property
    def settings(self) -> Settings:
        return self.header.settings

    @property
    def history(self) -> tuple[Measurement, ...]:
        return self.header.history

    @property
    def game(self) -> str:
        return self.spot.name or "spot"

    @property
    def engine(self) -> str:
        return "numba"

    @property
    def curve(self) -> tuple[Measurement, ...]:
        """How exploitability fell, in percent of the starting pot."""
        return percent_of_pot(self.history, self.spot)

    @property
    def curve_unit(self) -> str:
        return CURVE_UNIT

    @property
    def seconds(self) -> float:
        return self.header.seconds

    @property
    def storage(self) -> int:
        """Bits of a regret."""
        return self.mapped.bits("regret.0")

    def restore(self, engine: PublicEngine) -> None:
        """Put what was learned back into an engine of the same spot, whose arrays are read into: nothing is copied."""
        if self.header.weight is None and self.storage == 16:
            raise InvalidFile(self.mapped.path, "does not say how much its averages weigh")
        try:
            engine.restore(Snapshot(self.header.iterations, _StoredArrays(self.mapped), self.header.weight or 0.0))
        except ValueError:
            raise InvalidFile(self.mapped.path, "was written by another version with an incompatible layout") from None


class _StoredArrays(Mapping[str, NDArray[Any]]):
    """Regrets and averages in a file, read straight into the engine's arrays."""

    def __init__(self, mapped: Mapped) -> None:
        self.mapped = mapped
        self.names = [f"{name}.{player}" for name in ("regret", "average", "matched") for player in range(2)]

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.mapped.array(name)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.names if name in self.mapped)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in self.names and name in self.mapped

    def read_into(self, name: str, target: NDArray[Any]) -> None:
        self.mapped.read_into(name, target)
        if not np.isfinite(target).all():
            raise InvalidFile(self.mapped.path, "is damaged: it holds regrets or averages that are not numbers")


def save_checkpoint(
    path: str | Path,
    spot: Spot,
    variant: str,
    settings: Settings,
    engine: PublicEngine,
    history: tuple[Measurement, ...],
    seconds: float,
) -> None:
    """Write where a solve stands."""
    header = {
        "written_by": __version__,
        "spot": spot.to_toml(),
        "tree_hash": tree_hash(engine.form.tree),
        "variant": variant,
        "settings": asdict(settings),
        "iterations": engine.iteration,
        "history": _points(history),
        "seconds": seconds,
        "weight": engine.snapshot(copy=False).weight,
    }
    write_mapped(path, CHECKPOINT, header, engine.snapshot(copy=False).arrays)


def load_checkpoint(path: str | Path) -> Checkpoint:
    """Open a checkpoint, or a solution that was saved as resumable."""
    kind = file_kind(path)
    mapped = open_mapped(path, kind if kind in (SOLUTION, CHECKPOINT) else CHECKPOINT)
    if "regret.0" not in mapped:
        raise InvalidFile(
            path, "holds a finished solve without its regrets, nothing to go on from: --keep-regrets saves them"
        )
    header = CheckpointHeader.read(path, mapped.header)
    spot, _ = _spot_and_tree(path, header.spot, header.tree_hash)
    return Checkpoint(spot=spot, header=header, mapped=mapped)


def _points(history: tuple[Measurement, ...]) -> list[list[Any]]:
    return [[point.iteration, point.seconds, point.exploitability] for point in history]


def tree_hash(tree: BettingTree) -> str:
    """Of a betting tree: two trees with the same one number their nodes alike."""
    digest = hashlib.sha256()
    for array in (tree.kind, tree.player, tree.street, tree.first_child, tree.paid):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _spot_and_tree(path: str | Path, text: str, expected_hash: str) -> tuple[Spot, BettingTree]:
    """The spot that a file was solved for, and its betting tree."""
    try:
        spot = Spot.parse(text, warn=False)
        tree = betting_tree(spot)
    except RegretlessError as error:
        raise InvalidFile(path, f"holds a spot that cannot be read: {error}") from None
    if tree_hash(tree) != expected_hash:
        raise InvalidFile(path, "was written by another version, which built a different betting tree")
    return spot, tree
