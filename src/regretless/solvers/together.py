"""Many solves on one CUDA device, in step.

Each solve is a generator (`loop.steps`) that asks to be advanced or evaluated. Those of a batch start together, so they
mostly ask for the same; a batch

1. evaluates all its spots if any of them asks for that, and answers those that did;
2. else advances all by the smallest number of iterations that any of them asks for;
3. retires those that have ended, and is built anew without them once they are half of it.

So every solve has its own target, history, checkpoints and interrupts, and the same numbers as alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from regretless.engines.contract import Evaluation
from regretless.engines.public.cuda.arena import Arena
from regretless.engines.public.cuda.batch import CudaBatch, kind_of
from regretless.engines.public.cuda.engine import CudaPublicEngine
from regretless.errors import RegretlessError
from regretless.solvers.loop import Wish
from regretless.solvers.solution import Solution
from regretless.solvers.solve import Started
from regretless.variants.variant import Schedule, Variant, schedule

__all__ = ["drive_together", "shared_schedule"]


def shared_schedule(variant: Variant, first: int, count: int) -> Schedule:
    """A schedule that all solves of a batch share, since most of them are always at the same iteration."""
    if not isinstance(variant, Hashable):
        return schedule(variant, first, count)
    return _shared(variant, first, count)


@lru_cache(maxsize=16)
def _shared(variant: Variant, first: int, count: int) -> Schedule:
    return schedule(variant, first, count)


@dataclass
class _Member:
    """A solve in a batch."""

    place: int
    started: Started
    wish: Wish = None
    over: bool = False

    @property
    def engine(self) -> CudaPublicEngine:
        engine = self.started.engine
        assert isinstance(engine, CudaPublicEngine)
        return engine


def drive_together(
    solves: Mapping[int, Started],
    arena: Arena,
    *,
    done: Callable[[int, Solution], None],
    failed: Callable[[int, RegretlessError], None],
) -> None:
    """Run solves whose engines are on one device to their ends; `done` and `failed` get their position."""

    def resume(member: _Member, answer: Evaluation | None) -> None:
        try:
            member.wish = member.started.steps.send(answer)
        except StopIteration as end:
            member.over = True
            done(member.place, end.value)
        except RegretlessError as error:
            member.over = True
            failed(member.place, error)

    members = [_Member(place, started) for place, started in solves.items()]
    for member in members:
        resume(member, None)
    while waiting := [member for member in members if not member.over]:
        groups: dict[Hashable, list[_Member]] = {}
        for member in waiting:
            if member.wish is not None:
                member.engine.get_ready(member.wish)
            groups.setdefault(kind_of(member.engine), []).append(member)
        for group in groups.values():
            try:
                _run(group, CudaBatch([member.engine for member in group], arena), resume)
            except RegretlessError as error:  # of the device; solves that have ended keep what they had
                for member in group:
                    if not member.over:
                        member.over = True
                        failed(member.place, error)


def _run(group: list[_Member], batch: CudaBatch, resume: Callable[[_Member, Evaluation | None], None]) -> None:
    """Run a batch until half of it has ended, or a solve needs other kernels."""
    retired: set[int] = set()
    while True:
        active = [number for number, member in enumerate(group) if not member.over]
        if 2 * len(active) <= len(group):
            return
        if ended := {number for number, member in enumerate(group) if member.over} - retired:
            batch.retire(ended)
            retired |= ended
        if any(group[number].wish is None for number in active):
            evaluations = batch.evaluate()
            for number in active:
                if group[number].wish is None:
                    resume(group[number], evaluations[number])
            continue
        wishes = {number: wish for number in active if (wish := group[number].wish) is not None}
        for number, wish in wishes.items():
            group[number].engine.get_ready(wish)
            if kind_of(group[number].engine) != batch.kind:
                return
        count = min(map(len, wishes.values()))
        cut = {id(wish): wish if len(wish) == count else wish[:count] for wish in wishes.values()}  # mostly one
        batch.advance([cut[id(wishes[number])] if number in wishes else None for number in range(len(group))])
        for number, wish in wishes.items():
            if len(wish) > count:
                group[number].wish = wish[count:]
            else:
                resume(group[number], None)
