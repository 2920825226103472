"""From a game and a few options to a solution: compile, choose an engine, run the loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from importlib import import_module
from typing import Any, TypeVar

from regretless import engines
from regretless.engines.contract import GameEngine, Sampling, Updates
from regretless.errors import InvalidFile, InvalidOption
from regretless.forms.compile import compile_history, invert
from regretless.forms.history import HistoryForm
from regretless.forms.memory import memory_bytes
from regretless.forms.tree_hash import tree_hash
from regretless.games.game import Game
from regretless.games.registry import load
from regretless.solvers.loop import Checkpoints, Measurement, Outcome, Progress, Stop, joined, run
from regretless.solvers.readable.linear_program import solve_linear_program
from regretless.solvers.request import Problem, check_options, check_resume
from regretless.solvers.solution import Settings, Solution
from regretless.variants.presets import PRESETS, read_variant

__all__ = ["CHECKPOINT_SECONDS", "DEVICES", "EXACT", "VARIANTS", "engine_names", "resumed_options", "solve"]

Choice = TypeVar("Choice", bound=StrEnum)

ITERATIONS = 1000
ITERATIONS_TO_TARGET = 1_000_000  # where a target is given and no number of iterations
CHECKPOINT_SECONDS = 180.0
EXACT = "lp"  # the variant that iterates nothing: the equilibrium by linear program
VARIANTS = (*PRESETS, EXACT)
DEVICES = ("auto", "cpu", "cuda", "mps")

_SETTINGS = ("iterations", "target", "measure_every", "updates", "sampling", "batch_size", "seed")
_DEFAULTS = {
    "variant": "plus",
    "engine": "auto",
    "device": "auto",
    "updates": Updates.ALTERNATING,
    "sampling": Sampling.FULL,
    "seed": 0,
}


def engine_names() -> tuple[str, ...]:
    """What `engine` may be: "auto", and every engine of general games."""
    return ("auto", *engines.ENGINES)


def solve(
    game: Game[Any] | str | None = None,
    *,
    variant: str | None = None,
    iterations: int | None = None,
    target: float | None = None,
    engine: str | None = None,
    device: str | None = None,
    threads: int | None = None,
    updates: Updates | str | None = None,
    sampling: Sampling | str | None = None,
    batch_size: int | None = None,
    seed: int | None = None,
    measure_every: int | None = None,
    resume: Solution | None = None,
    checkpoint: Callable[[Solution], None] | None = None,
    save_every: float = CHECKPOINT_SECONDS,
    report: Callable[[Progress], None] = lambda progress: None,
    interrupted: Callable[[], bool] = lambda: False,
) -> Solution:
    """Solve a game, given as rules or by name.

    `variant` is a name of `rules.PRESETS` ("plus" if nothing is said), or "lp" for the exact equilibrium of a
    two-player zero-sum game. It runs for 1,000 iterations, or with a target for at most 1,000,000. A solve that
    resumes an earlier one (`resume`) takes its settings from there, and with the same settings ends with the very
    numbers of a solve that was never stopped. `checkpoint` is handed the solution so far every `save_every` seconds and
    when the solve is interrupted.

    >>> solution = solve("kuhn", variant="plus", iterations=1000)
    >>> round(solution.values[0], 3), solution.exploitability < 1e-4
    (-0.056, True)
    >>> half = solve("kuhn", variant="plus", iterations=500)
    >>> solve("kuhn", iterations=1000, resume=half).strategy == solution.strategy
    True
    """
    asked: dict[str, Any] = {
        "variant": variant,
        "iterations": iterations,
        "target": target,
        "engine": engine,
        "device": device,
        "threads": threads,
        "updates": None if updates is None else _choice(Updates, updates),
        "sampling": None if sampling is None else _choice(Sampling, sampling),
        "batch_size": batch_size,
        "seed": seed,
        "measure_every": measure_every,
    }
    options = _with_defaults(asked, resume)
    problem = Problem.EXACT if options["variant"] == EXACT else Problem.GAME
    check_options(problem, asked | {"sampling": options["sampling"], "resume": resume})
    _check_names(options["variant"], options["engine"], options["device"])
    if game is None and resume is None:
        raise InvalidOption("game", game, "is missing: give the rules or the name of a game, or a solve to resume")
    settings = Settings(**{name: options[name] for name in _SETTINGS})
    stop = Stop(iterations=settings.iterations, target=settings.target, measure_every=settings.measure_every)
    began = time.perf_counter()
    wanted = resume.game if game is None and resume is not None else game
    rules = load(wanted) if isinstance(wanted, str) else wanted
    assert rules is not None
    form = compile_history(rules)
    if options["variant"] == EXACT:
        return _solve_exactly(form, settings, began)
    solver = _create(rules, form, options["engine"], options["device"], options["threads"], settings)
    hashed = tree_hash(form)
    if resume is not None:
        _restore(solver, resume, form, hashed)
    started_at = solver.iteration
    earlier_seconds = 0.0 if resume is None else resume.seconds
    before = () if resume is None else resume.history
    setup_seconds = time.perf_counter() - began

    def solution(outcome: Outcome) -> Solution:
        average = solver.average_strategy()
        return Solution(
            game=rules.name,
            variant=options["variant"],
            engine=solver.name,
            device=solver.device,
            threads=solver.threads,
            iterations=solver.iteration,
            evaluation=outcome.evaluation,
            reason=outcome.reason,
            history=joined(before, outcome.history, earlier_seconds),
            seconds=outcome.seconds + earlier_seconds,
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

    def write(history: tuple[Measurement, ...], seconds: float) -> None:
        assert checkpoint is not None
        checkpoint(solution(Outcome("interrupted", solver.evaluate(), history, seconds, seconds)))

    checkpoints = None
    if checkpoint is not None:
        checkpoints = Checkpoints(write=write, every=save_every, size=4 * 8 * int(form.first_pair[-1]))
    outcome = run(
        solver,
        read_variant(options["variant"]),
        stop,
        before=before,
        checkpoints=checkpoints,
        report=report,
        interrupted=interrupted,
    )
    return solution(outcome)


def _with_defaults(asked: dict[str, Any], earlier: Solution | None) -> dict[str, Any]:
    """What to do: as was asked, else as the earlier solve did, else by default."""
    given = {name: value for name, value in asked.items() if value is not None}
    if earlier is None:
        most = ITERATIONS if "target" not in given else ITERATIONS_TO_TARGET
        return dict.fromkeys(asked) | _DEFAULTS | {"iterations": most} | given
    if earlier.snapshot is None:
        raise InvalidOption("resume", earlier.game, f"was solved by {earlier.variant}: there is nothing to resume")
    before = resumed_options(earlier)
    check_resume(given, before, f"the solve of {earlier.game}")
    if "engine" in given:
        before |= {"device": "auto", "threads": None}
    options = before | given
    if options["iterations"] <= earlier.iterations:
        reason = f"is already reached: {earlier.iterations:,} iterations are done, ask for more"
        raise InvalidOption("iterations", options["iterations"], reason)
    return options


def resumed_options(earlier: Solution) -> dict[str, Any]:
    """What a solve that resumes `earlier` does where nothing else is said."""
    machine = {"engine": earlier.engine, "device": earlier.device, "threads": earlier.threads}
    return {"variant": earlier.variant, **machine, **{name: getattr(earlier.settings, name) for name in _SETTINGS}}


def _check_names(variant: str, engine: str, device: str) -> None:
    """Refuse what does not exist before anything is compiled."""
    for option, value, known in (
        ("variant", variant, VARIANTS),
        ("engine", engine, engine_names()),
        ("device", device, DEVICES),
    ):
        if value not in known:
            raise InvalidOption(option, value, f"is not one of {', '.join(known)}")


def _create(
    rules: Game[Any], form: HistoryForm, engine: str, device: str, threads: int | None, settings: Settings
) -> GameEngine:
    """The engine that was asked for, or the one that suits the game, the machine and the way of sampling."""
    updates, sampling = Updates(settings.updates), Sampling(settings.sampling)
    return engines.create(
        engine,
        form,
        game=rules,
        updates=updates,
        sampling=sampling,
        device=device,
        threads=threads,
        seed=settings.seed,
        batch_size=settings.batch_size,
    )


def _restore(solver: GameEngine, earlier: Solution, form: HistoryForm, hashed: str) -> None:
    """Put the solver where an earlier solve ended, if that was a solve of this game."""
    assert earlier.snapshot is not None
    if earlier.tree_hash != hashed:
        raise InvalidFile(
            f"the solution of {earlier.game}",
            f"belongs to a different tree from that of {form.name}",
        )
    # Where a sampler stands is written in its own way by each engine.
    begun = solver.snapshot()
    same = earlier.engine == solver.name and "sampler" in begun.arrays
    arrays = {name: array for name, array in earlier.snapshot.arrays.items() if same or name != "sampler"}
    for name, found in arrays.items():
        if found.shape != begun.arrays[name].shape:
            raise InvalidFile(f"the solution of {earlier.game}", f"holds a {name} that does not fit its game")
    solver.restore(replace(earlier.snapshot, arrays=arrays))


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
