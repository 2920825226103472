"""From a game and a few words to a solution: compile, choose an engine, run the loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum
from typing import Any, TypeVar

from regretless import engines
from regretless.engines.engine import Engine, Sampling, Snapshot, Updates
from regretless.errors import InvalidOption
from regretless.forms.compile import compile_history, invert
from regretless.forms.history import HistoryForm
from regretless.games.game import Game
from regretless.games.registry import load
from regretless.rules.presets import preset
from regretless.solvers.loop import Progress, Stop, run
from regretless.solvers.reference import Reference
from regretless.solvers.solution import Solution

__all__ = ["solve"]

Choice = TypeVar("Choice", bound=StrEnum)


def solve(
    game: Game[Any] | str,
    *,
    variant: str = "plus",
    iterations: int = 1000,
    target: float | None = None,
    engine: str = "reference",
    device: str = "auto",
    threads: int | None = None,
    updates: Updates | str = Updates.ALTERNATING,
    sampling: Sampling | str = Sampling.FULL,
    seed: int = 0,
    measure_every: int | None = None,
    resume: Snapshot | None = None,
    report: Callable[[Progress], None] = lambda progress: None,
    interrupted: Callable[[], bool] = lambda: False,
) -> Solution:
    """Solve a game, given as rules or by name.

    >>> solution = solve("kuhn", variant="plus", iterations=1000)
    >>> round(solution.values[0], 3), solution.exploitability < 1e-4
    (-0.056, True)
    """
    stop = Stop(iterations=iterations, target=target, measure_every=measure_every)
    began = time.perf_counter()
    rules = load(game) if isinstance(game, str) else game
    form = compile_history(rules)
    rule = preset(variant)
    solver = _create(rules, form, engine, device, threads, _choice(Updates, updates), _choice(Sampling, sampling), seed)
    if resume is not None:
        solver.restore(resume)
    started_at = solver.iteration
    setup_seconds = time.perf_counter() - began
    outcome = run(solver, rule, stop, report=report, interrupted=interrupted)
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
        history=outcome.history,
        seconds=outcome.seconds,
        setup_seconds=setup_seconds,
        seconds_per_iteration=outcome.iteration_seconds / max(solver.iteration - started_at, 1),
        memory_bytes=solver.memory_bytes,
        nodes=len(form.parent),
        information_sets=len(form.keys),
        snapshot=solver.snapshot(),
        read_strategy=lambda: invert(form, average),
    )


def _create(
    rules: Game[Any],
    form: HistoryForm,
    engine: str,
    device: str,
    threads: int | None,
    updates: Updates,
    sampling: Sampling,
    seed: int,
) -> Engine:
    """The engine that was asked for, or the one that suits the game, the machine and the way of sampling."""
    if engine == Reference.name:
        return Reference(rules, form, updates=updates, sampling=sampling, seed=seed)
    return engines.create(engine, form, updates=updates, sampling=sampling, device=device, threads=threads, seed=seed)


def _choice(kind: type[Choice], value: str) -> Choice:
    """The member of an enumeration that a user named."""
    try:
        return kind(value)
    except ValueError:
        raise InvalidOption(kind.__name__.lower(), str(value), f"is not one of {', '.join(kind)}") from None
