"""From options to a request: each option is honoured or refused by name, and what was not given is filled in."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

from regretless.engines import engine_name, thread_limit
from regretless.errors import InvalidOption
from regretless.solving.kinds import Kind
from regretless.solving.options import SolveOptions
from regretless.solving.problem import CHECKPOINT_SECONDS, AnyProblem, Machine, Request
from regretless.solving.record import Settings
from regretless.solving.solution import Solution

__all__ = ["make_request"]


def make_request(problem: AnyProblem, options: SolveOptions) -> Request:
    """The request for a problem.

    What the options leave open comes from the solve being resumed, else from the problem's defaults.
    """
    options = problem.spelled(options)
    resume = options.resume
    if resume is not None:
        if not isinstance(resume, Solution):
            raise InvalidOption("resume", type(resume).__name__, "is neither a solution nor the path of a file")
        problem.check_resumed(resume)
        if not resume.is_resumable:
            raise InvalidOption("resume", resume.where, problem.why_final(resume), problem.if_final)
    variant, text = problem.choose_variant(options.variant, resume)
    kind = Kind.EXACT if variant is None and problem.kind is Kind.GAME else problem.kind
    options.check(kind)
    if kind in (Kind.SPOT, Kind.FLOPS):
        options.check_seed(None if resume is None else resume.settings.sample_runouts)
    if options.variant is not None:
        options = replace(options, variant=text)
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
    unfinished = options.iterations is None and resume is not None and resume.reason == "interrupted"
    if resume is not None and settings.iterations <= resume.iterations and settings.target is None and not unfinished:
        reason = f"is already reached: {resume.iterations:,} iterations are done, ask for more"
        raise InvalidOption("iterations", settings.iterations, reason)
    return Request(
        problem=problem,
        variant=variant,
        variant_text=text,
        settings=settings,
        engine=engine,
        device=device,
        threads=machine.threads,
        shards=options.shards,
        resume=resume,
        checkpoint=None if options.checkpoint is None else Path(options.checkpoint),
        save_every=CHECKPOINT_SECONDS if options.save_every is None else options.save_every,
    )


def _settings(problem: AnyProblem, options: SolveOptions, resume: Solution | None) -> Settings:
    """As requested, else as in the earlier solve, else by default; a new end replaces the earlier one entirely."""
    before = Settings(iterations=1) if resume is None else resume.settings
    if resume is None or options.iterations is not None or options.target is not None:
        target = None if options.target is None else problem.in_units(options.target)
        iterations, target = problem.end(options.iterations, target)
        usual = None if resume is None else problem.measure_every(before.iterations, before.target)
        every = before.measure_every
        if every == usual:  # the default, which the new end may change
            every = problem.measure_every(iterations, target)
        before = replace(before, iterations=iterations, target=target, measure_every=every)
    changes = {
        each.name: getattr(options, each.name) for each in fields(Settings) if each.name not in ("iterations", "target")
    }
    return problem.settle(replace(before, **{name: value for name, value in changes.items() if value is not None}))


def _machine(problem: AnyProblem, options: SolveOptions, resume: Solution | None) -> Machine:
    """As requested; a resumed solve without an engine of its own stays where it was."""
    threads = None if options.threads is None else thread_limit(options.threads)
    earlier = Machine() if resume is None or options.engine is not None else problem.machine(resume)
    return Machine(
        engine=options.engine or earlier.engine,
        device=options.device or earlier.device,
        threads=threads or earlier.threads,
    )
