"""From a game and a few words to a solution: compile, choose an engine, run the loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from importlib import import_module
from typing import Any, TypeVar

from regretless import engines
from regretless.engines.engine import Engine, Sampling, Updates
from regretless.errors import InvalidFile, InvalidOption
from regretless.forms.compile import compile_history, invert
from regretless.forms.history import HistoryForm
from regretless.forms.memory import memory_bytes
from regretless.forms.tree_hash import tree_hash
from regretless.games.game import Game
from regretless.games.registry import load
from regretless.rules.presets import PRESETS, preset
from regretless.solvers.linear_program import solve_linear_program
from regretless.solvers.loop import Measurement, Outcome, Progress, Stop, run
from regretless.solvers.reference import Reference
from regretless.solvers.solution import Settings, Solution

__all__ = ["DEVICES", "EXACT", "VARIANTS", "engine_names", "solve"]

Choice = TypeVar("Choice", bound=StrEnum)

EXACT = "lp"  # the variant that iterates nothing: the equilibrium by linear program
VARIANTS = (*PRESETS, EXACT)
DEVICES = ("auto", "cpu", "cuda", "mps")


def engine_names() -> tuple[str, ...]:
    """What `engine` may be: "auto", the readable recursion, and every engine on arrays."""
    return ("auto", Reference.name, *engines.ENGINES)


def solve(
    game: Game[Any] | str,
    *,
    variant: str = "plus",
    iterations: int = 1000,
    target: float | None = None,
    engine: str = "auto",
    device: str = "auto",
    threads: int | None = None,
    updates: Updates | str = Updates.ALTERNATING,
    sampling: Sampling | str = Sampling.FULL,
    batch_size: int | None = None,
    seed: int = 0,
    measure_every: int | None = None,
    resume: Solution | None = None,
    report: Callable[[Progress], None] = lambda progress: None,
    interrupted: Callable[[], bool] = lambda: False,
) -> Solution:
    """Solve a game, given as rules or by name.

    `variant` is a name of `rules.PRESETS`, or "lp" for the exact equilibrium of a two-player zero-sum game. A solve
    that goes on from an earlier one (`resume`) with the same settings ends with the very numbers of a solve that was
    never stopped.

    >>> solution = solve("kuhn", variant="plus", iterations=1000)
    >>> round(solution.values[0], 3), solution.exploitability < 1e-4
    (-0.056, True)
    >>> half = solve("kuhn", variant="plus", iterations=500)
    >>> solve("kuhn", variant="plus", iterations=1000, resume=half).strategy == solution.strategy
    True
    """
    stop = Stop(iterations=iterations, target=target, measure_every=measure_every)
    _check(variant, engine, device, threads, batch_size)
    settings = Settings(
        iterations=iterations,
        target=target,
        measure_every=measure_every,
        updates=_choice(Updates, updates),
        sampling=_choice(Sampling, sampling),
        batch_size=batch_size,
        seed=seed,
    )
    if batch_size is not None and settings.sampling == Sampling.FULL:
        raise InvalidOption("batch_size", batch_size, "is a number of sampled deals: choose a sampling other than full")
    if variant == EXACT:
        _check_exact(engine, device, settings)
    began = time.perf_counter()
    rules = load(game) if isinstance(game, str) else game
    form = compile_history(rules)
    if variant == EXACT:
        if resume is not None:
            raise InvalidOption("variant", variant, "has nothing to resume: a linear program does not iterate")
        return _solve_exactly(form, settings, began)
    solver = _create(rules, form, engine, device, threads, settings)
    hashed = tree_hash(form)
    if resume is not None:
        _restore(solver, resume, variant, form, hashed)
    started_at = solver.iteration
    setup_seconds = time.perf_counter() - began
    outcome = run(solver, preset(variant), stop, report=report, interrupted=interrupted)
    average = solver.average_strategy()
    return Solution(
        game=rules.name,
        variant=variant,
        engine=solver.name,
        device=solver.device,
        threads=solver.threads,
        iterations=solver.iteration,
        evaluation=outcome.evaluation,
        reason=outcome.reason,
        history=outcome.history if resume is None else _joined(resume, outcome),
        seconds=outcome.seconds + (0.0 if resume is None else resume.seconds),
        setup_seconds=setup_seconds,
        seconds_per_iteration=outcome.iteration_seconds / max(solver.iteration - started_at, 1),
        memory_bytes=solver.memory_bytes,
        nodes=len(form.parent),
        information_sets=len(form.keys),
        settings=settings,
        tree_hash=hashed,
        zero_sum=form.zero_sum,
        snapshot=solver.snapshot(),
        read_strategy=lambda: invert(form, average),
    )


def _check(variant: str, engine: str, device: str, threads: int | None, batch_size: int | None) -> None:
    """Refuse what cannot work before anything is compiled."""
    for option, value, known in (
        ("variant", variant, VARIANTS),
        ("engine", engine, engine_names()),
        ("device", device, DEVICES),
    ):
        if value not in known:
            raise InvalidOption(option, value, f"is not one of {', '.join(known)}")
    for option, number in (("threads", threads), ("batch_size", batch_size)):
        if number is not None and number < 1:
            raise InvalidOption(option, number, "must be at least 1")


def _check_exact(engine: str, device: str, settings: Settings) -> None:
    """Refuse choices that a linear program cannot follow, rather than answer as if it had."""
    for option, value, only in (
        ("engine", engine, ("auto",)),
        ("device", device, ("auto", "cpu")),
        ("sampling", settings.sampling, (Sampling.FULL,)),
    ):
        if value not in only:
            raise InvalidOption(option, str(value), f"does not go with variant {EXACT}, a linear program on the CPU")


def _create(
    rules: Game[Any], form: HistoryForm, engine: str, device: str, threads: int | None, settings: Settings
) -> Engine:
    """The engine that was asked for, or the one that suits the game, the machine and the way of sampling."""
    updates, sampling = Updates(settings.updates), Sampling(settings.sampling)
    if engine != Reference.name:
        return engines.create(
            engine,
            form,
            updates=updates,
            sampling=sampling,
            device=device,
            threads=threads,
            seed=settings.seed,
            batch_size=settings.batch_size,
        )
    if device not in ("auto", "cpu"):
        raise InvalidOption("device", device, "is not for the reference engine, which runs on cpu")
    if threads not in (None, 1):
        raise InvalidOption("threads", threads, "must be 1 for the reference engine")
    if settings.batch_size not in (None, 1):
        raise InvalidOption("batch_size", settings.batch_size, "must be 1 for the reference engine")
    return Reference(rules, form, updates=updates, sampling=sampling, seed=settings.seed)


def _restore(solver: Engine, earlier: Solution, variant: str, form: HistoryForm, hashed: str) -> None:
    """Put the solver where an earlier solve ended, if that was a solve of this game by this variant."""
    if earlier.snapshot is None:
        raise InvalidOption("resume", earlier.game, f"was solved by {earlier.variant} and has nothing to resume")
    if earlier.tree_hash != hashed:
        raise InvalidFile(
            f"the solution of {earlier.game}",
            f"belongs to another tree than that of {form.name}",
        )
    if earlier.variant != variant:
        raise InvalidOption("variant", variant, f"cannot go on with what {earlier.variant} began")
    # Where a sampler stands is written in its own way by each engine.
    same = earlier.engine == solver.name
    snapshot = earlier.snapshot if same else replace(earlier.snapshot, sampler=None)
    begun = solver.snapshot()
    for name in ("regret", "average", "strategy", "sampler"):
        found, wanted = getattr(snapshot, name), getattr(begun, name)
        if found is not None and (wanted is None or found.shape != wanted.shape):
            raise InvalidFile(f"the solution of {earlier.game}", f"holds a {name} that does not fit its game")
    solver.restore(snapshot)


def _joined(earlier: Solution, outcome: Outcome) -> tuple[Measurement, ...]:
    """Both convergence curves as one, the later one's seconds counted on from the earlier one's."""
    later = tuple(replace(point, seconds=point.seconds + earlier.seconds) for point in outcome.history)
    return tuple(point for point in earlier.history if point.iteration < later[0].iteration) + later


def _solve_exactly(form: HistoryForm, settings: Settings, began: float) -> Solution:
    evaluator = engines.create("auto", form)
    with suppress(ImportError):  # loaded here, so that `seconds` is solving alone
        import_module("scipy.optimize")
    started = time.perf_counter()
    exact = solve_linear_program(form)
    seconds = time.perf_counter() - started
    evaluation = evaluator.evaluate(exact.strategy)
    return Solution(
        game=form.name,
        variant=EXACT,
        engine="highs",
        device="cpu",
        threads=1,
        iterations=0,
        evaluation=evaluation,
        reason="exact",
        history=(Measurement(0, seconds, evaluation.exploitability),),
        seconds=seconds,
        setup_seconds=started - began,
        seconds_per_iteration=0.0,
        memory_bytes=memory_bytes(form),
        nodes=len(form.parent),
        information_sets=len(form.keys),
        settings=settings,
        tree_hash=tree_hash(form),
        zero_sum=form.zero_sum,
        snapshot=None,
        read_strategy=lambda: invert(form, exact.strategy),
    )


def _choice(kind: type[Choice], value: str) -> Choice:
    """The member of an enumeration that a user named."""
    try:
        return kind(value)
    except ValueError:
        raise InvalidOption(kind.__name__.lower(), str(value), f"is not one of {', '.join(kind)}") from None
