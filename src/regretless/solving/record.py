"""The record of a solve, which every solution holds and every file begins with."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from regretless.engines import NUMBER_FORMATS, Evaluation, Sampling, Updates
from regretless.errors import InvalidFile, RegretlessError
from regretless.files.container import Container
from regretless.files.fields import MAX_COUNT, Fields
from regretless.reprs import brief

__all__ = ["FORMS", "Measurement", "Reason", "Record", "Settings"]

Reason = Literal["iterations", "target", "interrupted", "exact"]
FORMS = ("history", "public")
MAX_ERROR = 1e-3  # of the largest value, at least 1: how far rounding may put a best response below a value
_STORAGES = (64, *NUMBER_FORMATS)  # bits per stored number; 64 in the reference


@dataclass(frozen=True)
class Measurement:
    """One point of a convergence curve."""

    iteration: int
    seconds: float  # since the solve began, including measurements
    exploitability: float


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a solve that a resume needs."""

    iterations: int  # at which it should end
    target: float | None = None  # exploitability at which it should end earlier, in the game's units
    measure_every: int | None = None  # iterations; None: as `Stop.next_measurement` says
    updates: str = "alternating"
    sampling: str = "full"
    batch_size: int | None = None
    seed: int = 0
    storage: int | None = None  # bits per stored number, if there is a choice
    form: str = "history"  # the compiled form: "history" or "public"
    buckets: str | None = None  # of a spot, as users type them
    sample_runouts: int | None = None  # drawn per iteration
    flops: str | None = None  # of hold'em from the deal, as users type them

    @classmethod
    def read(cls, header: Fields) -> Settings:
        """The settings in the header of a file."""
        table = Fields(header.path, header.value("settings"), "settings")

        def count(name: str) -> int | None:
            return table.whole(name, low=1) if table.value(name) is not None else None

        return cls(
            iterations=table.whole("iterations", low=1),
            target=table.number("target", low=0.0) if table.value("target") is not None else None,
            measure_every=count("measure_every"),
            updates=table.one_of("updates", tuple(Updates)),
            sampling=table.one_of("sampling", tuple(Sampling)),
            batch_size=count("batch_size"),
            seed=table.whole("seed", low=-MAX_COUNT),
            storage=table.whole("storage", low=min(_STORAGES), high=max(_STORAGES)) if "storage" in table else None,
            form=table.one_of("form", FORMS),
            buckets=table.text("buckets") if "buckets" in table else None,
            sample_runouts=count("sample_runouts") if "sample_runouts" in table else None,
            flops=table.text("flops") if "flops" in table else None,
        )


@dataclass(frozen=True, kw_only=True)
class Record:
    """What was solved, how, for how long, and how exploitable the result is."""

    game: str  # as users type it, or the name of a spot
    variant: str
    engine: str
    device: str
    threads: int
    iterations: int  # done, including those before a resume
    evaluation: Evaluation | None  # None if it was not computed
    reason: Reason  # why the solve ended
    history: tuple[Measurement, ...] = field(repr=False)
    seconds: float  # solving, including measurements
    setup_seconds: float  # compiling the game and the engine
    seconds_per_iteration: float  # without measurements
    memory_bytes: int
    nodes: int
    information_sets: int
    settings: Settings = field(repr=False)
    tree_hash: str = field(repr=False)  # of the compiled game that the snapshot fits

    __repr__ = brief

    def header(self) -> dict[str, object]:
        """The record as the beginning of a file's header; the history is an array (`points`)."""
        plain = {name: getattr(self, name) for name in _PLAIN} | {"settings": asdict(self.settings)}
        if self.evaluation is None:
            return plain
        return plain | {
            "values": list(self.evaluation.values),
            "best_response_values": list(self.evaluation.best_response_values),
            "exploitability": self.evaluation.exploitability,
        }

    @property
    def measured(self) -> Evaluation:
        """The evaluation of the result; raises `RegretlessError` if it was not computed."""
        if self.evaluation is None:
            raise RegretlessError(f"{self.game}: its exploitability was not computed: only exact figures are stated")
        return self.evaluation

    def points(self) -> NDArray[np.float64]:
        """[points, 3] the history as an array: iteration, seconds, exploitability."""
        rows = [(point.iteration, point.seconds, point.exploitability) for point in self.history]
        return np.array(rows, np.float64).reshape(-1, 3)

    @classmethod
    def read(cls, file: Container, *, players: int | None = None) -> Record:
        """The record of a file; `players` if the kind of file fixes their number."""
        header = Fields(file.path, file.header)
        evaluation = None
        if "values" in header:
            values = header.numbers("values", count=players)
            evaluation = Evaluation(values, header.numbers("best_response_values", count=len(values)))
            if evaluation.nash_conv < -MAX_ERROR * max(1.0, *map(abs, values)):
                raise header.wrong("best_response_values", "are below the values, which no best response is")
            if "exploitability" in header:  # which a list of files shows without reading further
                stated = header.number("exploitability")
                if not math.isclose(stated, evaluation.exploitability, rel_tol=1e-9, abs_tol=1e-12):
                    raise header.wrong("exploitability", "is not what values and best_response_values give")
        texts = {name: header.text(name) for name in ("game", "variant", "engine", "device", "tree_hash")}
        counts = {name: header.whole(name) for name in ("iterations", "memory_bytes", "nodes", "information_sets")}
        times = {name: header.number(name, low=0.0) for name in ("seconds", "setup_seconds", "seconds_per_iteration")}
        plain: dict[str, Any] = {**texts, **counts, **times}
        return cls(
            **plain,
            threads=header.whole("threads", low=1, high=2**20),
            reason=cast(Reason, header.one_of("reason", get_args(Reason))),
            evaluation=evaluation,
            settings=Settings.read(header),
            history=_history(file),
        )


_PLAIN = tuple(each.name for each in fields(Record) if each.name not in ("evaluation", "history", "settings"))


def _history(file: Container) -> tuple[Measurement, ...]:
    """The convergence curve of a file."""
    file.check("history", (*file.entry("history").shape[:1], 3), (np.float64,))
    rows = file.array("history")
    if not np.isfinite(rows).all():
        raise InvalidFile(file.path, "is damaged: history is out of range")
    points = tuple(Measurement(int(iteration), seconds, value) for iteration, seconds, value in rows.tolist())
    iterations = [0, *(point.iteration for point in points)]
    if iterations != sorted(iterations) or any(point.seconds < 0 for point in points):
        raise InvalidFile(file.path, "is damaged: history is not in order")
    return points
