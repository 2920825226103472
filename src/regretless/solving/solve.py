"""The path from a request to a solution: compile, create an engine, run the loop, read the solution."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any

from regretless.engines import Engine, Snapshot
from regretless.errors import InvalidFile
from regretless.files.container import shape_of
from regretless.solving.loop import Checkpoints, Outcome, Progress, Reply, Step, drive, steps
from regretless.solving.options import SolveOptions
from regretless.solving.problem import AnyProblem, Request
from regretless.solving.readable.linear_program import ExactEngine
from regretless.solving.record import Record
from regretless.solving.request import make_request
from regretless.solving.solution import Solution, restore_engine
from regretless.variants.variant import Schedule, Variant, schedule

__all__ = ["Hooks", "Recorder", "Started", "solve", "solve_problem", "start"]


def _warn(error: InvalidFile | None) -> None:
    if error is not None:
        warnings.warn(str(error), stacklevel=2)


@dataclass(frozen=True, kw_only=True)
class Hooks:
    """What a solve tells its caller while it runs, and asks of it."""

    report: Callable[[Progress], None] | None = None
    interrupted: Callable[[], bool] = lambda: False  # whether to stop early
    checkpointed: Callable[[InvalidFile | None], None] = _warn  # called after each checkpoint with None or the error

    @classmethod
    def of(cls, options: SolveOptions) -> Hooks:
        """Those that the options give."""
        return cls(
            report=options.report,
            interrupted=options.interrupted or cls.interrupted,
            checkpointed=options.checkpointed or _warn,
        )


NO_HOOKS = Hooks()


@dataclass(frozen=True)
class Started:
    """A solve that is ready for its first iteration."""

    engine: Any  # an engine of the problem's form
    request: Request
    steps: Generator[Step, Reply, Solution]  # as in `loop.steps`; ends with the solution


def solve_problem(problem: AnyProblem, options: SolveOptions) -> Solution:
    """Check the options of a problem, and solve it."""
    return solve(make_request(problem, options), Hooks.of(options))


def solve(
    request: Request, hooks: Hooks = NO_HOOKS, *, create: Callable[[Any, Request], Any] | None = None
) -> Solution:
    """Carry out a request; `create` as in `start`.

    A resumed solve takes its settings from the earlier one and, with the same settings, ends with exactly the numbers
    of a solve that was never stopped.
    """
    started = start(request, hooks, create=create)
    return drive(started.engine, started.steps)


def start(
    request: Request,
    hooks: Hooks = NO_HOOKS,
    *,
    create: Callable[[Any, Request], Any] | None = None,
    weigh: Callable[[Variant, int, int], Schedule] = schedule,
) -> Started:
    """Compile the problem of a request and create its engine; `weigh` as in `loop.steps`.

    `create` does so if it is given: the caller knows that there is enough memory.
    """
    began = time.perf_counter()
    problem, earlier = request.problem, request.resume
    if create is None:
        problem.check_fits(request)
    form = problem.form()
    engine = (create or problem.create)(form, request)
    tree_hash = problem.tree_hash(form)
    if earlier is not None:
        _restore(engine, earlier, tree_hash, problem.name)
    problem.prepare(engine, resumed=earlier is not None)
    record = Recorder(request, form, engine, tree_hash, setup_seconds=time.perf_counter() - began)
    return Started(engine, request, _steps(record, hooks, weigh))


class Recorder:
    """Reads the solution of a running solve from its engine, with a record of how it was found."""

    def __init__(self, request: Request, form: Any, engine: Any, tree_hash: str, *, setup_seconds: float) -> None:
        self.request, self.form, self.engine = request, form, engine
        self.tree_hash, self.setup_seconds = tree_hash, setup_seconds
        self.nodes, self.information_sets = request.problem.size(form)

    def solution(self, outcome: Outcome) -> Solution:
        request, engine = self.request, self.engine
        record = Record(
            game=request.problem.name,
            variant=request.variant_text,
            engine=engine.name,
            device=engine.device,
            threads=engine.threads,
            setup_seconds=self.setup_seconds,
            memory_bytes=engine.memory_bytes,
            nodes=self.nodes,
            information_sets=self.information_sets,
            settings=replace(request.settings, storage=getattr(engine, "storage", None)),
            tree_hash=self.tree_hash,
            **vars(outcome),
        )
        return request.problem.solution(record, self.form, engine)


def _steps(
    recorder: Recorder, hooks: Hooks, weigh: Callable[[Variant, int, int], Schedule]
) -> Generator[Step, Reply, Solution]:
    request, engine = recorder.request, recorder.engine
    if isinstance(engine, ExactEngine) or request.variant is None:
        return recorder.solution(engine.solve())

    def write(outcome: Outcome) -> None:
        assert request.checkpoint is not None
        failed: InvalidFile | None = None
        try:
            solution = recorder.solution(outcome)
            if request.readable_checkpoints:
                solution.save(request.checkpoint, resumable=True)
            else:
                solution.checkpoint(request.checkpoint)
        except InvalidFile as error:  # for example a full disk: the solve is still in memory
            failed = error
        hooks.checkpointed(failed)

    checkpoints = None
    if request.checkpoint is not None:
        size = request.problem.checkpoint_bytes(recorder.form, engine)
        checkpoints = Checkpoints(write=write, every=request.save_every, size=size)
    earlier = request.resume
    outcome = yield from steps(
        engine,
        request.variant,
        request.stop,
        before=() if earlier is None else earlier.history,
        seconds_before=0.0 if earlier is None else earlier.seconds,
        checkpoints=checkpoints,
        report=hooks.report,
        interrupted=hooks.interrupted,
        weigh=weigh,
        measures=request.problem.measures,
    )
    return recorder.solution(outcome)


def _restore(engine: Engine[Any, Any], earlier: Solution, tree_hash: str, name: str) -> None:
    """Restore the engine to the end of an earlier solve, if that was a solve of this problem."""
    assert earlier.snapshot is not None
    if earlier.record.tree_hash != tree_hash:
        raise InvalidFile(earlier.where, f"belongs to a different tree from that of {name}")
    arrays, own = earlier.snapshot.arrays, engine.snapshot(copy=False).arrays
    if "sampler" in arrays and (earlier.engine != engine.name or "sampler" not in own):
        # Each engine has its own format for the state of its random numbers.
        arrays = {key: array for key, array in arrays.items() if key != "sampler"}
    for key in own:
        if key in arrays and shape_of(arrays, key) != shape_of(own, key):
            raise InvalidFile(earlier.where, f"has a {key} that does not fit {name}")
    restore_engine(engine, Snapshot(earlier.snapshot.iteration, arrays, earlier.snapshot.weight), earlier.where)
