"""What `import regretless as rl` offers above all layers: one `solve` for games and for hold'em spots."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from regretless.errors import InvalidFile, InvalidOption
from regretless.games.game import Game
from regretless.solvers.interrupt import catch_interrupts
from regretless.solvers.progress_line import in_notebook, progress_line
from regretless.solvers.request import Problem, check_options
from regretless.solvers.solution import Solution
from regretless.solvers.solve import EXACT
from regretless.solvers.solve import solve as solve_game

if TYPE_CHECKING:
    from regretless.holdem.solution import SpotSolution
    from regretless.holdem.spots.spot import Spot

__all__ = ["solve"]


@overload
def solve(what: Spot, **options: Any) -> SpotSolution: ...


@overload
def solve(what: Game[Any] | str | None = None, **options: Any) -> Solution: ...


def solve(what: Spot | Game[Any] | str | None = None, **options: Any) -> Solution:
    """Solve a game, by its rules or by name, or a hold'em spot, as an object or as a `.toml` file.

    Options are those of `solvers.solve` for a game and of `postflop.solve_spot` for a spot; one that does not serve the
    problem is refused by name, as the command does. A target is in the game's units, or in percent of the pot. Beside
    them:

    - `resume`: a solution or a `.rgl` file to continue from; then `what` may be left out.
    - `checkpoint`: a `.rgl` file that the solve is saved to every `save_every` seconds and when it is interrupted.
    - `progress`: whether a line says how far the solve is; if nothing is said, in notebooks.

    Ctrl-C, or a notebook's stop button, ends the solve between two iterations: what was solved until then is returned,
    with `reason == "interrupted"`, and a line on stderr says so. A second Ctrl-C raises `KeyboardInterrupt`.

    >>> round(solve("kuhn", variant="plus", iterations=1000).values[0], 3)
    -0.056
    >>> from regretless.holdem import Spot
    >>> spot = Spot.from_mapping(
    ...     {
    ...         "board": "Kh Qs Js 2c 3d",
    ...         "pot": 100,
    ...         "stack": 200,
    ...         "oop": {"range": "AK"},
    ...         "ip": {"range": "QQ, JT"},
    ...         "bets": {"bet": "50%"},
    ...     }
    ... )
    >>> solve(spot, target=0.1).exploitability_pct_pot <= 0.1
    True
    >>> solve(spot, sampling="external")
    Traceback (most recent call last):
    regretless.errors.InvalidOption: sampling: 'external' is for games: a hold'em spot is solved on the full tree
    """
    given = {name: value for name, value in options.items() if value is not None}
    is_game = _is_game(what, given.get("resume"))
    exact = is_game and given.get("variant") == EXACT
    check_options(Problem.EXACT if exact else Problem.GAME if is_game else Problem.SPOT, given)
    if "keep_regrets" in given:
        raise InvalidOption(
            "keep_regrets", given["keep_regrets"], "is an option of the command line: save with resumable=True"
        )
    for name in ("save_every", "checkpointed"):
        if name in given and "checkpoint" not in given:
            raise InvalidOption(name, given[name], "needs a file to save to: give a checkpoint too")
    if (
        isinstance(what, str)
        and "checkpoint" in given
        and os.path.realpath(what) == os.path.realpath(given["checkpoint"])
    ):
        raise InvalidOption("checkpoint", str(given["checkpoint"]), "is what is solved: save under another name")
    progress = given.pop("progress", in_notebook())
    with _interrupts(given) as heard:
        solution = _solve_game(what, progress, given) if is_game else _solve_spot(what, progress, given)
    if heard() and solution.reason == "interrupted":
        sys.stderr.write(f"interrupted after {solution.iterations:,} iterations: the solution so far is returned\n")
    return solution


def _is_game(what: object, resume: object) -> bool:
    if isinstance(what, str):
        return not what.endswith(".toml")
    if what is not None:
        return isinstance(what, Game)
    if isinstance(resume, str | Path):
        from regretless.storage.mapped import file_kind

        return not file_kind(resume).startswith("spot-")
    return not hasattr(resume, "spot")


def _solve_game(what: Any, progress: bool, options: dict[str, Any]) -> Solution:
    from regretless.storage.solutions import load_solution, save_solution

    if what is None and "resume" not in options:
        raise InvalidOption("what", None, "is missing: give a game, a spot, or a solve to resume")
    if isinstance(path := options.get("resume"), str | Path):
        options["resume"] = load_solution(path)
    if (file := options.get("checkpoint")) is not None:
        told: Callable[[InvalidFile | None], None] = options.pop("checkpointed", _warn)

        def checkpoint(solution: Solution) -> None:
            problem: InvalidFile | None = None
            try:
                save_solution(file, solution)
            except InvalidFile as error:  # a full disk, say: what is solved is still in memory
                problem = error
            told(problem)

        options["checkpoint"] = checkpoint
    name = what if isinstance(what, str) else options["resume"].game if what is None else what.name
    with _progress(progress, options, title=name, unit="per game"):
        return solve_game(what, **options)


def _solve_spot(what: Any, progress: bool, options: dict[str, Any]) -> SpotSolution:
    from regretless.holdem.files import load_checkpoint
    from regretless.holdem.solution import SpotSolution
    from regretless.holdem.solve import resume_spot, solve_spot
    from regretless.holdem.spots.spot import Spot

    spot = Spot.read(what) if isinstance(what, str) else what
    resume = options.pop("resume", None)
    if resume is None:
        solved = spot
    else:
        solved = resume.spot if isinstance(resume, SpotSolution) else load_checkpoint(resume).spot
    for name in ("updates", "sampling"):  # checked: what a spot does anyway
        options.pop(name, None)
    with _progress(progress, options, title=solved.name or "spot", unit="% of the pot", scale=100 / solved.pot):
        if resume is None:
            return solve_spot(spot, **options)
        if options.pop("locks", ()):
            raise InvalidOption("locks", "", "cannot be changed by a resume")
        return resume_spot(resume, spot=spot, **options)


def _warn(problem: InvalidFile | None) -> None:
    if problem is not None:
        warnings.warn(str(problem), stacklevel=2)


@contextmanager
def _progress(wanted: bool, options: dict[str, Any], **line: Any) -> Iterator[None]:
    if not wanted:
        yield
        return
    told = options.get("report", lambda progress: None)
    with progress_line(**line, target=options.get("target")) as show:

        def report(progress: Any) -> None:
            show(progress)
            told(progress)

        options["report"] = report
        yield


@contextmanager
def _interrupts(options: dict[str, Any]) -> Iterator[Callable[[], bool]]:
    """Hear Ctrl-C between iterations, unless the caller hears it otherwise; yields whether it was heard."""
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if "interrupted" in options or not usual or threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    with catch_interrupts(signal.SIGINT) as interrupted:
        options["interrupted"] = interrupted
        yield interrupted
