"""Shards of a game from the deal, in processes of their own on this machine, as their supervisor sees them.

The supervisor writes a task as one line of JSON, and then orders. The process answers each in turn:

    {"order": "memory"}    {"bytes": …}
    {"order": "walk", …}   {"shape": …}, when the sums are in the shard's file; the reach that arrives is in the other
    {"order": "save", …}   {}, when what was learned is in the files of a shelf
    {"order": "load", …}   {}, when what was learned was read from them

or with {"error": …}, one sentence. `shard_process.py` is the other side. Arrays are exchanged in files of one folder,
which is removed at the end; if the supervisor has died, the processes remove it, or whoever writes beside it next.
"""

from __future__ import annotations

import json
import queue
import tempfile
import weakref
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from regretless import engines
from regretless.engines import PartEngine, Shard, ShardedEngine, ShardLost, ShardWalk, Shelf, shard_ranges
from regretless.errors import InvalidFile, RegretlessError
from regretless.files.atomic import create_temporary_folder, reason
from regretless.forms.history import FloatArray
from regretless.forms.parts import part_of
from regretless.forms.public import PublicForm
from regretless.supervision import Message, WorkerProcess

__all__ = ["MODULE", "ShardProcess", "ShardTask", "shard_devices", "start_sharded"]

MODULE = "regretless.holdem.games.shard_process"
CLOSING_SECONDS = 5.0

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class ShardTask:
    """Which flops a shard has, and the engine that it works with."""

    game: str  # TOML
    flops: str
    first: int = 0  # of the shard's flops, in the order of the form
    last: int = 0
    number: int = 0
    folder: str
    engine: str
    device: str = "cpu"
    threads: int  # on a CPU
    storage: int | None
    predicts: bool

    def create(self, part: PublicForm) -> PartEngine:
        """The engine of a part."""
        threads = self.threads if self.device == "cpu" else None
        options = {"device": self.device, "threads": threads, "storage": self.storage, "predicts": self.predicts}
        return engines.create_part(self.engine, part, **options)

    @property
    def arriving(self) -> Path:
        """The file of the reach that arrives."""
        return Path(self.folder) / f"arriving.{self.number}"

    @property
    def sums(self) -> Path:
        """The file of the shard's sums."""
        return Path(self.folder) / f"sums.{self.number}"


def start_sharded(
    form: PublicForm,
    task: ShardTask,
    shards: int,
    start: Callable[[ShardTask, PublicForm], Shard] | None = None,
) -> ShardedEngine:
    """An engine on the form with a number of shards; the task has what they have in common.

    `start` starts a shard, by default in a process of this machine, given its task and its part of the form.
    """
    flops = len(form.streets[1].parent)
    placed = shard_devices(task.device, shards)
    tasks = [
        replace(task, number=number, first=first, last=last, threads=max(1, task.threads // shards), device=device)
        for number, ((first, last), device) in enumerate(zip(shard_ranges(flops, shards), placed, strict=True))
    ]
    trunk = replace(task, threads=1).create(part_of(form, 0, 0))
    folder, unlock = create_temporary_folder(task.folder, "shards")

    def start_shard(number: int) -> Shard:
        shard_task = replace(tasks[number], folder=str(folder))
        if start is None:
            return ShardProcess(shard_task)
        return start(shard_task, part_of(form, shard_task.first, shard_task.last))

    threads = sum(each.threads for each in tasks) if task.device == "cpu" else trunk.threads
    try:
        engine = ShardedEngine(form, trunk, start_shard, shards, threads=threads, folder=folder)
    except BaseException:
        unlock()
        raise
    weakref.finalize(engine, unlock)
    return engine


def shard_devices(device: str, shards: int) -> list[str]:
    """The device of each shard: of "cuda", the devices of this machine in turn; "cuda:1" is one of them.

    >>> shard_devices("cuda:1", 2)
    ['cuda:1', 'cuda:1']
    """
    count = engines.cuda_devices() if device == "cuda" else 1
    return [f"cuda:{number % count}" if count > 1 else device for number in range(shards)]


class ShardProcess:
    """A shard in a process."""

    def __init__(self, task: ShardTask) -> None:
        self._task = task
        self._messages: queue.SimpleQueue[Message | str] = queue.SimpleQueue()
        log = tempfile.TemporaryFile()  # noqa: SIM115  closed when the process has ended
        self._process = WorkerProcess(MODULE, log, self._messages.put, self._messages.put)
        self._process.send(json.dumps(asdict(task)))

    @property
    def pid(self) -> int:
        return self._process.pid

    def memory_bytes(self) -> Callable[[], int]:
        return self._order({"order": "memory"}, lambda answer: int(answer["bytes"]))

    def walk(self, walk: ShardWalk) -> Callable[[], FloatArray]:
        arriving = walk.arriving
        try:
            with open(self._task.arriving, "wb") as file:
                file.writelines(np.ascontiguousarray(array).tobytes() for array in (arriving.opponent, arriving.own))
        except OSError as error:
            raise InvalidFile(self._task.arriving, f"cannot be written: {reason(error)}") from None
        order = {
            "order": "walk",
            "own": walk.own,
            "mode": walk.mode.name,
            "row": None if walk.schedule is None else walk.schedule.tolist()[0],
            "shapes": [arriving.opponent.shape, arriving.own.shape],
            "dtype": arriving.opponent.dtype.str,
        }
        return self._order(order, self._sums)

    def _sums(self, answer: Message) -> FloatArray:
        return np.fromfile(self._task.sums, dtype=np.float64).reshape(answer["shape"])

    def save(self, shelf: Shelf) -> Callable[[], None]:
        return self._order({"order": "save"} | _fields(shelf), lambda answer: None)

    def load(self, shelf: Shelf) -> Callable[[], None]:
        return self._order({"order": "load"} | _fields(shelf), lambda answer: None)

    def close(self) -> None:
        self._process.kill()
        self._process.wait(CLOSING_SECONDS)

    def _order(self, order: dict[str, Any], read: Callable[[Message], Result]) -> Callable[[], Result]:
        """Send an order; returns a function that waits for the answer and reads it."""
        self._process.send(json.dumps(order))

        def wait() -> Result:
            answer = self._messages.get()
            if isinstance(answer, str):
                self._messages.put(answer)  # also the answer to any other order
                raise ShardLost(answer)
            if "error" in answer:
                raise RegretlessError(answer["error"])
            return read(answer)

        return wait


def _fields(shelf: Shelf) -> dict[str, Any]:
    return {**vars(shelf), "folder": str(shelf.folder)}
