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
from regretless.postflop.betting import betting_tree
from regretless.postflop.estimate import Estimate, check_fits
from regretless.postflop.held import apply_locks, with_sources
from regretless.postflop.locks import AnyLock
from regretless.postflop.reading import SpotReader
from regretless.postflop.runouts import compile_holdem
from regretless.postflop.solution import SpotSolution
from regretless.postflop.spot import Spot
from regretless.postflop.suits import spot_group
from regretless.rules.presets import preset
from regretless.solvers.loop import Measurement, Outcome, Progress, Stop, run
from regretless.solvers.solution import Settings

if TYPE_CHECKING:
    from regretless.engines.public_engine import PublicEngine
    from regretless.postflop.files import Checkpoint

__all__ = [
    "CHECKPOINT_SECONDS",
    "TARGET",
    "compile_spot",
    "default_threads",
    "resume_spot",
    "root_strategy",
    "solve_spot",
]

TARGET = 0.3  # percent of the pot; where neither a target nor a number of iterations is given
MOST_ITERATIONS = 10_000  # where only a target is given
CHECKPOINT_SECONDS = 180.0
ENGINES, DEVICES = ("auto", "numba"), ("auto", "cpu")


def _warn(problem: InvalidFile | None) -> None:
    if problem is not None:
        warnings.warn(str(problem), stacklevel=2)


def solve_spot(
    spot: Spot,
    *,
    target: float | None = None,
    iterations: int | None = None,
    variant: str | None = None,
    engine: str = "auto",
    device: str = "auto",
    threads: int | None = None,
    storage: int = 32,
    locks: Sequence[AnyLock] = (),
    measure_every: int | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    checkpointed: Callable[[InvalidFile | None], None] = _warn,
    report: Callable[[Progress], None] = lambda progress: None,
    interrupted: Callable[[], bool] = lambda: False,
) -> SpotSolution:
    """Solve a spot until its exploitability is at most `target` percent of the pot, or for `iterations`.

    Where neither is given the target is 0.3. `variant` is by default `river` on the river and `postflop` before it,
    `threads` as many as there are cores; `storage` is 32 or 16 bits a number. `locks` are decisions that are given,
    beside those of the spot itself. `checkpoint` is a file that a long solve is saved to every `checkpoint_seconds`;
    `resume_spot` goes on from it. After each one `checkpointed` is told None, or why it could not be written, which
    does not end the solve.

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
    _check_machine(engine, device)
    job = _Job(
        spot=with_sources(replace(spot, locks=(*spot.locks, *locks))),
        target=target,
        iterations=iterations,
        variant=variant or default_variant(spot),
        threads=threads or default_threads(),
        storage=storage,
        measure_every=measure_every,
    )
    return _solve(job, None, _Checkpoints(checkpoint, checkpoint_seconds, checkpointed), report, interrupted)


def resume_spot(
    path: str | Path,
    *,
    target: float | None = None,
    iterations: int | None = None,
    threads: int | None = None,
    measure_every: int | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    checkpointed: Callable[[InvalidFile | None], None] = _warn,
    report: Callable[[Progress], None] = lambda progress: None,
    interrupted: Callable[[], bool] = lambda: False,
) -> SpotSolution:
    """Go on with a solve that was saved, to its own target or to a new one: bit for bit what it would have become."""
    from regretless.postflop.files import load_checkpoint

    saved = load_checkpoint(path)
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
    return _solve(job, saved, _Checkpoints(checkpoint, checkpoint_seconds, checkpointed), report, interrupted)


def _check_machine(engine: str, device: str) -> None:
    for option, value, known in (("engine", engine, ENGINES), ("device", device, DEVICES)):
        if value not in known:
            raise InvalidOption(option, value, f"is not one of {', '.join(known)}, which solve spots")


def default_variant(spot: Spot) -> str:
    """What is measured best: rivers need no memory of negative regrets, larger trees do."""
    return "river" if len(spot.board) == 5 else "postflop"


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

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise InvalidOption("threads", self.threads, "must be at least 1")
        if self.target is not None and not self.target > 0:
            raise InvalidOption("target", self.target, "must be above 0 percent of the pot")

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
class _Checkpoints:
    """Where a solve is saved on the way, how often, and who is told."""

    path: str | Path | None
    seconds: float
    told: Callable[[InvalidFile | None], None]


def _solve(
    job: _Job,
    saved: Checkpoint | None,
    checkpoints: _Checkpoints,
    report: Callable[[Progress], None],
    interrupted: Callable[[], bool],
) -> SpotSolution:
    from regretless.engines.public_engine import PublicEngine

    rule = preset(job.variant)
    stop = job.stop
    began = time.perf_counter()
    size = check_fits(job.spot, storage=job.storage, threads=job.threads)
    form = compile_spot(job.spot)
    engine = PublicEngine(form, threads=job.threads, storage=job.storage)
    if saved is not None:
        saved.restore(engine)
    apply_locks(engine, job.spot, resumed=saved is not None)
    started_at = engine.iteration
    setup_seconds = time.perf_counter() - began
    before = () if saved is None else saved.history
    earlier_seconds = 0.0 if saved is None else saved.seconds
    last_saved = time.monotonic()
    measured: list[Measurement] = []

    def keep(points: tuple[Measurement, ...], seconds: float) -> None:
        if checkpoints.path is None:
            return
        from regretless.postflop.files import save_checkpoint

        points = _joined(before, points, earlier_seconds)
        seconds += earlier_seconds
        problem: InvalidFile | None = None
        try:
            save_checkpoint(checkpoints.path, job.spot, job.variant, job.settings, engine, points, seconds)
        except InvalidFile as error:  # a full disk, say: what is solved is still in memory
            problem = error
        checkpoints.told(problem)

    def watch(progress: Progress) -> None:
        nonlocal last_saved
        report(progress)
        if progress.exploitability not in (None, measured[-1].exploitability if measured else None):
            measured.append(Measurement(progress.iteration, progress.seconds, progress.exploitability or 0.0))
        if time.monotonic() - last_saved >= checkpoints.seconds:
            keep(tuple(measured), progress.seconds)
            last_saved = time.monotonic()

    outcome = run(engine, rule, stop, report=watch, interrupted=interrupted)
    if outcome.reason == "interrupted":
        keep(_regular(outcome.history, stop, started_at), outcome.seconds)
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
    from regretless.postflop.engine_answers import EngineAnswers
    from regretless.postflop.files import tree_hash

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
        history=_joined(before, outcome.history, earlier_seconds),
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


def _joined(before: tuple[Measurement, ...], after: tuple[Measurement, ...], seconds: float) -> tuple[Measurement, ...]:
    later = tuple(Measurement(point.iteration, seconds + point.seconds, point.exploitability) for point in after)
    return (*before, *later)


def _regular(history: tuple[Measurement, ...], stop: Stop, started_at: int) -> tuple[Measurement, ...]:
    """Without the last measurement, if only the interrupt caused it."""
    before = history[-2].iteration if len(history) > 1 else started_at
    return history if history[-1].iteration == stop.next_measurement(before) else history[:-1]
