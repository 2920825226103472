"""Games from the deal in the public form: what flop hold'em and no-limit hold'em on a set of flops have in common.

Every hand of both players has a strategy of its own on every board, or on one that stands for it. Values and
exploitability are in big blinds; targets, and exploitability as usually quoted, are in mbb/g. Besides the record, a
file contains

    average.P, regret.P, matched.P    what player P learned, in the engine's layout
    history                           [points, 3] iteration, seconds, exploitability

Nodes are read from the averages; what else was learned is only needed to resume the solve.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from regretless import engines
from regretless.engines import Snapshot, StoredStrategies, available_cores
from regretless.errors import Advice, InvalidFile, WouldNotFit
from regretless.files.container import Container, StoredArrays
from regretless.files.fields import Fields
from regretless.files.tensor_file import DAMAGED
from regretless.forms.memory import available_bytes
from regretless.forms.public import PublicForm
from regretless.forms.public_size import PublicSize
from regretless.holdem.estimate import STORAGES
from regretless.holdem.games.big_blinds import MILLI, UNIT, DealtSolution
from regretless.holdem.games.bucketed import AVERAGES, SavedTables
from regretless.holdem.games.reader import DealtFormReader
from regretless.reprs import brief
from regretless.solving.game_solution import LEARNED
from regretless.solving.problem import Request
from regretless.solving.public_problem import PublicFormProblem, count_nodes_and_sets
from regretless.solving.record import Record
from regretless.solving.solution import Contents

__all__ = ["DealtFormProblem", "DealtFormSolution", "saved_averages"]


@dataclass(frozen=True, kw_only=True)
class DealtFormSolution(SavedTables, DealtSolution):
    """A game from the deal, solved with real cards."""

    __repr__ = brief

    @cached_property
    def reader(self) -> DealtFormReader:
        """Finds nodes of the solution."""
        reader: DealtFormReader = self.make_reader()
        return reader

    def _contents(self, resumable: bool) -> Contents:
        assert self.snapshot is not None
        return Contents({"weight": self.snapshot.weight}, self.saved_tables(resumable))


def saved_averages(
    file: Container, record: Record, compiled: Callable[[], PublicForm]
) -> tuple[Snapshot, Callable[[], tuple[PublicForm, StoredStrategies]]]:
    """What a file holds of a solve, and a function that compiles the form and reads strategies from the averages."""
    for name in AVERAGES:
        if name not in file or file.entry(name).dtype not in (np.float32, np.uint16, np.float64):
            raise InvalidFile(file.path, f"is damaged: {name} is missing or has the wrong type")
    weight = Fields(file.path, file.header).number("weight", low=0.0)
    snapshot = Snapshot(record.iterations, StoredArrays(file, LEARNED), weight)

    def read() -> tuple[PublicForm, StoredStrategies]:
        form = compiled()
        try:
            return form, StoredStrategies(form, snapshot)
        except ValueError:
            raise InvalidFile(file.path, DAMAGED) from None

    return snapshot, read


class DealtFormProblem(PublicFormProblem):
    """A game from the deal, with real cards. Targets are in mbb/g."""

    unit = UNIT
    scale = MILLI

    @abstractmethod
    def dealt_size(self) -> PublicSize:
        """The size of the form."""

    @cached_property
    def _size(self) -> PublicSize:
        return self.dealt_size()

    def public_size(self) -> PublicSize:
        return self._size

    def if_too_large(self, threads: int) -> tuple[Advice, ...]:
        """What takes less memory, besides 16 bits."""
        return ()

    def check_fits(self, request: Request) -> None:
        if request.choice.on_gpu:
            self.check_fits_gpu(request)
            return
        storage, threads = request.settings.storage or STORAGES[0], request.threads or available_cores()
        options = {"storage": storage, "threads": threads, "predicts": request.predicts}
        needed = self.memory_bytes(**options, shards=request.shards)
        if needed > (free := available_bytes()):
            advice = self.if_too_large(threads)
            if storage == 32:
                advice = (Advice("storage", 16, "takes about half as much"), *advice)
            raise WouldNotFit(f"{self.name} in {storage} bits", needed=needed, available=free, advice=list(advice))

    def memory_bytes(self, *, shards: int | None = None, **options: Any) -> int:
        """Bytes of an engine on the CPU, with options as in `engines.estimate`; only some problems have shards."""
        return engines.estimate("numba", engines.FormKind.PUBLIC, self._size, **options) or 0

    def size(self, form: PublicForm) -> tuple[int, int]:
        return count_nodes_and_sets(form)
