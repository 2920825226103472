"""Shards of a game from the deal as actors of a Ray cluster, each on a node with free cores and memory.

The trunk stays with the driver, and so do the files of what was learned: shards send and get their rows through Ray's
object store. If the process or node of a shard is lost, another one starts where Ray finds room.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any, TypeVar, cast

from regretless.cluster.local import PROCESS_BYTES
from regretless.cluster.on_ray import connect
from regretless.engines import PartRows, PublicEngine, Shard, ShardLost, ShardWalk, Shelf
from regretless.errors import Advice, InvalidOption, RegretlessError, WouldNotFit
from regretless.forms.history import AnyArray, FloatArray
from regretless.forms.public import PublicForm
from regretless.holdem.games.real_cards import RealCardsProblem, part_bytes
from regretless.holdem.games.shard_process import create_shard
from regretless.holdem.games.shards import ShardTask, start_sharded
from regretless.solving.problem import Request

__all__ = ["RayShard", "shards_on_ray"]

Result = TypeVar("Result")
Create = Callable[[PublicForm, Request], PublicEngine]


@contextmanager
def shards_on_ray(address: str) -> Iterator[Create]:
    """Creates the engine of a request in shards on the cluster, as `solving.solve` needs it."""
    ray, redirected = connect(address)

    def create(form: PublicForm, request: Request) -> PublicEngine:
        problem, shards = request.problem, request.shards
        assert isinstance(problem, RealCardsProblem)
        assert shards is not None
        if request.choice.on_gpu:
            raise InvalidOption("device", request.device, "cannot be combined with ray: its shards run on CPUs")
        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        cores, memory = ([int(node.get(name, 0)) for node in nodes] for name in ("CPU", "memory"))
        task = replace(problem.shard_task(request), threads=request.threads or sum(cores))
        sizes = part_bytes(
            problem.game,
            problem.flops,
            shards,
            threads=task.threads,
            storage=task.storage or 32,
            predicts=task.predicts,
        )[1:]
        if max(sizes) + PROCESS_BYTES > max(memory):
            advice = [Advice("shards", None, "can be set higher, so that each is smaller")]
            what = f"a shard of {problem.name}"
            raise WouldNotFit(what, needed=max(sizes), available=max(0, max(memory) - PROCESS_BYTES), advice=advice)

        def start(of_shard: ShardTask, part: PublicForm) -> Shard:
            threads = max(1, min(of_shard.threads, max(cores)))  # a shard is on one node
            return RayShard(ray, replace(of_shard, threads=threads), part, memory=sizes[of_shard.number])

        return cast("PublicEngine", start_sharded(form, task, shards, start))

    try:
        yield create
    finally:
        ray.shutdown()
        redirected.close()


class _Actor:
    """The process of a shard."""

    def __init__(self, task: str) -> None:
        self._shard = create_shard(ShardTask(**json.loads(task)))

    def memory_bytes(self) -> int:
        return self._shard.engine.memory_bytes

    def walk(self, walk: ShardWalk) -> FloatArray:
        return self._shard.walk(walk)

    def learned(self, name: str) -> list[AnyArray]:
        return self._shard.learned(name)

    def resume(self, iteration: int, weight: float, learned: Mapping[str, list[AnyArray]]) -> None:
        self._shard.resume(iteration, weight, learned)


class RayShard:
    """A shard in an actor."""

    def __init__(self, ray: Any, task: ShardTask, part: PublicForm, *, memory: int) -> None:
        self._ray, self._rows = ray, PartRows(part)
        options = {"num_cpus": task.threads, "memory": PROCESS_BYTES + memory, "max_restarts": 0}
        self._actor = ray.remote(_Actor).options(**options).remote(json.dumps(asdict(task)))

    def memory_bytes(self) -> Callable[[], int]:
        return self._result(self._actor.memory_bytes.remote())

    def walk(self, walk: ShardWalk) -> Callable[[], FloatArray]:
        return self._result(self._actor.walk.remote(walk))

    def save(self, shelf: Shelf) -> Callable[[], None]:
        def wait() -> None:
            for name, whole in shelf.arrays().items():  # one after another: the object store may be small
                learned = self._result(self._actor.learned.remote(name))()
                for rows, given in zip(self._rows.of_whole(whole, name), learned, strict=True):
                    rows[:] = given

        return wait

    def load(self, shelf: Shelf) -> Callable[[], None]:
        learned = {name: self._rows.of_whole(whole, name) for name, whole in shelf.arrays().items()}
        return self._result(self._actor.resume.remote(shelf.iteration, shelf.weight, learned))

    def close(self) -> None:
        if self._ray.is_initialized():
            self._ray.kill(self._actor)

    def _result(self, reference: Any) -> Callable[[], Any]:
        def wait() -> Any:
            try:
                return self._ray.get(reference)
            except self._ray.exceptions.RayTaskError as error:
                if isinstance(error.cause, RegretlessError):
                    raise error.cause from None
                raise RegretlessError(f"a shard failed: {error.cause}") from None
            except self._ray.exceptions.RayError as error:
                raise ShardLost(f"was lost: {type(error).__name__}") from None

        return wait
