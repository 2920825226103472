"""What a client has set, built and solved: the state that commands read and change, and the thread that solves.

Strategies that a client sets are evaluated before the next number is read, as if nothing was locked. Only locked nodes
keep what was set when the tree is solved again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.api import load, solve
from regretless.cards.hands import HAND_COUNT, hand_text
from regretless.cards.ranges import Range
from regretless.engines import available_cores
from regretless.errors import InvalidFile, InvalidText, RegretlessError
from regretless.forms.history import FloatArray
from regretless.forms.memory import available_bytes
from regretless.forms.public import BettingTree
from regretless.holdem.estimate import Estimate, estimate_spot
from regretless.holdem.fitting import check_fits
from regretless.holdem.form.betting import betting_tree
from regretless.holdem.locking import with_strategies
from regretless.holdem.problem import TARGET, spot_predicts
from regretless.holdem.reading.nodes import NodeView
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.locks import Lock, LockFrom, lock_text
from regretless.holdem.spots.sizes import number_text
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import MIN_AMOUNT, PLAYERS, Lines, PlayerName, Rules
from regretless.solving.loop import Progress
from regretless.upi.formatting import error_text, results_text
from regretless.upi.node_ids import TreeNode, find_node, line_text, locked_node

__all__ = ["Session", "Solving", "StopAt"]

Amounts = tuple[float, ...]  # what each player has put in after each action of a line
Send = Callable[[str], bool]  # prints a message of the solver between the answers; returns whether anybody reads

MAX_ITERATIONS = 100_000  # of one solve; by then, 32-bit numbers have converged as far as they can
MES_PCT_POT = 0.01  # how close to the best response `set_mes` comes, in percent of the pot
NEARLY_ONE = 0.02  # how far from 1 the frequencies of a hand may add up to
STOPPED = {"target": "required accuracy reached", "iterations": "steps done", "interrupted": "requested"}


@dataclass
class StopAt:
    """When a solve ends: at the accuracy, on request, and after so many seconds or iterations."""

    seconds: float | None = None
    iterations: int | None = None
    requested: bool = False


@dataclass
class Solving:
    """A solve in a thread of its own."""

    stop: StopAt
    thread: threading.Thread = field(init=False)
    is_finished: bool = False  # all but its last message


@dataclass
class Session:
    """One client's state."""

    send: Send
    board: tuple[int, ...] | None = None
    ranges: dict[PlayerName, Range] = field(default_factory=dict)
    pot: float | None = None
    stack: float | None = None
    rules: Rules = field(default_factory=lambda: Rules(min_bet=MIN_AMOUNT))
    _lines: dict[Amounts, None] | None = field(default_factory=dict)  # None: unknown, of a tree that was loaded
    removed: dict[Amounts, None] = field(default_factory=dict)  # whose last check or call is not possible
    notes: list[str] = field(default_factory=list)  # lines of `add_info_line`
    accuracy: float | None = None
    accuracy_is_fraction: bool = False
    threads: int | None = None

    spot: Spot | None = None  # that was built, or loaded, without locks
    solution: SpotSolution | None = None  # that was solved, or loaded
    measured: Progress | None = None  # last, by the solver that runs or ran
    edits: dict[str, tuple[TreeNode, FloatArray]] = field(default_factory=dict)  # by id, [actions, 1326] to play
    locks: dict[str, list[Lock]] = field(default_factory=dict)  # by node id
    solving: Solving | None = None
    _prepared: Callable[[], None] | None = None  # starts the solver, once the answer to `go` is out
    _evaluated: SpotSolution | None = None  # the solution with the edits
    _failure: str = ""  # why the last solve left no solution

    # --- building ----------------------------------------------------------------------------------------------------

    def describe(self) -> Spot:
        """The spot that was set, if its tree is possible; nothing is kept."""
        missing = {
            "set_board": self.board is None, "set_range OOP": "oop" not in self.ranges,
            "set_range IP": "ip" not in self.ranges, "set_pot": self.pot is None, "set_eff_stack": self.stack is None,
        }  # fmt: skip
        if any(missing.values()):
            names = ", ".join(name for name, is_missing in missing.items() if is_missing)
            raise RegretlessError(f"the tree needs {names} first")
        assert self.board is not None
        assert self.pot is not None
        assert self.stack is not None
        spot = Spot(
            board=self.board, pot=self.pot, stack=self.stack, oop=self.ranges["oop"], ip=self.ranges["ip"],
            rules=self.rules,
        )  # fmt: skip
        amounts = {"only": list(filter(None, self.lines)), "remove": list(self.removed)}
        texts = {
            kind: tuple(line_text(line, streets=len(spot.streets), stack=self.stack) for line in lines)
            for kind, lines in amounts.items()
        }
        spot = replace(spot, lines=Lines(only=texts["only"] or ("check",), remove=texts["remove"]))
        try:
            betting_tree(spot)
        except InvalidText as error:  # about a line, named as the client sent it
            fields = {f"lines.{kind}[{number}]": line for kind in amounts for number, line in enumerate(amounts[kind])}
            if error.field not in fields:
                raise
            sent = " ".join(map(number_text, fields[error.field]))
            raise RegretlessError(f"line {sent}{str(error).removeprefix(error.field)}") from None
        return spot

    @property
    def lines(self) -> dict[Amounts, None]:
        """The lines of the tree, in the order they were added."""
        if self._lines is None:
            raise RegretlessError("the lines of a loaded tree are not known: send clear_lines, then add_line")
        return self._lines

    def clear_lines(self) -> None:
        self._lines, self.removed = {}, {}

    def build(self) -> None:
        """Build the tree of what was set."""
        self._refuse_while_solving()
        spot = self.describe()
        self._check_fits(spot)
        self.forget()
        self.spot = spot

    def _check_fits(self, spot: Spot) -> None:
        """Refuse a spot that does not fit in memory, even without the solution."""
        self._evaluated = None
        free, threads = available_bytes(), self.threads or available_cores()
        if self.solution is not None and self.solution.path is None and self.solution.device == "cpu":
            free += self.solution.record.memory_bytes
        check_fits(spot, threads=threads, predicts=spot_predicts(spot, None), available=free, can_shrink=False)

    def estimate(self, spot: Spot) -> Estimate:
        """The size of a tree."""
        return estimate_spot(spot, threads=self.threads or available_cores(), predicts=spot_predicts(spot, None))

    def forget(self) -> None:
        """Forget the tree and everything that was solved."""
        self._refuse_while_solving()
        self.spot = self.solution = self.measured = None
        self.edits, self.locks = {}, {}
        self._evaluated, self._failure = None, ""

    def read_file(self, path: Path) -> None:
        """Read a solution, and set everything as it was solved."""
        self._refuse_while_solving()
        solution = load(path)
        if not isinstance(solution, SpotSolution):
            raise InvalidFile(path, "is no solution of a spot")
        spot, locks = solution.spot, _locks_by_node(solution.spot, path)
        self.forget()
        self.spot, self.locks, self.notes = replace(spot, locks=()), locks, []
        self.solution = replace(solution, spot=self._locked)
        self._lines, self.removed = None, {}
        self.board, self.pot, self.stack = spot.board, spot.pot, spot.stack
        self.rules = replace(self.rules, rake=spot.rules.rake, rake_cap=spot.rules.rake_cap)
        self.ranges = {player: spot.range_of(player) for player in PLAYERS}

    def save(self, path: Path, *, resumable: bool) -> None:
        """Write the solution to a file."""
        solution = self.current()
        if self.edits or any(isinstance(lock, LockFrom) for lock in solution.spot.locks):
            raise RegretlessError("strategies that were set are not part of a solution: send lock_node and go first")
        solution.save(path, resumable=resumable and solution.is_resumable)

    @property
    def built(self) -> Spot:
        if self.spot is None:
            raise RegretlessError("there is no tree: send build_tree or load_tree first")
        return self.spot

    @property
    def _locked(self) -> Spot:
        """What was built, with the locks, node by node."""
        return replace(self.built, locks=tuple(chain.from_iterable(self.locks.values())))

    @property
    def tree(self) -> BettingTree:
        return betting_tree(self.built)

    def node(self, text: str) -> TreeNode:
        return find_node(self.tree, self.built.board, text)

    # --- reading -----------------------------------------------------------------------------------------------------

    def current(self) -> SpotSolution:
        """The solution with what was set by hand; a tree that was not solved yet plays every action equally often."""
        self._refuse_while_solving()
        spot = self.built
        if self._failure:
            raise RegretlessError(f"the last solve failed ({self._failure}): send go again")
        if self.solution is None:
            self.solution = self._solve(spot, iterations=1)
        if not self.edits:
            return self.solution
        if self._evaluated is None:
            locks = [lock for node, strategy in self.edits.values() for lock in self._node_locks(node, strategy)]
            self._evaluated = with_strategies(self.solution, locks)
        return self._evaluated

    def view(self, node: TreeNode) -> NodeView:
        return self.current().node(", ".join(node.line))

    def _solve(self, spot: Spot | None, **options: Any) -> SpotSolution:
        solution = solve(spot, threads=self.threads, progress=False, **options)
        assert isinstance(solution, SpotSolution)
        return solution

    # --- editing -----------------------------------------------------------------------------------------------------

    def decision(self, text: str) -> TreeNode:
        """The decision with this id."""
        node = self.node(text)
        if node.player < 0 or not list(node.actions()):
            raise RegretlessError(f"{node.name}: nobody acts there")
        return node

    def strategy(self, node: TreeNode) -> tuple[NodeView, FloatArray]:
        """A decision, and [actions, 1326] what each hand does there, actions in the protocol's order."""
        view = self.view(node)
        strategy = np.zeros((len(view.actions), HAND_COUNT))
        strategy[:, view.acting.hand] = view.strategy[::-1]
        return view, strategy

    def edit(self, node: TreeNode, strategy: FloatArray) -> None:
        """Set [actions, 1326] the strategy of a node; hands whose frequencies are all 0 keep theirs."""
        if not np.isfinite(strategy).all() or (strategy < 0).any():
            raise RegretlessError(f"{node.name}: frequencies must be numbers from 0 to 1")
        view, before = self.strategy(node)
        hands = view.acting.hand
        total = strategy[:, hands].sum(axis=0)
        if wrong := [hand for hand, sum_ in zip(hands, total) if sum_ > 0 and abs(sum_ - 1) > NEARLY_ONE]:
            text = hand_text(int(wrong[0]))
            raise RegretlessError(f"{node.name}: the frequencies of {text} add up to {strategy[:, wrong[0]].sum():g}")
        played = np.where(total > 0, strategy[:, hands] / np.where(total > 0, total, 1.0), before[:, hands])
        after = np.zeros_like(before)
        after[:, hands] = played
        self.edits[node.name] = node, after
        self._evaluated = None

    def lock(self, node: TreeNode, selected: NDArray[np.bool_] | None = None) -> None:
        """Lock a node's strategy, of all hands or those selected [1326]."""
        self.locks[node.name] = self._node_locks(node, self.strategy(node)[1], selected)

    def unlock(self, node: TreeNode) -> None:
        self.locks.pop(node.name, None)

    def _node_locks(
        self, node: TreeNode, strategy: FloatArray, selected: NDArray[np.bool_] | None = None
    ) -> list[Lock]:
        """A lock for each different mix."""
        labels = [child.line[-1] for child in node.actions()]
        plays = strategy.sum(axis=0) > 0
        hands = np.flatnonzero(plays if selected is None else plays & selected)
        mixes: dict[bytes, list[int]] = {}
        for hand in hands:
            mixes.setdefault(strategy[:, hand].round(9).tobytes(), []).append(int(hand))
        locks = []
        for mix, members in mixes.items():
            shares = {label: float(share) for label, share in zip(labels, np.frombuffer(mix)) if share > 0}
            everyone = len(members) == int(plays.sum())
            locks.append(Lock(", ".join(node.line), shares, "" if everyone else ", ".join(map(hand_text, members))))
        return locks

    def play_best_response(self, player: PlayerName) -> None:
        """Let a player exploit the other as much as possible."""
        current, opponent = self.current(), PLAYERS[1 - PLAYERS.index(player)]
        with TemporaryDirectory(prefix="regretless-") as folder:
            path = Path(folder) / "opponent.rgl"
            current.save(path)
            spot = replace(self.built, locks=(LockFrom(str(path), player=opponent),))
            solved = self._solve(spot, target=MES_PCT_POT, iterations=MAX_ITERATIONS)
            self.solution = with_strategies(solved, ())
        self.edits, self._evaluated = {}, None

    # --- solving -----------------------------------------------------------------------------------------------------

    def prepare(self, stop: StopAt) -> None:
        """Make a solve ready, which begins once the answer to its command is out."""
        self._refuse_while_solving()
        spot, options = self._locked, self._options(stop)
        resume = self.solution
        if resume is None or not resume.is_resumable or resume.spot != spot:
            self._check_fits(spot)
            resume = self.solution = None
        else:
            options["iterations"] += resume.iterations
        self.edits = {}
        self._evaluated, self._failure = None, ""
        solving = self.solving = Solving(stop)
        solving.thread = threading.Thread(target=self._run, args=(solving, spot, resume, options), daemon=True)
        self._prepared = solving.thread.start

    def _options(self, stop: StopAt) -> dict[str, Any]:
        """The options of a solve, but for what is resumed."""
        target: float | None = TARGET
        if self.accuracy is not None:
            target = 100 * (self.accuracy if self.accuracy_is_fraction else self.accuracy / self.built.pot) or None
        began, self.measured = time.monotonic(), None

        def interrupted() -> bool:
            return stop.requested or (stop.seconds is not None and time.monotonic() - began >= stop.seconds)

        def report(progress: Progress) -> None:
            before = None if self.measured is None else self.measured.evaluation
            if progress.evaluation is not None and progress.evaluation is not before:
                self.measured = progress
                if not self.send("SOLVER:\n" + results_text(progress.seconds, progress.evaluation)):
                    stop.requested = True

        iterations = MAX_ITERATIONS if stop.iterations is None else stop.iterations
        return {"target": target, "iterations": iterations, "interrupted": interrupted, "report": report}

    def _run(self, solving: Solving, spot: Spot, resume: SpotSolution | None, options: dict[str, Any]) -> None:
        """Solve, in the solver's thread."""
        self.send("SOLVER: started")
        try:
            self.solution = self._solve(None if resume else spot, resume=resume, **options)
            reason = STOPPED.get(self.solution.reason, self.solution.reason)
            if self.solution.reason == "interrupted" and not solving.stop.requested:
                reason = "time is up"
        except Exception as error:  # whatever it is, the client waits for the last message
            reason = error_text(error)
            self._failure = reason if self.solution is None else ""
        solving.is_finished = True
        self.send(f"SOLVER: stopped ({reason})")

    def begin(self) -> None:
        """Start the solve that is ready, if there is one."""
        if self._prepared is not None:
            start, self._prepared = self._prepared, None
            start()

    def wait(self) -> None:
        """Wait until the solver stops."""
        self.begin()
        if self.solving is not None:
            self.solving.thread.join()
            self.solving = None

    def stop(self) -> None:
        """Stop the solver after its current iteration."""
        if self.solving is not None:
            self.solving.stop.requested = True
        self.wait()

    @property
    def is_solving(self) -> bool:
        """Whether the solver runs, or is about to."""
        return self.solving is not None and not self.solving.is_finished

    def _refuse_while_solving(self) -> None:
        if self.is_solving:
            raise RegretlessError("the solver is running: send stop or wait_for_solver first")
        self.wait()  # for its last message

    def close(self) -> None:
        """End the solver."""
        self.stop()


def _locks_by_node(spot: Spot, path: Path) -> dict[str, list[Lock]]:
    """The locks of a file by node id; another solution whose strategy they take is never opened."""
    locks: dict[str, list[Lock]] = {}
    for lock in spot.locks:
        try:
            if isinstance(lock, LockFrom):
                raise RegretlessError("it takes the strategy of another file")
            locks.setdefault(locked_node(betting_tree(spot), spot.board, lock).name, []).append(lock)
        except RegretlessError as error:
            raise InvalidFile(path, f"has the lock {lock_text(lock)!r}, which cannot be read: {error}") from None
    return locks
