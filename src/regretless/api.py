"""One `solve`, one `train` and one `load` for games and hold'em spots, as `import regretless as rl` offers them."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

from regretless.errors import Advice, InvalidFile, InvalidOption, MissingOption
from regretless.files.atomic import check_writable
from regretless.files.container import Container, open_container
from regretless.games.game import AnyGame
from regretless.games.registry import as_game
from regretless.solving.game_solution import GameSolution
from regretless.solving.interrupt import catch_interrupts
from regretless.solving.kinds import Kind, file_words, is_subject, kind_of, of_file
from regretless.solving.loop import Progress
from regretless.solving.options import EXACT, RULES, GameKeywords, SolveKeywords, SolveOptions, SpotKeywords
from regretless.solving.problem import AnyProblem
from regretless.solving.progress_line import in_notebook, progress_line
from regretless.solving.request import make_request
from regretless.solving.solution import Solution
from regretless.solving.solve import Hooks
from regretless.solving.solve import solve as solve_request

if TYPE_CHECKING:
    from regretless.deep.engine import Watcher
    from regretless.deep.trained_policy import TrainedPolicy
    from regretless.deep.training import TrainingKeywords
    from regretless.games.openspiel import LibraryGame
    from regretless.holdem.games.game import HoldemGame
    from regretless.holdem.games.real_cards import RealCardsSolution
    from regretless.holdem.games.whole_game import NoLimitSolution
    from regretless.holdem.solution import SpotSolution
    from regretless.holdem.spots.spot import Spot

__all__ = ["load", "problem_of", "read_solution", "solve", "train"]


@overload
def solve(what: Spot, **keywords: Unpack[SpotKeywords]) -> SpotSolution: ...
@overload
def solve(what: AnyGame | LibraryGame, **keywords: Unpack[GameKeywords]) -> GameSolution: ...
@overload
def solve(what: HoldemGame, **keywords: Unpack[SpotKeywords]) -> NoLimitSolution | RealCardsSolution: ...
@overload
def solve(what: str | Path | None = None, **keywords: Unpack[SolveKeywords]) -> Solution: ...


def solve(what: object = None, **keywords: Any) -> Solution:
    """Solve a game or a hold'em spot.

    `what` is a game (its rules, its name such as `"leduc(ranks=6)"`, an OpenSpiel game) or a spot (a `Spot`, or the
    path of its `.toml` file). Options that do not apply to the problem are refused by name.

    - `variant`: a name in `variants.PRESETS` or of the literature (`"cfr+"`, `"dcfr"`, `"mccfr"`), one with parameters
      (`"discounted(gamma=3)"`) or a variant object; by
      default `plus` for games (`predictive-discounted-plus` for push-fold, `discounted` for flop-holdem) and
      `postflop`, `turn` or `river` for spots (`discounted` with buckets). `"lp"` gives the exact equilibrium of a small
      two-player zero-sum game.
    - `iterations`, `target`: when to stop. By default, a game runs for 1,000 iterations, or with a target (in the
      game's units; in mbb/g for push-fold and flop-holdem) for at most 1,000,000. Push-fold stops at a target of
      0.00001 mbb/g, or after 5,000; a spot stops at a target of 0.3 percent of the pot, or after 10,000.
    - `measure_every`: iterations between measurements of exploitability; by default a tenth of those done. With a
      target, at most as many as have been done, and fewer the closer the target is. With buckets, only at the end or,
      with a target, every hundred.
    - `updates`, `sampling`, `batch_size`: games only. Who is updated when, and how much of the tree is walked.
    - `seed`: of a solve that samples.
    - `form`: games only. `"history"` (the default: engines derive the sequence form from it) or `"public"`, for kuhn,
      leduc and flop-holdem, which has no other.
    - `buckets`: spots and hold'em from the deal. Solve with card buckets, `"turn=500,river=500"`. The exploitability of
      a spot is still that of real hands on every runout.
    - `sample_runouts`: spots and hold'em from the deal. How many runouts an iteration draws, with `flops` of each flop;
      by default all, or 16 with buckets. `seed` decides which.
    - `flops`: hold'em from the deal only. Solve it with real cards, without buckets, on these flops, weighted to stand
      for all: `"subset(25)"`, `"all"`, properties or a list. Targets and exploitability are in mbb/g.
    - `shards`: with `flops` only. Share the flops among so many processes, each with its own; the numbers are the same.
    - `storage`: spots and the public form only. Bits per stored number, 32 or 16.
    - `locks`: spots only. Locked decisions.
    - `engine`, `device`, `threads`: what to run on; `threads` is a maximum.
    - `resume`: a solution or a `.rgl` file to continue from; `what` may then be omitted.
    - `checkpoint`: a `.rgl` file to save to every `save_every` seconds and on interrupts. After each, `checkpointed`
      is called with None, or with the error if it could not be written, which does not end the solve.
    - `progress`: whether to show a line of progress; by default only in notebooks. `report` is called with each
      `Progress`, and `interrupted` returns whether to stop early.

    Ctrl-C, or a notebook's stop button, ends the solve between two iterations: the solution so far is returned, with
    `reason == "interrupted"`, and a line on stderr says so. A second Ctrl-C raises `KeyboardInterrupt`.

    >>> round(solve("kuhn", variant="plus", iterations=1000).values[0], 3)
    -0.056
    >>> from regretless.holdem import Spot
    >>> ranges = {"oop": {"range": "AK"}, "ip": {"range": "QQ, JT"}}
    >>> bets = {"board": "Kh Qs Js 2c 3d", "pot": 100, "stack": 200, "bets": {"bet": "50%"}}
    >>> spot = Spot.from_mapping(ranges | bets)
    >>> solve(spot, target=0.1).exploitability_pct_pot <= 0.1
    True
    >>> solve(spot, sampling="external")
    Traceback (most recent call last):
    regretless.errors.InvalidOption: sampling: 'external' is for games: a hold'em spot has sample_runouts
    """
    options = SolveOptions.read(keywords)
    if options.keep_regrets is not None:
        raise InvalidOption(
            "keep_regrets", options.keep_regrets, "is an option of the command line: save with resumable=True"
        )
    if options.variant == EXACT and options.resume is not None:  # before its file is opened
        raise InvalidOption("resume", str(options.resume), RULES["resume"].refused[Kind.EXACT].why)
    options = _load_resumed(options)
    _check_checkpoint(what, options)
    return _solve_problem(problem_of(what, options), options)


def train(
    what: Any = None,
    *,
    tensorboard: str | Path | None = None,
    watchers: Sequence[Watcher] = (),
    **keywords: Unpack[TrainingKeywords],
) -> TrainedPolicy:
    """Train a policy for a game with neural networks: Deep CFR, or Single Deep CFR.

    `what` is a game, as in `solve`: one that can be enumerated, or `"flop-holdem"`. Exploitability is exact.

    - `preset`: the settings to start from: `"small"` (the default), `"fhp"` or `"hulh"`. Any field of
      `deep.settings.TrainingSettings` changes one of them: `traversals=2_000, width=32, algorithm="single"`.
    - `iterations`, `target`: when to stop. By default, the preset says after how many iterations.
    - `measure_every`: iterations between measurements of exploitability; by default a fifth of `iterations`. Measuring
      fits a policy network, which takes a while, and changes nothing in the training.
    - `seed`, `device`, `threads`: equal ones give equal results to the last bit.
    - `tensorboard`: a folder for TensorBoard, which gets losses, memories and exploitability. `watchers` are told the
      same: see `deep.engine.Watcher`.
    - `resume`, `checkpoint`, `save_every`, `checkpointed`, `progress`, `report`, `interrupted`, and Ctrl-C: as in
      `solve`. A file that is to be resumed needs its memories: `save(path, resumable=True)`.

    >>> trained = train("kuhn", iterations=3, traversals=100, value_steps=20, policy_steps=50, seed=7)
    >>> trained.iterations, len(trained.history), sorted(trained.strategy["0:"])
    (3, 3, ['b', 'p'])
    >>> train("kuhn", width=0)
    Traceback (most recent call last):
    regretless.errors.InvalidSettings: width: 0 must be a whole number of at least 1
    """
    from regretless.deep.tensorboard import Scalars
    from regretless.deep.trained_policy import TrainedPolicy
    from regretless.deep.training import TrainingOptions, training_problem

    options = TrainingOptions.read(keywords)
    options = replace(options, loop=_load_resumed(options.loop))
    _check_checkpoint(what, options.loop)
    problem = training_problem(what, options, watchers=watchers)
    if tensorboard is not None:
        problem.watchers = [*problem.watchers, Scalars(tensorboard)]
    solution = _solve_problem(problem, options.loop)
    assert isinstance(solution, TrainedPolicy)
    return solution


def _load_resumed(options: SolveOptions) -> SolveOptions:
    """The options, with the solution to resume read from its file."""
    if isinstance(options.resume, str | Path):
        return replace(options, resume=load(options.resume))
    return options


def _check_checkpoint(what: object, options: SolveOptions) -> None:
    """Refuse a checkpoint that would overwrite the input or that cannot be written."""
    if isinstance(options.checkpoint, str | os.PathLike):
        if isinstance(what, str | Path) and os.path.realpath(what) == os.path.realpath(options.checkpoint):
            raise InvalidOption("checkpoint", str(options.checkpoint), "is the input: save under another name")
        check_writable(options.checkpoint)


def _solve_problem(problem: AnyProblem, options: SolveOptions) -> Solution:
    """Solve a problem with a progress line; Ctrl-C ends it between two iterations."""
    request, hooks = make_request(problem, options), Hooks.of(options)
    with _interrupts(hooks, options) as (hooks, interrupted), _progress(hooks, options, problem) as hooks:
        solution = solve_request(request, hooks)
    if interrupted() and solution.reason == "interrupted":
        sys.stderr.write(f"interrupted after {solution.iterations:,} iterations: the solution so far is returned\n")
    return solution


def load(path: str | Path) -> Solution:
    """Read the solution of a game or a spot, or a trained policy, from its `.rgl` file.

    >>> load("no-such-file.rgl")
    Traceback (most recent call last):
    regretless.errors.InvalidFile: no-such-file.rgl: does not exist
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidOption("path", path, "is not the path of a file")
    if os.path.isfile(path) and Path(path).suffix == ".toml":
        command, keyword = f"regretless solve {path} --out {Path(path).stem}.rgl", f"rl.solve({str(path)!r})"
        raise InvalidFile(path, "is not solved", [Advice("solve", None, "", command, keyword)])
    return read_solution(open_container(path))


def read_solution(file: Container) -> Solution:
    """The solution in an opened file."""
    row = of_file(file.kind)
    if row is None:
        raise InvalidFile(file.path, f"contains {file_words(file.kind)}, not a solved game")
    solution: Solution = row.solution_class.read(file)
    return solution


def read_subject(what: object) -> Any:
    """The rules, spot or whole game that `what` is, names, or is the path of: a `.toml` file."""
    if isinstance(what, str | Path) and str(what).endswith(".toml"):
        from regretless.holdem.games.game import read_spot_or_game

        return read_spot_or_game(what)
    if is_subject(what):
        return what
    return as_game(str(what) if isinstance(what, Path) else what)


def problem_of(what: object, options: SolveOptions) -> AnyProblem:
    """The problem of `what`, else that of the solve to resume."""
    earlier = options.resume
    if earlier is not None and not isinstance(earlier, Solution):
        raise InvalidOption("resume", type(earlier).__name__, "is neither a solution nor the path of a file")
    if what is None:
        if earlier is None:
            raise MissingOption("what", "give a game, a spot, or a solve to resume")
        what = earlier.subject
    what = read_subject(what)

    def option(name: str) -> object:
        """As requested, else as in the earlier solve."""
        requested = getattr(options, name)
        return requested if requested or earlier is None else getattr(earlier.settings, name, None)

    problem: AnyProblem = kind_of(what, option).problem_class(what, options)
    return problem


@contextmanager
def _progress(hooks: Hooks, options: SolveOptions, problem: AnyProblem) -> Iterator[Hooks]:
    """Hooks that also show a line of progress, if one is wanted."""
    if not (in_notebook() if options.progress is None else options.progress):
        yield hooks
        return
    with progress_line(problem.name, unit=problem.unit, scale=problem.scale, target=options.target) as show:

        def report(progress: Progress) -> None:
            show(progress)
            if hooks.report is not None:
                hooks.report(progress)

        yield replace(hooks, report=report)


@contextmanager
def _interrupts(hooks: Hooks, options: SolveOptions) -> Iterator[tuple[Hooks, Callable[[], bool]]]:
    """Catch Ctrl-C between iterations, unless the caller does; yields a function that says whether it came."""
    has_default_handler = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    in_main_thread = threading.current_thread() is threading.main_thread()
    if options.interrupted is not None or not has_default_handler or not in_main_thread:
        yield hooks, lambda: False
        return
    with catch_interrupts(signal.SIGINT) as interrupted:
        yield replace(hooks, interrupted=interrupted), interrupted
