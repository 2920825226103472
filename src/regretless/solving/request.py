"""From options to a request: each option is honoured or refused by name, and what was not given is filled in.

1. The solve to resume is one of the same problem, and can be resumed.
2. The variant: it and the problem say which options apply.
3. Every option applies, is allowed, and is not one that a resume must keep.
4. Settings and machine: as requested, else as in the solve being resumed, else the problem's defaults.
5. Something is left to do.
"""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from regretless.engines import engine_name, thread_limit
from regretless.errors import InvalidOption
from regretless.solving.kinds import Kind
from regretless.solving.options import EXACT, SolveOptions
from regretless.solving.problem import CHECKPOINT_SECONDS, AnyProblem, Machine, Request
from regretless.solving.record import Settings
from regretless.solving.solution import Solution

__all__ = ["make_request"]

_SETTINGS = {field.name for field in fields(Settings)} - {"iterations", "target"}  # that an option sets, if given


def make_request(problem: AnyProblem, options: SolveOptions) -> Request:
    """The request for a problem."""
    options = problem.normalise_options(options)
    resume = _check_resume(problem, options.resume)
    variant, variant_text = problem.choose_variant(options.variant, resume)
    kind = Kind.EXACT if variant is None and problem.kind is Kind.GAME else problem.kind
    options.check(kind)
    if kind in (Kind.SPOT, Kind.FLOPS):
        options.check_seed(None if resume is None else resume.settings.sample_runouts)
    if options.variant is not None:
        options = replace(options, variant=variant_text)
    if kind is Kind.GAME:
        sampling = None if resume is None else resume.settings.sampling
        if (options.sampling or sampling or "full") == "full":
            options.check_sampled()
    if resume is not None:
        options.check_resume({"variant": resume.variant} | vars(resume.settings), resume.where)
    settings = _settings(problem, options, resume)
    machine = _machine(problem, options, resume)
    engine, device = engine_name(machine.engine or "auto"), machine.device or "auto"
    problem.check_machine(engine, device)
    _check_unfinished(settings, options, resume)
    return Request(
        problem=problem,
        variant=variant,
        variant_text=variant_text,
        settings=settings,
        engine=engine,
        device=device,
        threads=machine.threads,
        shards=options.shards,
        resume=resume,
        checkpoint=None if options.checkpoint is None else Path(options.checkpoint),
        save_every=CHECKPOINT_SECONDS if options.save_every is None else options.save_every,
    )


def _check_resume(problem: AnyProblem, resume: object) -> Solution | None:
    """The solve to resume, if there is one."""
    if resume is None:
        return None
    if not isinstance(resume, Solution):
        raise InvalidOption("resume", type(resume).__name__, "is neither a solution nor the path of a file")
    problem.check_resumed(resume)
    if not resume.is_resumable:
        if resume.variant == EXACT:
            raise InvalidOption("resume", resume.where, f"was solved by {EXACT}: there is nothing to resume")
        raise InvalidOption("resume", resume.where, problem.not_resumable, problem.keeps_resumable)
    return resume


def _settings(problem: AnyProblem, options: SolveOptions, resume: Solution | None) -> Settings:
    """As requested, else as in the earlier solve, else by default; a new end replaces the earlier one entirely."""
    if resume is not None and options.iterations is None and options.target is None:
        settings = resume.settings
    else:
        iterations, target = problem.end(options.iterations, options.target)
        measure_every = problem.measure_every(iterations, target)
        if resume is None:
            settings = Settings(iterations=iterations, target=target, measure_every=measure_every)
        else:
            earlier = resume.settings
            if earlier.measure_every != problem.measure_every(earlier.iterations, earlier.target):
                measure_every = earlier.measure_every  # was requested
            settings = replace(earlier, iterations=iterations, target=target, measure_every=measure_every)
    requested: dict[str, Any] = {name: value for name, value in options.given() if name in _SETTINGS}
    return problem.fill_settings(replace(settings, **requested))


def _machine(problem: AnyProblem, options: SolveOptions, resume: Solution | None) -> Machine:
    """As requested; a resumed solve without an engine of its own stays where it was."""
    threads = None if options.threads is None else thread_limit(options.threads)
    earlier = Machine() if resume is None or options.engine is not None else problem.machine(resume)
    return Machine(
        engine=options.engine or earlier.engine,
        device=options.device or earlier.device,
        threads=threads or earlier.threads,
    )


def _check_unfinished(settings: Settings, options: SolveOptions, resume: Solution | None) -> None:
    """Refuse a resume for iterations that are already done."""
    if resume is None or settings.target is not None or settings.iterations > resume.iterations:
        return
    if options.iterations is None and resume.reason == "interrupted":
        return  # to its old end
    reason = f"is already reached: {resume.iterations:,} iterations are done, ask for more"
    raise InvalidOption("iterations", settings.iterations, reason)
