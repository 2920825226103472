"""The price of a solved game over some flops or all of them: which, in what order, and what is known so far.

Flops are evaluated in a random order, the same every time, so that those done so far are always a random sample. The
result is computed from the values of all flops in the order in which they were chosen, so it does not depend on
what was computed in which run. A GPU and a CPU round differently, so its last digits may depend on which of them
evaluated a flop.

With a folder, flops that are done survive a stop. It is the state of a run, one file per flop, each complete or absent:

    price.json        whose price it is, and the answer of the last run that was finished
    flops/QsJh2h.rgl  [2, 2, lines, 169] the values where the betting of a flop begins, on every line that leads there

The values of a flop depend on nothing but the strategy, so a run may be killed at any time and started again, with the
same flops or others: what the folder has is not computed again. Before the flop a best response maximises over the
weighted sum of all flops, which is why vectors are stored and not one number per flop.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from regretless.cards.deck import board_text
from regretless.engines import (
    Evaluation,
    EvaluationStopped,
    FormKind,
    bucket_evaluators,
    devices,
    fastest,
    thread_limit,
)
from regretless.errors import Advice, InvalidFile, InvalidOption, WouldNotFit
from regretless.files.atomic import reason
from regretless.files.container import write_container
from regretless.files.fields import Fields
from regretless.files.state import check_state, replace_state, state_folder
from regretless.forms.memory import available_bytes
from regretless.holdem.flops import ALL_FLOPS, FLOP_CLASSES, Flop, read_flops
from regretless.holdem.form.betting import betting_of
from regretless.holdem.games.big_blinds import MILLI, DealtSolution
from regretless.holdem.games.flop_pricer import (
    CLASSES,
    FlopPricer,
    FlopTree,
    PreflopValues,
    Pricer,
    choose_device,
    flop_tree,
    priced,
    refuse_all,
)
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.game_spots import solve_saved, spot_at
from regretless.holdem.games.head_to_head import FlopPlayer, seats_on_flops
from regretless.holdem.games.reader import BucketedReader, DealtReader
from regretless.holdem.games.resolving_pricer import Resolving, ResolvingPricer
from regretless.holdem.games.resolving_reader import ResolvingReader
from regretless.holdem.games.safe_spots import Blueprint
from regretless.holdem.reading.line_reader import LineNode
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot import Spot
from regretless.solving.head_to_head import HeadToHead
from regretless.solving.kinds import Kind, open_file
from regretless.solving.loop import Progress
from regretless.solving.options import SolveOptions, SpotKeywords
from regretless.solving.solution import Solution

__all__ = ["Price", "PriceFolder", "PriceProgress", "PricedSolution", "Resolving", "price_game"]

Report = Callable[[Progress], None] | None

ANSWER, FLOPS = "price.json", "flops"
VERSION = 1
FILE_KIND = "flop-price"
VALUES = "values"
MAX_ANSWER = 2**20  # bytes


@dataclass(frozen=True)
class Price:
    """What a strategy loses to best responses with real cards, in its betting tree; values in big blinds."""

    game: str
    flops: str | None  # as chosen; None if the game has none
    count: int  # of flops priced
    evaluation: Evaluation
    seconds: float  # of all flops, also those that an earlier run evaluated
    threads: int
    device: str = "cpu"
    resolved: bool = False  # whether every flop was solved again
    safe: bool = False  # and safely

    @property
    def is_exact(self) -> bool:
        """Whether it covers every flop, or none is needed because nobody acts after the flop."""
        return self.count in (0, FLOP_CLASSES)

    @property
    def exploitability_mbb(self) -> float:
        """In thousandths of a big blind per game."""
        return MILLI * self.evaluation.exploitability

    @property
    def meaning(self) -> str:
        """What the number is, in words."""
        what = "exploitability with real cards in this betting tree"
        if self.count == 0:
            return f"{what}, exact: nobody acts after the flop"
        if self.resolved:
            what = f"{what}, every flop solved again{', safely' if self.safe else ''}"
        if self.is_exact:
            return f"{what}, over all {FLOP_CLASSES:,} flops: exact"
        return f"{what}, over {self.count:,} of {FLOP_CLASSES:,} flops (weighted subset): an estimate"

    def as_json(self) -> dict[str, object]:
        """One object for `--json`."""
        evaluation = self.evaluation
        return {
            "game": self.game,
            "meaning": self.meaning,
            "flops": self.flops,
            "flops_priced": self.count,
            "flops_of_the_game": FLOP_CLASSES,
            "is_exact": self.is_exact,
            "exploitability": evaluation.exploitability,
            "exploitability_mbb": self.exploitability_mbb,
            "nash_conv": evaluation.nash_conv,
            "values": list(evaluation.values),
            "best_response_values": list(evaluation.best_response_values),
            "seconds": self.seconds,
            "threads": self.threads,
            "device": self.device,
            "resolved": self.resolved,
            "safe": self.safe,
        }


class PricedSolution(DealtSolution):
    """A solved no-limit game from the deal."""

    rules: HoldemGame

    @property
    def has_flops(self) -> bool:
        """Whether anybody acts after the flop: otherwise a price needs no flops."""
        return bool(flop_tree(self.reader.tree).begins)

    def covers(self, flop: Sequence[int]) -> bool:
        """Whether the solution has a strategy on a flop."""
        return True

    @abstractmethod
    def flop_player(self, betting: FlopTree, threads: int) -> FlopPlayer:
        """What it plays on the flops that it covers."""

    def against(
        self,
        other: Solution,
        flops: str | int | Sequence[str] | None = None,
        *,
        resolve: Resolving | bool = False,
        threads: int | None = None,
        device: str = "auto",
        report: Callable[[int, int], None] = lambda done, total: None,
        **options: Any,
    ) -> HeadToHead:
        """Exact values against another solution of the same game over some flops, each in both seats, in big blinds.

        `flops` are those of `flops.read_flops`: by default those that both were solved on, or all 1,755 if both have
        buckets. With `resolve`, a solution that was not solved on a flop solves it with the ranges that arrive there by
        its own strategy, as it would in play. Hands that are all-in before the flop count over all boards. `report` is
        called with the number of flops done and the total; other options are as in `price`.
        """
        for option, value in options.items():
            raise InvalidOption(option, value, "is not for games from the deal")
        if not isinstance(other, PricedSolution) or replace(other.rules, name=self.rules.name) != self.rules:
            raise InvalidFile(other.where, f"is a solve of a different game from {self.where}")
        resolving = (Resolving() if resolve is True else resolve) or None
        seats, count = seats_on_flops(
            self.rules, (self, other), flops, resolving=resolving, threads=threads, device=device, report=report
        )
        return self.head_to_head(seats, flops=count)

    def spot_at(self, line: str = "", cards: Sequence[int] = ()) -> Spot:
        """The spot that begins where a line's last cards are dealt: "raise 2, call, Ks 7d 2c".

        It has the ranges that arrive there, and the pot, the stack and the bets of the game; `cards` are those that
        the line omits.
        """
        return spot_at(self.rules, self.reader, line, cards)

    def resolve(
        self,
        line: str = "",
        cards: Sequence[int] = (),
        *,
        safe: bool = False,
        folder: str | Path | None = None,
        **options: Unpack[SpotKeywords],
    ) -> SpotSolution:
        """Solve the spot at a line on its own, with the ranges that arrive there; options as in `solve` for spots.

        If `safe`, no hand of the opponent gains more than this solution lets it gain there, whatever range he brings;
        for boards that this solution `covers`. With a folder, the solution is saved there, and read from there the
        next time.
        """
        spot, blueprint = self.spot_at(line, cards), None
        if safe:
            if not self.covers(spot.board[:3]):
                reason = f"needs the values of hands on {board_text(spot.board[:3])}, which was not solved"
                raise InvalidOption("safe", safe, reason)
            blueprint = Blueprint(self.reader, self.reader.find(line, cards))
        return solve_saved(spot, None if folder is None else Path(folder), blueprint, **options)

    def resolving_reader(
        self,
        *,
        safe: bool = False,
        watch: Callable[[Spot], AbstractContextManager[Report]] | None = None,
        **options: Unpack[SpotKeywords],
    ) -> ResolvingReader:
        """A reader with a strategy on every flop, which is solved when it is dealt; options as in `resolve`.

        Each solve runs within `watch` of its spot, if that is given, and reports to the function that it returns.
        """
        if safe and self.settings.flops:
            reason = "needs the values of hands on every flop, which only a game solved with buckets has"
            raise InvalidOption("safe", safe, reason)
        checked = SolveOptions.read(options)  # now, not when the first flop is dealt
        checked.check(Kind.SPOT)
        if checked.device not in (None, "auto"):
            fastest(FormKind.PUBLIC, devices.device_type(checked.device))

        def solve(spot: Spot, node: LineNode) -> SpotSolution:
            blueprint = Blueprint(self.reader, node) if safe else None
            if watch is None:
                return solve_saved(spot, None, blueprint, **options)
            with watch(spot) as report:
                watched: SpotKeywords = {**options, "report": report}
                return solve_saved(spot, None, blueprint, **watched)

        return ResolvingReader(self.rules, self.reader, solve)

    def strategy_digest(self, *, preflop: bool = False) -> str:
        """What exploitability depends on: the game and the strategy, or, `preflop`, what it does before the flop."""
        digest = hashlib.sha256(self.rules.to_toml().encode())
        if preflop:
            for node in self.reader.before_cards():
                digest.update(np.ascontiguousarray(self.reader.class_strategy(node.index)).tobytes())
        return digest.hexdigest()

    def price(
        self,
        flops: str | int | Sequence[str] | None = None,
        *,
        resolve: Resolving | bool = False,
        folder: str | Path | None = None,
        threads: int | None = None,
        device: str = "auto",
        report: Callable[[PriceProgress], None] = lambda progress: None,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> Price | None:
        """Exact values and best responses with real cards, in big blinds: over all 1,755 flops, or some of them.

        `flops` are those of `flops.read_flops`, by default all. With a few, it is the exact exploitability in a game
        with only these flops, weighted, and an estimate of that of the whole game, biased upwards. With `resolve`, the
        strategy before the flop is priced as it would be played on flops that nobody solved: every flop is solved again
        with the ranges that arrive there; or, with `Resolving(safe=True)`, so that no hand gains more on it than
        against the strategy itself, which must then cover every flop. A flop takes from seconds to minutes, depending
        on the betting tree and the device. With a folder, flops that are done are stored, and a run that was stopped is
        resumed, on any device. `device` is "cpu", "cuda" or "auto": a GPU if there is one with enough memory, unless
        `threads` are given. A game without flops (`has_flops`) refuses `flops`, `resolve`, `threads` and any device but
        "auto". None if it was `interrupted`.
        """
        resolving = (Resolving() if resolve is True else resolve) or None
        return price_game(
            self.rules,
            self.reader,
            flops,
            folder=folder,
            digest="" if folder is None else self._digest(resolving),
            resolving=resolving,
            threads=threads,
            device=device,
            report=report,
            interrupted=interrupted,
        )

    def _digest(self, resolving: Resolving | None) -> str:
        """Whose values a folder holds."""
        if resolving is None:
            return self.strategy_digest()
        if resolving.safe:
            return hashlib.sha256(f"{self.strategy_digest()} {resolving}".encode()).hexdigest()
        return hashlib.sha256(f"{self.strategy_digest(preflop=True)} {resolving}".encode()).hexdigest()


@dataclass(frozen=True)
class PriceProgress:
    """How far the pricing of a game has got."""

    done: int  # flops
    total: int
    estimate: Evaluation | None  # from the flops done so far
    seconds_left: float | None


def price_game(
    game: HoldemGame,
    reader: DealtReader,
    flops: str | int | Sequence[str] | None = None,
    *,
    folder: str | Path | None = None,
    digest: str = "",
    resolving: Resolving | None = None,
    threads: int | None = None,
    device: str = "auto",
    report: Callable[[PriceProgress], None] = lambda progress: None,
    interrupted: Callable[[], bool] = lambda: False,
) -> Price | None:
    """Price a strategy over some flops, by default all; None if it was interrupted.

    With `resolving`, only what the strategy does before the flop counts: every flop is solved again.

    A game in which nobody acts after the flop is priced without flops and refuses them, and so any choice of how they
    are evaluated. With a folder, each flop is stored when it is done, and those that the folder has are not evaluated
    again; `digest` says whose they are. By default, it uses all cores, and a GPU if there is one with enough memory.
    """
    betting, name = betting_of(game), game.name or "hold'em"
    after_flop, strategy = flop_tree(betting.tree), cache(reader.class_strategy)
    if after_flop.begins:
        flops = "all" if flops is None else flops
        cores, evaluates_on = thread_limit(threads), choose_device(device, threads)
    else:
        options = {"flops": flops, "device": None if device == "auto" else device, "threads": threads}
        refuse_all(name, options | {"resolve": resolving})
        cores, evaluates_on = 1, "cpu"
    chosen = [] if flops is None else read_flops(flops)
    shape = (2, 2, len(after_flop.begins), CLASSES)
    store: PriceFolder | _InMemory = _InMemory() if folder is None else PriceFolder(Path(folder), digest, name, shape)
    store.prepare()

    def evaluation(total: PreflopValues) -> Evaluation:
        lines = {node: total[:, :, line] for line, node in enumerate(after_flop.chance)}
        return priced(betting.tree, betting.payoffs, strategy, lines, game.big_blind)

    def make_pricer(on: str) -> Pricer:
        if resolving is not None:
            return ResolvingPricer(
                after_flop,
                betting.payoffs,
                strategy,
                resolving,
                blueprint=covering_pricer(on) if resolving.safe else None,
                big_blind=game.big_blind,
                device=on,
                threads=cores,
                interrupted=interrupted,
            )
        return covering_pricer(on)

    def covering_pricer(on: str) -> FlopPricer:
        assert isinstance(reader, BucketedReader)
        return FlopPricer(
            after_flop,
            betting.payoffs,
            reader.buckets,
            reader.bucket_strategy,
            threads=cores,
            evaluators=bucket_evaluators(on, threads=cores, interrupted=interrupted),
        )

    so_far = _SoFar(len(chosen), shape, evaluation)
    missing = []
    for flop in chosen:
        stored = store.read(flop.text)
        if stored is None:
            missing.append(flop)
        else:
            so_far.add(flop, *stored)
    report(so_far.progress())
    if missing:
        pricer = make_pricer(evaluates_on)
        if pricer.device == "cuda" and device == "auto" and pricer.evaluation_bytes > pricer.free_bytes():
            pricer = make_pricer("cpu")
        _check_fits(pricer, cores)
        evaluates_on = pricer.device
        try:
            _evaluate(pricer, missing, store, so_far, report)
        except EvaluationStopped:
            return None
    total = np.zeros(shape)
    for flop in chosen:
        stored = store.read(flop.text)
        if stored is None:
            raise InvalidFile(store.where(flop.text), "was removed or damaged while the price was computed")
        total += flop.weight * stored[0]
    flops_text = None if flops is None else ", ".join(flops) if isinstance(flops, list | tuple) else str(flops)
    price = Price(
        name,
        flops_text,
        len(chosen),
        evaluation(total),
        so_far.seconds,
        cores,
        evaluates_on,
        resolved=resolving is not None,
        safe=resolving is not None and resolving.safe,
    )
    store.write_answer(price.as_json())
    return price


def _evaluate(
    pricer: Pricer,
    flops: Sequence[Flop],
    store: PriceFolder | _InMemory,
    so_far: _SoFar,
    report: Callable[[PriceProgress], None],
) -> None:
    """Evaluate flops in a random order, the same every time, and store each as soon as it is done."""
    in_order = [flops[index] for index in np.random.RandomState(0).permutation(len(flops))]
    began = time.monotonic()
    for flop, values in zip(in_order, pricer.each(flop.cards for flop in in_order), strict=True):
        ended = time.monotonic()
        store.write(flop.text, values, ended - began)
        so_far.add(flop, values, ended - began, is_new=True)
        report(so_far.progress())
        began = ended


def _check_fits(pricer: Pricer, threads: int) -> None:
    what, needed, free = "the price of a flop", pricer.evaluation_bytes, pricer.free_bytes()
    if pricer.device != "cpu" and needed > free:
        advice = [Advice("device", "cpu", "takes none of it")]
        raise WouldNotFit(what, needed=needed, available=free, memory="GPU memory", advice=advice)
    needed, free = pricer.memory_bytes, available_bytes()
    if needed > free:
        hint = "use fewer threads" if pricer.device == "cpu" and threads > 1 else ""
        raise WouldNotFit(what, needed=needed, available=free, hint=hint)


class _InMemory:
    """The values of flops in memory, for a price without a folder."""

    def __init__(self) -> None:
        self._stored: dict[str, tuple[PreflopValues, float]] = {}

    def prepare(self) -> None:
        """Nothing needs to be created."""

    def read(self, flop: str) -> tuple[PreflopValues, float] | None:
        return self._stored.get(flop)

    def write(self, flop: str, values: PreflopValues, seconds: float) -> None:
        self._stored[flop] = values, seconds

    def write_answer(self, answer: dict[str, object] | None) -> None:
        """The caller has it."""

    def where(self, flop: str) -> Path:
        return Path(flop)


class _SoFar:
    """The flops done so far, and the estimate that they give."""

    def __init__(self, flops: int, shape: tuple[int, ...], evaluation: Callable[[PreflopValues], Evaluation]) -> None:
        self.flops, self.evaluation = flops, evaluation
        self.total = np.zeros(shape)
        self.done, self.weight, self.seconds = 0, 0.0, 0.0
        self._new, self._new_seconds = 0, 0.0

    def add(self, flop: Flop, values: PreflopValues, seconds: float, *, is_new: bool = False) -> None:
        self.total += flop.weight * values
        self.done, self.weight, self.seconds = self.done + 1, self.weight + flop.weight, self.seconds + seconds
        if is_new:
            self._new, self._new_seconds = self._new + 1, self._new_seconds + seconds

    def progress(self) -> PriceProgress:
        estimate = self.evaluation(self.total * (ALL_FLOPS / self.weight)) if self.done else None
        left = (self.flops - self.done) * self._new_seconds / self._new if self._new else None
        return PriceProgress(self.done, self.flops, estimate, left)


@dataclass(frozen=True)
class PriceFolder:
    """The values of flops for one strategy, which its digest identifies."""

    path: Path
    digest: str
    game: str
    shape: tuple[int, ...]  # of the values of a flop

    def prepare(self) -> None:
        """Create the folder; refuse one that holds the price of another strategy, or something else."""
        answer = self.path / ANSWER
        if os.path.lexists(answer):
            self._check(answer)
        elif self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise InvalidFile(self.path, "is neither empty nor the folder of a price: choose another folder")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            state_folder(self.path / FLOPS, self.path)
        except OSError as error:
            raise InvalidFile(self.path, f"cannot be created: {reason(error)}") from None
        if not answer.exists():
            self.write_answer(None)

    def _check(self, answer: Path) -> None:
        fields = Fields.read(answer, self.path, largest=MAX_ANSWER)
        if fields.whole("version") != VERSION:
            raise InvalidFile(self.path, "was written by another version of Regretless: choose another folder")
        if fields.text("digest") != self.digest:
            raise InvalidFile(self.path, "holds the price of another strategy: choose another folder")

    def write_answer(self, answer: dict[str, object] | None) -> None:
        """Write the answer of a finished run; None: no run was finished yet."""
        table = {"version": VERSION, "game": self.game, "digest": self.digest, "answer": answer}
        with replace_state(self.path / ANSWER, self.path) as temporary:
            temporary.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")

    # --- flops -------------------------------------------------------------------------------------------------------

    def read(self, flop: str) -> tuple[PreflopValues, float] | None:
        """The values of a flop and the seconds they took; None if they are missing or damaged."""
        path = self.where(flop)
        check_state(path, self.path)
        if not path.exists():
            return None
        try:
            file = open_file(path, FILE_KIND)
            header = Fields(path, file.header)
            if header.text("digest") != self.digest or header.text("flop") != flop:
                return None
            file.check(VALUES, self.shape, (np.float64,))
            return file.array(VALUES), header.number("seconds", low=0.0)
        except InvalidFile:
            return None

    def write(self, flop: str, values: PreflopValues, seconds: float) -> None:
        """Store the values of a flop."""
        header = {"digest": self.digest, "flop": flop, "seconds": seconds}
        check_state(path := self.where(flop), self.path)
        write_container(path, FILE_KIND, header, {VALUES: np.ascontiguousarray(values)}, follow=False)

    def where(self, flop: str) -> Path:
        """The file of a flop."""
        return self.path / FLOPS / f"{flop}.rgl"
