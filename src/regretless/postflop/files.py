"""Spots in `.rgl` files: solutions that open at once, and checkpoints that a solve goes on from.

A solution holds, beside the spot's TOML and the figures of the solve,

    strategy.S       [runouts, …] uint16   of street S, node by node: probabilities × 65535 of all actions but the last
    values.P.S       [runouts, nodes, H]   of player P before the last street
    equity.P         [nodes, H]            of the first street, where two cards are to come
    form.…                                 runouts, copies and strengths, so that nothing has to be worked out again

and with `resumable` the regrets and averages as the engine keeps them, which is all that a checkpoint holds. The last street's
values are not stored: they follow from one runout's strategies. A row of a runout is read, and checked, when a node of it
is asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regretless.engines.engine import Evaluation
from regretless.errors import InvalidFile
from regretless.forms.public import BettingTree
from regretless.postflop.betting import betting_tree
from regretless.postflop.file_answers import FileAnswers, packed_answers, packed_form, unpacked_form
from regretless.postflop.reading import SpotReader
from regretless.postflop.solution import SpotSolution
from regretless.postflop.spot import Spot
from regretless.solvers.loop import Measurement
from regretless.storage.container import Container, open_container, write_container

if TYPE_CHECKING:
    from regretless.engines.public_engine import PublicEngine
    from regretless.postflop.solve import Job

__all__ = ["Checkpoint", "load_checkpoint", "load_solution", "save_checkpoint", "save_solution"]

SOLUTION, CHECKPOINT = "spot-solution", "spot-checkpoint"
_COPIED = (
    "game", "variant", "engine", "device", "threads", "iterations", "reason", "seconds", "setup_seconds",
    "seconds_per_iteration", "memory_bytes", "nodes", "information_sets",
)  # fmt: skip


def save_solution(solution: SpotSolution, path: str | Path, *, resumable: bool = False) -> None:
    """Write a solved spot; with `resumable`, what `resume_spot` needs too."""
    from regretless.postflop.engine_answers import EngineAnswers

    answers = solution.reader.answers
    header = {name: getattr(solution, name) for name in _COPIED} | {
        "kind": SOLUTION,
        "spot": solution.spot.to_toml(),
        "tree": _fingerprint(solution.reader.form.tree),
        "values": solution.evaluation.values,
        "best_response_values": solution.evaluation.best_response_values,
        "history": _points(solution.history),
    }
    arrays = packed_form(solution.reader.form) | packed_answers(solution.reader)
    if resumable:
        if not isinstance(answers, EngineAnswers):
            raise InvalidFile(path, "cannot be made resumable: the regrets of a solve that was read from a file are gone")
        header["resume"] = {"target": None, "iterations": solution.iterations, "measure_every": None, "storage": 32}
        arrays |= _learned(answers.engine)
    write_container(path, header, arrays)


def load_solution(path: str | Path) -> SpotSolution:
    """Open a solved spot; nothing is read but its header and its form."""
    container = open_container(path)
    header = container.header
    if header.get("kind") == CHECKPOINT:
        raise InvalidFile(path, f"is a solve that was interrupted: regretless solve --resume {path}")
    if header.get("kind") != SOLUTION:
        raise InvalidFile(path, "is not a solved spot")
    spot = Spot.parse(header["spot"])
    tree = _same_tree(container, spot)
    reader = SpotReader(spot, form := unpacked_form(container, spot, tree), FileAnswers(container, form))
    from regretless.postflop.solve import root_strategy

    return SpotSolution(
        **{name: header[name] for name in _COPIED},
        evaluation=Evaluation(tuple(header["values"]), tuple(header["best_response_values"])),
        history=tuple(Measurement(*point) for point in header["history"]),
        snapshot=None,
        read_strategy=lambda: root_strategy(reader),
        spot=spot,
        reader=reader,
    )


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A solve that was interrupted."""

    spot: Spot
    variant: str
    storage: int
    target: float | None  # percent of the pot
    iterations: int | None
    measure_every: int | None
    history: tuple[Measurement, ...]
    seconds: float
    container: Container

    def restore(self, engine: PublicEngine) -> None:
        """Put what was learned back into an engine of the same spot."""
        from regretless.engines.public_engine import PublicSnapshot

        def pair(name: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
            return self.container.array(f"{name}.0"), self.container.array(f"{name}.1")

        matched = pair("matched") if "matched.0" in self.container else None
        done = int(self.container.header["iterations"])
        try:
            engine.restore(PublicSnapshot(done, pair("regret"), pair("average"), matched))
        except ValueError:
            raise InvalidFile(self.container.path, "was saved by another version, whose numbers lie elsewhere") from None


def save_checkpoint(
    job: Job, engine: PublicEngine, history: tuple[Measurement, ...], seconds: float, path: str | Path
) -> None:
    """Write where a solve stands."""
    header = {
        "kind": CHECKPOINT,
        "spot": job.spot.to_toml(),
        "tree": _fingerprint(engine.form.tree),
        "variant": job.variant,
        "iterations": engine.iteration,
        "history": _points(history),
        "seconds": seconds,
        "resume": {
            "target": job.target,
            "iterations": job.iterations,
            "measure_every": job.measure_every,
            "storage": job.storage,
        },
    }
    write_container(path, header, _learned(engine))


def load_checkpoint(path: str | Path) -> Checkpoint:
    """Open a checkpoint, or a solution that was saved as resumable."""
    container = open_container(path)
    header = container.header
    if header.get("kind") not in (SOLUTION, CHECKPOINT):
        raise InvalidFile(path, "is not a spot")
    if "resume" not in header:
        raise InvalidFile(path, "holds a finished solve without its regrets: nothing to go on from")
    spot = Spot.parse(header["spot"])
    _same_tree(container, spot)
    return Checkpoint(
        spot=spot,
        variant=header["variant"],
        history=tuple(Measurement(*point) for point in header["history"]),
        seconds=header["seconds"],
        container=container,
        **header["resume"],
    )


def _learned(engine: PublicEngine) -> Mapping[str, NDArray[np.float32]]:
    snapshot = engine.snapshot()
    arrays = {f"regret.{player}": snapshot.regret[player] for player in range(2)}
    arrays |= {f"average.{player}": snapshot.average[player] for player in range(2)}
    if snapshot.matched is not None:
        arrays |= {f"matched.{player}": snapshot.matched[player] for player in range(2)}
    return arrays


def _points(history: tuple[Measurement, ...]) -> list[list[Any]]:
    return [[point.iteration, point.seconds, point.exploitability] for point in history]


def _fingerprint(tree: BettingTree) -> str:
    """Of a betting tree: two trees with the same one number their nodes alike."""
    digest = hashlib.sha256()
    for array in (tree.kind, tree.player, tree.street, tree.first_child, tree.paid):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _same_tree(container: Container, spot: Spot) -> BettingTree:
    tree = betting_tree(spot)
    if _fingerprint(tree) != container.header.get("tree"):
        raise InvalidFile(container.path, "was solved on another betting tree, by another version")
    return tree
