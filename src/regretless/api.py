"""One `solve`, one `train` and one `load` for games and hold'em spots, as `import regretless as rl` offers them."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

from regretless.errors import Advice, InvalidFile, InvalidOption, MissingOption
from regretless.files.atomic import check_writable
from regretless.files.container import open_container
from regretless.games.flop_holdem import FlopHoldem
from regretless.games.game import Game
from regretless.games.push_fold import PushFold
from regretless.games.registry import as_game
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.game_reader import is_game_file
from regretless.holdem.spots.spot import Spot
from regretless.solving.game_problem import GameProblem
from regretless.solving.game_solution import GameSolution
from regretless.solving.loop import Progress
from regretless.solving.problem import Problem
from regretless.solving.progress.interrupt import catch_interrupts
from regretless.solving.progress.line import in_notebook, progress_line
from regretless.solving.public_problem import PublicProblem
from regretless.solving.request import EXACT, Kind, check_names, check_options
from regretless.solving.solution import Solution
from regretless.solving.solve import solve as solve_problem
from regretless.variants.presets import spelled_out
from regretless.variants.variant import Variant

if TYPE_CHECKING:
    from regretless.deep.engine import Watcher
    from regretless.deep.trained_policy import TrainedPolicy
    from regretless.holdem.solution import SpotSolution
    from regretless.holdem.spots.locks import AnyLock

__all__ = ["GameOptions", "SpotOptions", "load", "problem_of", "solve", "train"]

SPOT_FILES = "spot-"  # prefix of the kinds of files that hold spots
SPOT_WITH_BUCKETS = "spot-buckets"  # the kind of files of spots with buckets
FLOP_HOLDEM, PUSH_FOLD = "flop-holdem", "push-fold"  # the kinds of their files
HOLDEM_GAME = "holdem-game"  # the kind of files of games from the deal
TRAINED, TRAINED_FLOP_HOLDEM = "trained-policy", "trained-flop-holdem"  # the kinds of files that `train` writes


class CommonOptions(TypedDict, total=False):
    """Options for every problem; None means not given."""

    variant: str | Variant | None
    iterations: int | None
    target: float | None
    measure_every: int | None
    engine: str | None
    device: str | None
    threads: int | None
    checkpoint: str | Path | None
    save_every: float | None
    checkpointed: Callable[[InvalidFile | None], None] | None
    progress: bool | None
    report: Callable[[Progress], None] | None
    interrupted: Callable[[], bool] | None


class GameOptions(CommonOptions, total=False):
    """Options for a game."""

    form: str | None
    updates: str | None
    sampling: str | None
    batch_size: int | None
    seed: int | None
    storage: int | None  # in the public form
    resume: GameSolution | str | Path | None


class SpotOptions(CommonOptions, total=False):
    """Options for a hold'em spot."""

    storage: int | None
    buckets: str | None
    sample_runouts: int | None
    seed: int | None  # with buckets
    locks: Sequence[AnyLock] | None
    resume: SpotSolution | str | Path | None


@overload
def solve(what: Spot, **options: Unpack[SpotOptions]) -> SpotSolution: ...
@overload
def solve(what: Game[Any], **options: Unpack[GameOptions]) -> GameSolution: ...
@overload
def solve(what: str | Path | object | None = None, **options: Any) -> Any: ...  # known only at run time


def solve(what: Any = None, **options: Any) -> Any:
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
    - `updates`, `sampling`, `batch_size`, `seed`: games only. Who is updated when, and how much of the tree is walked.
    - `form`: games only. `"history"` (the default: engines derive the sequence form from it) or `"public"`, for kuhn,
      leduc and flop-holdem, which has no other.
    - `buckets`, `sample_runouts`: spots only. Solve with card buckets, `"turn=500,river=500"`, on so many runouts per
      iteration, 16 by default; `seed` decides which. Exploitability is still that of real hands on every runout.
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
    regretless.errors.InvalidOption: sampling: 'external' is for games: a hold'em spot is solved on the full tree
    """
    given = {name: value for name, value in options.items() if value is not None}
    check_names(given)
    if "keep_regrets" in given:
        raise InvalidOption(
            "keep_regrets", given["keep_regrets"], "is an option of the command line: save with resumable=True"
        )
    if given.get("variant") == EXACT:  # refuses `resume`, for example, before a file is opened
        check_options(Kind.EXACT if not _is_spot(what) else Kind.SPOT, given)
    if isinstance(resume := given.get("resume"), str | Path):
        given["resume"] = load(resume, to_resume=True)
    _check_checkpoint(what, given)
    return _solved(problem_of(what, given), given)


def train(
    what: Any = None,
    *,
    tensorboard: str | Path | None = None,
    watchers: Sequence[Watcher] = (),
    **options: Any,
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
    from regretless.deep.training import check_training, training_problem

    given = {name: value for name, value in options.items() if value is not None}
    check_training(given)
    if isinstance(resume := given.get("resume"), str | Path):
        given["resume"] = load(resume, to_resume=True)
    _check_checkpoint(what, given)
    problem = training_problem(what, given, watchers=watchers)
    if tensorboard is not None:
        problem.watchers = [*problem.watchers, Scalars(tensorboard)]
    solution: TrainedPolicy = _solved(problem, given)
    return solution


def _check_checkpoint(what: object, given: dict[str, Any]) -> None:
    if isinstance(saved := given.get("checkpoint"), str | os.PathLike):
        if isinstance(what, str | Path) and os.path.realpath(what) == os.path.realpath(saved):
            raise InvalidOption("checkpoint", str(saved), "is the input: save under another name")
        check_writable(saved)


def _solved(problem: Problem[Any, Any], given: dict[str, Any]) -> Any:
    """Solve with a line of progress and Ctrl-C handled."""
    wanted = given.get("progress", in_notebook())
    with _interrupts(given) as heard, _progress(wanted, given, problem):
        solution = solve_problem(problem, given)
    if heard() and solution.reason == "interrupted":
        sys.stderr.write(f"interrupted after {solution.iterations:,} iterations: the solution so far is returned\n")
    return solution


def load(path: str | Path, *, to_resume: bool = False) -> Solution:
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
    kind = open_container(path).kind
    if kind == SPOT_WITH_BUCKETS:
        from regretless.holdem.bucketed.solution import BucketedSpotSolution

        return BucketedSpotSolution.load(path, to_resume=to_resume)
    if kind.startswith(SPOT_FILES):
        from regretless.holdem.solution import SpotSolution

        return SpotSolution.load(path, to_resume=to_resume)
    if kind == HOLDEM_GAME:
        from regretless.holdem.nolimit.solution import NoLimitSolution

        return NoLimitSolution.load(path)
    if kind == FLOP_HOLDEM:
        from regretless.holdem.games.flop_holdem import FlopHoldemSolution

        return FlopHoldemSolution.load(path)
    if kind == PUSH_FOLD:
        from regretless.holdem.games.push_fold import PushFoldSolution

        return PushFoldSolution.load(path)
    if kind == TRAINED:
        from regretless.deep.trained_policy import TrainedPolicy

        return TrainedPolicy.load(path)
    if kind == TRAINED_FLOP_HOLDEM:
        from regretless.deep.flop_holdem import TrainedFlopHoldem

        return TrainedFlopHoldem.load(path)
    return GameSolution.load(path)


def problem_of(what: object, options: dict[str, Any]) -> Problem[Any, Any]:
    """The problem that was given, else the one that is resumed; takes the locks out of the options."""
    earlier = options.get("resume")
    if earlier is not None and not isinstance(earlier, Solution):
        raise InvalidOption("resume", type(earlier).__name__, "is neither a solution nor the path of a file")
    if what is None and earlier is None:
        raise MissingOption("what", "give a game, a spot, or a solve to resume")
    if isinstance(what, str | Path) and _is_spot(what):
        what = HoldemGame.read(what) if is_game_file(what) else Spot.read(what)
    if isinstance(what, Spot) or (what is None and hasattr(earlier, "spot")):
        from regretless.holdem.problem import spot_problem

        if options.get("buckets") is not None or getattr(earlier, "buckets", None) is not None:
            from regretless.holdem.bucketed.problem import bucketed_problem

            return bucketed_problem(what, options)
        return spot_problem(what, options)
    if isinstance(what, HoldemGame) or (what is None and hasattr(earlier, "boards")):
        from regretless.holdem.nolimit.problem import nolimit_problem

        return nolimit_problem(what, options)
    form = options.get("form")
    if earlier is not None:
        what = earlier.game if what is None else what
        form = form or earlier.settings.form
    rules = as_game(str(what) if isinstance(what, Path) else what)
    if isinstance(rules, FlopHoldem):
        from regretless.holdem.games.flop_holdem import FlopHoldemProblem

        if form == "history":
            raise InvalidOption("form", form, f"is not for {rules.name}, whose rules are too large to enumerate")
        return FlopHoldemProblem(rules)
    if isinstance(rules, PushFold):
        from regretless.holdem.games.push_fold import PushFoldProblem

        if form == "public":
            raise InvalidOption("form", form, f"is not for {rules.name}, which is solved in the history form")
        return PushFoldProblem(rules, sampled=spelled_out(options).get("sampling", "full") != "full")
    is_public = form == "public" and options.get("variant") != EXACT
    return PublicProblem(rules) if is_public else GameProblem(rules)


def _is_spot(what: object) -> bool:
    """Whether this is a spot, or the file of one."""
    return str(what).endswith(".toml") if isinstance(what, str | Path) else isinstance(what, Spot)


@contextmanager
def _progress(wanted: bool, options: dict[str, Any], problem: Problem[Any, Any]) -> Iterator[None]:
    if not wanted:
        yield
        return
    told = options.get("report", lambda progress: None)
    with progress_line(problem.name, unit=problem.unit, scale=problem.scale, target=options.get("target")) as show:

        def report(progress: Progress) -> None:
            show(progress)
            told(progress)

        options["report"] = report
        yield


@contextmanager
def _interrupts(options: dict[str, Any]) -> Iterator[Callable[[], bool]]:
    """Catch Ctrl-C between iterations, unless the caller does; yields a function that says whether it came."""
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if "interrupted" in options or not usual or threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    with catch_interrupts(signal.SIGINT) as interrupted:
        options["interrupted"] = interrupted
        yield interrupted
