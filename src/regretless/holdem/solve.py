"""From a spot to its solution: betting tree, public form, engine, and the one loop."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from regretless.errors import InvalidFile, InvalidOption
from regretless.forms.public import PublicForm
from regretless.holdem.estimate import Estimate, check_fits
from regretless.holdem.form.betting import betting_tree
from regretless.holdem.form.runouts import compile_holdem
from regretless.holdem.form.suits import spot_group
from regretless.holdem.held import apply_locks, with_sources
from regretless.holdem.reading.reading import SpotReader
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.locks import AnyLock
from regretless.holdem.spots.spot import Spot
from regretless.solvers.loop import Checkpoints, Measurement, Outcome, Progress, Stop, joined, run
from regretless.solvers.request import Problem, check_options, check_resume
from regretless.solvers.solution import Settings
from regretless.solvers.solve import CHECKPOINT_SECONDS
from regretless.variants.presets import read_variant

if TYPE_CHECKING:
    from regretless.engines.contract import PublicEngine
    from regretless.holdem.files import Checkpoint

__all__ = [
    "TARGET",
    "compile_spot",
    "default_threads",
    "resume_spot",
    "root_strategy",
    "solve_spot",
]

TARGET = 0.3  # percent of the pot; where neither a target nor a number of iterations is given
MOST_ITERATIONS = 10_000  # where only a target is given


def _warn(problem: InvalidFile | None) -> None:
    if problem is not None:
        warnings.warn(str(problem), stacklevel=2)


def solve_spot(
    spot: Spot,
    *,
    target: float | None = None,
    iterations: int | None = None,
    variant: str | None = None,
    engine: str | None = None,
    device: str | None = None,
    threads: int | None = None,
    storage: int | None = None,
    locks: Sequence[AnyLock] = (),
    measure_every: int | None = None,
    checkpoint: str | Path | None = None,
    save_every: float = CHECKPOINT_SECONDS,
    checkpointed: Callable[[InvalidFile | None], None] = _warn,
    report: Callable[[Progress], None] = lambda progress: None,
    interrupted: Callable[[], bool] = lambda: False,
) -> SpotSolution:
    """Solve a spot until its exploitability is at most `target` percent of the pot, or for `iterations`.

    Where neither is given the target is 0.3. `variant` is by default `postflop`, `turn` or `river`, by the street;
    `threads` as many as there are cores; `storage` is 32 or 16 bits per number, 32 by default. `locks` are decisions
    that are given, beside those of the spot itself. `checkpoint` is a file that a long solve is saved to every
    `save_every` seconds and when it is interrupted; `resume_spot` continues from it. After each one `checkpointed` is
    told None, or why it could not be written, which does not end the solve.

    >>> spot = Spot.from_mapping(
    ...     {
    ...         "board": "Kh Qs Js 2c 3d",
    ...         "pot": 100,
    ...         "stack": 200,
    ...         "oop": {"range": "AK, KQs, QJs, T9s, 99-77, 22"},
    ...         "ip": {"range": "AA-QQ, AK, KQ, JTs, T9s, 55"},
    ...         "bets": {"bet": "50%, 100%", "raise": "2.5x"},
    ...     }
    ... )
    >>> solution = solve_spot(spot, target=0.1)
    >>> solution.exploitability_pct_pot <= 0.1, round(sum(solution.ev.values()))
    (True, 100)
    >>> solution.root.actions
    ('check', 'bet 50', 'bet 100')
    """
    check_options(
        Problem.SPOT,
        {
            "target": target,
            "iterations": iterations,
            "variant": variant,
            "engine": engine,
            "device": device,
            "threads": threads,
            "storage": storage,
            "measure_every": measure_every,
            "save_every": save_every,
        },
    )
    job = _Job(
        spot=with_sources(replace(spot, locks=(*spot.locks, *locks))),
        target=target,
        iterations=iterations,
        variant=variant or default_variant(spot),
        threads=threads or default_threads(),
        storage=storage or 32,
        measure_every=measure_every,
    )
    return _solve(job, None, _Destination(checkpoint, save_every, checkpointed), report, interrupted)


def resume_spot(
    earlier: str | Path | SpotSolution,
    *,
    spot: Spot | None = None,
    target: float | None = None,
    iterations: int | None = None,
    variant: str | None = None,
    engine: str | None = None,
    device: str | None = None,
    threads: int | None = None,
    storage: int | None = None,
    measure_every: int | None = None,
    checkpoint: str | Path | None = None,
    save_every: float = CHECKPOINT_SECONDS,
    checkpointed: Callable[[InvalidFile | None], None] = _warn,
    report: Callable[[Progress], None] = lambda progress: None,
    interrupted: Callable[[], bool] = lambda: False,
) -> SpotSolution:
    """Resume a solve from its file, or one that is in memory, to its own target or to a new one.

    The result equals that of an uninterrupted solve, bit for bit. Whatever determines the numbers (`spot`, `variant`,
    `storage`) stays as it was; if given here, it must be the same.
    """
    from regretless.holdem.files import load_checkpoint

    given = {
        "target": target,
        "iterations": iterations,
        "variant": variant,
        "engine": engine,
        "device": device,
        "threads": threads,
        "storage": storage,
        "measure_every": measure_every,
        "save_every": save_every,
    }
    check_options(Problem.SPOT, given)
    saved: Checkpoint | _InMemory
    saved = _InMemory(earlier) if isinstance(earlier, SpotSolution) else load_checkpoint(earlier)
    where = f"the solve of {saved.spot.name or 'the spot'}" if isinstance(saved, _InMemory) else str(earlier)
    check_resume(given, {"variant": saved.variant, "storage": saved.storage}, where)
    if spot is not None and replace(spot, name=saved.spot.name) != saved.spot:
        raise InvalidOption("resume", where, f"is a solve of a different spot from {spot.name or 'the one given'}")
    asked = target is not None or iterations is not None
    job = _Job(
        spot=saved.spot,
        target=target if asked else saved.settings.target,
        iterations=iterations if asked else saved.settings.iterations,
        variant=saved.variant,
        threads=threads or default_threads(),
        storage=saved.storage,
        measure_every=measure_every or saved.settings.measure_every,
    )
    return _solve(job, saved, _Destination(checkpoint, save_every, checkpointed), report, interrupted)


class _InMemory:
    """A solve whose engine is still there, as something to resume."""

    def __init__(self, solution: SpotSolution) -> None:
        from regretless.holdem.reading.engine_answers import EngineAnswers

        answers = solution.reader.answers
        if not isinstance(answers, EngineAnswers):
            reason = "was read from a file: give the file itself"
            raise InvalidOption("resume", solution.spot.name or "spot", reason)
        self._engine = answers.engine
        self.spot, self.variant, self.settings = solution.spot, solution.variant, solution.settings
        self.history, self.seconds = solution.history, solution.seconds

    @property
    def storage(self) -> int:
        return self._engine.storage

    def restore(self, engine: PublicEngine) -> None:
        engine.restore(self._engine.snapshot(copy=False))


def default_variant(spot: Spot) -> str:
    """What is measured best for the first street to be played."""
    return {3: "postflop", 4: "turn", 5: "river"}[len(spot.board)]


def default_threads() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        return os.cpu_count() or 1


def compile_spot(spot: Spot) -> PublicForm:
    """The public form of a spot: betting tree × runouts × hands."""
    rules = spot.rules
    return compile_holdem(
        spot.board,
        spot.ip,
        spot.oop,
        betting_tree(spot),
        rake=rules.rake,
        rake_cap=rules.rake_cap,
        group=spot_group(spot),
        name=spot.name or "spot",
    )


@dataclass(frozen=True, kw_only=True)
class _Job:
    """What was asked for."""

    spot: Spot
    target: float | None
    iterations: int | None
    variant: str
    threads: int
    storage: int
    measure_every: int | None

    @property
    def settings(self) -> Settings:
        """With defaults filled in; the target is in percent of the pot."""
        unsaid = self.target is None and self.iterations is None
        return Settings(
            iterations=MOST_ITERATIONS if self.iterations is None else self.iterations,
            target=TARGET if unsaid else self.target,
            measure_every=self.measure_every,
        )

    @property
    def stop(self) -> Stop:
        asked = self.settings
        chips = None if asked.target is None else asked.target / 100 * self.spot.pot
        return Stop(iterations=asked.iterations, target=chips, measure_every=asked.measure_every)


@dataclass(frozen=True)
class _Destination:
    """Where a solve is saved on the way, how often, and who is told."""

    path: str | Path | None
    every: float
    told: Callable[[InvalidFile | None], None]


def _solve(
    job: _Job,
    saved: Checkpoint | _InMemory | None,
    destination: _Destination,
    report: Callable[[Progress], None],
    interrupted: Callable[[], bool],
) -> SpotSolution:
    from regretless.engines.public.compiled.engine import CompiledPublicEngine

    rule = read_variant(job.variant)
    began = time.perf_counter()
    size = check_fits(job.spot, storage=job.storage, threads=job.threads)
    form = compile_spot(job.spot)
    engine = CompiledPublicEngine(form, threads=job.threads, storage=job.storage)
    if saved is not None:
        saved.restore(engine)
    apply_locks(engine, job.spot, resumed=saved is not None)
    started_at = engine.iteration
    setup_seconds = time.perf_counter() - began
    before = () if saved is None else saved.history
    earlier_seconds = 0.0 if saved is None else saved.seconds

    def write(points: tuple[Measurement, ...], seconds: float) -> None:
        from regretless.holdem.files import save_checkpoint

        assert destination.path is not None
        points = joined(before, points, earlier_seconds)
        seconds += earlier_seconds
        problem: InvalidFile | None = None
        try:
            save_checkpoint(destination.path, job.spot, job.variant, job.settings, engine, points, seconds)
        except InvalidFile as error:  # a full disk, say: what is solved is still in memory
            problem = error
        destination.told(problem)

    checkpoints = None
    if destination.path is not None:
        checkpoints = Checkpoints(write=write, every=destination.every, size=engine.kept_bytes)
    outcome = run(
        engine, rule, job.stop, before=before, checkpoints=checkpoints, report=report, interrupted=interrupted
    )
    return _solution(job, size, form, engine, outcome, before, earlier_seconds, setup_seconds, started_at)


def _solution(
    job: _Job,
    size: Estimate,
    form: PublicForm,
    engine: PublicEngine,
    outcome: Outcome,
    before: tuple[Measurement, ...],
    earlier_seconds: float,
    setup_seconds: float,
    started_at: int,
) -> SpotSolution:
    from regretless.holdem.files import tree_hash
    from regretless.holdem.reading.engine_answers import EngineAnswers

    reader = SpotReader(job.spot, form, EngineAnswers(engine))
    return SpotSolution(
        game=job.spot.name or "spot",
        variant=job.variant,
        engine=engine.name,
        device=engine.device,
        threads=job.threads,
        iterations=engine.iteration,
        evaluation=outcome.evaluation,
        reason=outcome.reason,
        history=joined(before, outcome.history, earlier_seconds),
        seconds=earlier_seconds + outcome.seconds,
        setup_seconds=setup_seconds,
        seconds_per_iteration=outcome.iteration_seconds / max(engine.iteration - started_at, 1),
        memory_bytes=engine.memory_bytes,
        nodes=size.nodes,
        information_sets=size.information_sets,
        settings=job.settings,
        tree_hash=tree_hash(form.tree),
        snapshot=None,
        read_strategy=lambda: root_strategy(reader),
        spot=job.spot,
        reader=reader,
    )


def root_strategy(reader: SpotReader) -> dict[str, dict[str, float]]:
    """Hand -> action -> probability at the root."""
    view = reader.view(reader.root)
    assert view.player is not None
    return {row["hand"]: row["strategy"] for row in view.rows(view.player)}
