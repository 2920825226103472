"""The path from a request to a solution: check, compile, create an engine, run the loop, read the answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regretless.engines import Engine, Snapshot, engine_name, thread_limit
from regretless.errors import InvalidFile, InvalidOption
from regretless.files.container import shape_of
from regretless.solving.loop import Answer, Checkpoints, Outcome, Wish, drive, steps
from regretless.solving.problem import Problem
from regretless.solving.readable.linear_program import ExactEngine
from regretless.solving.record import Record, Settings
from regretless.solving.request import Kind, Request, check_options, check_resume
from regretless.solving.solution import Solution, restore_engine
from regretless.variants.presets import spelled_out
from regretless.variants.variant import Schedule, Variant, schedule

__all__ = ["Started", "make_request", "solve", "start"]


@dataclass(frozen=True)
class Started:
    """A solve that is ready for its first iteration."""

    engine: Any  # an engine of the problem's form
    request: Request
    steps: Generator[Wish, Answer, Solution]  # as in `loop.steps`; ends with the solution


def solve(problem: Problem[Any, Any], options: Mapping[str, Any]) -> Solution:
    """Solve a problem; `options` are those of `request.OPTIONS`, and None means not given.

    A resumed solve takes its settings from the earlier one and, with the same settings, ends with exactly the numbers
    of a solve that was never stopped.
    """
    started = start(problem, options)
    return drive(started.engine, started.steps)


def start(
    problem: Problem[Any, Any],
    options: Mapping[str, Any],
    *,
    create: Callable[[Any, Request], Any] | None = None,
    weigh: Callable[[Variant, int, int], Schedule] = schedule,
) -> Started:
    """Compile a problem and create its engine; `weigh` as in `loop.steps`.

    `create` does so if it is given: the caller knows that there is enough memory.
    """
    request = make_request(problem, options)
    began = time.perf_counter()
    if create is None:
        problem.check_fits(request)
    form = problem.form()
    engine = (create or problem.create)(form, request)
    tree_hash = problem.tree_hash(form)
    earlier = request.resume
    if earlier is not None:
        _restore(engine, earlier, tree_hash, problem.name)
    problem.prepare(engine, resumed=earlier is not None)
    setup_seconds = time.perf_counter() - began
    return Started(engine, request, _steps(problem, request, form, engine, tree_hash, setup_seconds, weigh))


def _steps(
    problem: Problem[Any, Any],
    request: Request,
    form: Any,
    engine: Any,
    tree_hash: str,
    setup_seconds: float,
    weigh: Callable[[Variant, int, int], Schedule],
) -> Generator[Wish, Answer, Solution]:
    earlier = request.resume
    nodes, information_sets = problem.size(form)

    def solution(outcome: Outcome) -> Solution:
        record = Record(
            game=problem.name,
            variant=request.variant_text,
            engine=engine.name,
            device=engine.device,
            threads=engine.threads,
            setup_seconds=setup_seconds,
            memory_bytes=engine.memory_bytes,
            nodes=nodes,
            information_sets=information_sets,
            settings=replace(request.settings, storage=getattr(engine, "storage", None)),
            tree_hash=tree_hash,
            **vars(outcome),
        )
        return problem.solution(record, form, engine)

    def write(outcome: Outcome) -> None:
        assert request.checkpoint is not None
        failed: InvalidFile | None = None
        try:
            solution(outcome).checkpoint(request.checkpoint)
        except InvalidFile as error:  # for example a full disk: the solve is still in memory
            failed = error
        request.checkpointed(failed)

    if isinstance(engine, ExactEngine) or request.variant is None:
        return solution(engine.solve())
    checkpoints = None
    if request.checkpoint is not None:
        checkpoints = Checkpoints(write=write, every=request.save_every, size=problem.checkpoint_bytes(form, engine))
    outcome = yield from steps(
        engine,
        request.variant,
        request.stop,
        before=() if earlier is None else earlier.history,
        seconds_before=0.0 if earlier is None else earlier.seconds,
        checkpoints=checkpoints,
        report=request.report,
        interrupted=request.interrupted,
        weigh=weigh,
        measures=problem.measures,
    )
    return solution(outcome)


def _restore(engine: Engine[Any, Any], earlier: Solution, tree_hash: str, name: str) -> None:
    """Restore the engine to the end of an earlier solve, if that was a solve of this problem."""
    assert earlier.snapshot is not None
    if earlier.record.tree_hash != tree_hash:
        raise InvalidFile(earlier.where, f"belongs to a different tree from that of {name}")
    arrays, standing = earlier.snapshot.arrays, engine.snapshot(copy=False).arrays
    if "sampler" in arrays and (earlier.engine != engine.name or "sampler" not in standing):
        # Each engine has its own format for the state of its random numbers.
        arrays = {key: array for key, array in arrays.items() if key != "sampler"}
    for key in standing:
        if key in arrays and shape_of(arrays, key) != shape_of(standing, key):
            raise InvalidFile(earlier.where, f"has a {key} that does not fit {name}")
    restore_engine(engine, Snapshot(earlier.snapshot.iteration, arrays, earlier.snapshot.weight), earlier.where)


def make_request(problem: Problem[Any, Any], options: Mapping[str, Any]) -> Request:
    """The request for these options; None means not given.

    Missing options come from the solve being resumed, else from the problem's defaults.
    """
    given = spelled_out({name: value for name, value in options.items() if value is not None})
    resume: Solution | None = given.get("resume")
    if resume is not None:
        problem.check_resumed(resume)
        if resume.snapshot is None:
            raise InvalidOption("resume", resume.where, problem.why_final(resume), problem.if_final)
    variant, text = problem.choose_variant(given, resume)
    kind = Kind.EXACT if variant is None and problem.kind is Kind.GAME else problem.kind
    kept = None if resume is None or kind is not Kind.GAME else resume.settings.sampling
    sampling = given.get("sampling", kept)
    named = {"variant": text} if "variant" in given else {}
    check_options(kind, given | named | {"sampling": sampling})
    for name in ("save_every", "checkpointed"):
        if name in given and "checkpoint" not in given:
            raise InvalidOption(name, given[name], "needs a file to save to: give a checkpoint too")
    if resume is not None:
        was = {"variant": resume.variant} | {name: getattr(resume.settings, name) for name in _SETTINGS}
        check_resume(given | {"variant": text if "variant" in given else None}, was, resume.where)
    settings = _settings(problem, given, resume)
    machine: dict[str, Any] = {name: given[name] for name in ("engine", "device", "threads") if name in given}
    if "engine" in given:
        machine["engine"] = engine_name(given["engine"])
    if "threads" in given:
        machine["threads"] = thread_limit(given["threads"])
    if resume is not None and "engine" not in given:
        machine = problem.machine(resume) | machine
    problem.check_machine(machine.get("engine", "auto"), machine.get("device", "auto"))
    unfinished = "iterations" not in given and resume is not None and resume.reason == "interrupted"
    if resume is not None and settings.iterations <= resume.iterations and settings.target is None and not unfinished:
        reason = f"is already reached: {resume.iterations:,} iterations are done, ask for more"
        raise InvalidOption("iterations", settings.iterations, reason)
    rest = ("resume", "save_every", "checkpointed", "report", "interrupted")
    return Request(
        variant=variant,
        variant_text=text,
        settings=settings,
        checkpoint=Path(given["checkpoint"]) if "checkpoint" in given else None,
        **machine,
        **{name: given[name] for name in rest if name in given},
    )


_SETTINGS = (
    "iterations", "target", "measure_every", "updates", "sampling", "batch_size", "seed", "storage", "form", "buckets",
    "sample_runouts",
)  # fmt: skip


def _settings(problem: Problem[Any, Any], given: Mapping[str, Any], resume: Solution | None) -> Settings:
    """As requested, else as in the earlier solve, else by default; a new end replaces the earlier one entirely."""
    asked = {name: given[name] for name in _SETTINGS if name in given} | problem.fixed_settings()
    if "target" in asked:
        asked["target"] = problem.in_units(asked["target"])
    ends = "iterations" in asked or "target" in asked
    before = {} if resume is None else {name: getattr(resume.settings, name) for name in _SETTINGS}
    if ends or resume is None:
        before |= {"iterations": None, "target": None}
        most, target = problem.end(asked.get("iterations"), asked.get("target"))
        asked |= {"iterations": most, "target": target}
        was = resume and problem.measure_every(resume.settings.iterations, resume.settings.target)
        if before.get("measure_every") == was:  # the default, which the new end may change
            before["measure_every"] = problem.measure_every(most, target)
    return Settings(**{name: value for name, value in (before | asked).items() if value is not None})
