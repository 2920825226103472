"""The price of a solved game over some flops or all of them: which, in what order, and what is known so far.

Flops are evaluated in a random order, the same every time, so that those done so far are always a random sample. The
result is computed from the values of all flops in the order in which they were chosen, so it does not depend on
what was computed in which run. A GPU and a CPU round differently, so its last digits may depend on which of them
evaluated a flop.

The values of a flop depend on nothing but the strategy, so a run with a folder (`price_folder`) may be killed at any
time and started again, with the same flops or others: what the folder has is not computed again. Before the flop a best
response maximises over the weighted sum of all flops, which is why vectors are stored and not one number per flop.
"""

from __future__ import annotations

import hashlib
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import fmean
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
from regretless.forms.memory import available_bytes
from regretless.holdem.flops import ALL_FLOPS, FLOP_CLASSES, Flop, read_flops
from regretless.holdem.form.betting import Betting, betting_of
from regretless.holdem.games.big_blinds import MILLI, DealtSolution
from regretless.holdem.games.flop_pricer import (
    CLASSES,
    FlopPricer,
    FlopTree,
    PreflopValues,
    Pricer,
    choose_device,
    evaluate_game,
    flop_tree,
    refuse_all,
)
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.game_spots import solve_saved, spot_at
from regretless.holdem.games.head_to_head import FlopPlayer, seats_on_flops
from regretless.holdem.games.price_folder import PriceFolder, PriceMemory, StoredFlop
from regretless.holdem.games.reader import BucketedReader, DealtReader
from regretless.holdem.games.resolving_pricer import Resolving, ResolvingPricer
from regretless.holdem.games.resolving_reader import ResolvingReader
from regretless.holdem.games.safe_spots import Blueprint
from regretless.holdem.reading.line_reader import LineNode
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.spot import Spot
from regretless.solving.head_to_head import HeadToHead
from regretless.solving.kinds import Kind
from regretless.solving.loop import Progress
from regretless.solving.options import SolveOptions, SpotKeywords
from regretless.solving.solution import Solution

__all__ = ["Price", "PriceProgress", "PricedSolution", "Resolving", "price_game"]

Report = Callable[[Progress], None] | None

MIN_EXTRAPOLATED = 10  # flops; the price over fewer is not extrapolated
HALVINGS = 16


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
    over_all_flops: float | None = None  # exploitability extrapolated to all flops; None if exact, or of few flops

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
            "over_all_flops_mbb": None if self.over_all_flops is None else MILLI * self.over_all_flops,
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

    def is_of(self, game: HoldemGame) -> bool:
        """Whether it solves a game, whatever that is called."""
        return replace(game, name=self.rules.name) == self.rules

    def check_resumes(self, game: HoldemGame) -> None:
        """Refuse to resume it as the solve of another game."""
        if not self.is_of(game):
            reason = f"is a solve of a different game from {game.name or 'the one given'}"
            raise InvalidOption("resume", self.where, reason)

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
        if not isinstance(other, PricedSolution) or not self.is_of(other.rules):
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
        folder: str | Path | None = None,
        watch: Callable[[Spot], AbstractContextManager[Report]] | None = None,
        **options: Unpack[SpotKeywords],
    ) -> ResolvingReader:
        """A reader with a strategy on every flop, which is solved when it is dealt; options and folder as in `resolve`.

        Each solve runs within `watch` of its spot, if that is given, and reports to the function that it returns.
        """
        self.check_resolving(safe=safe, **options)  # now, not when the first flop is dealt
        path = None if folder is None else Path(folder)

        def solve(spot: Spot, node: LineNode) -> SpotSolution:
            blueprint = Blueprint(self.reader, node) if safe else None
            if watch is None:
                return solve_saved(spot, path, blueprint, **options)
            with watch(spot) as report:
                watched: SpotKeywords = {**options, "report": report}
                return solve_saved(spot, path, blueprint, **watched)

        return ResolvingReader(self.rules, self.reader, solve)

    @property
    def has_values(self) -> bool:
        """Whether it knows what hands are worth on every flop, as safe re-solving needs."""
        return not self.settings.flops

    def check_resolving(self, *, safe: bool = False, **options: Unpack[SpotKeywords]) -> None:
        """Refuse options with which no flop could be solved."""
        if safe and not self.has_values:
            reason = "needs the values of hands on every flop, which only a game solved with buckets has"
            raise InvalidOption("safe", safe, reason)
        checked = SolveOptions.read(options)
        checked.check(Kind.SPOT)
        if checked.device not in (None, "auto"):
            fastest(FormKind.PUBLIC, devices.device_type(checked.device))

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
    after_flop = flop_tree(betting.tree)
    if after_flop.begins:
        flops = "all" if flops is None else flops
        cores, priced_on = thread_limit(threads), choose_device(device, threads)
    else:
        options = {"flops": flops, "device": None if device == "auto" else device, "threads": threads}
        refuse_all(name, options | {"resolve": resolving})
        cores, priced_on = 1, "cpu"
    chosen = [] if flops is None else read_flops(flops)
    work = _Pricing(game, reader, betting, after_flop, resolving, cores, interrupted)
    shape = (2, 2, len(after_flop.begins), CLASSES)
    store = PriceMemory() if folder is None else PriceFolder(Path(folder), digest, name, shape)
    store.prepare()
    so_far = _SoFar(len(chosen), shape, work.evaluation)
    missing = []
    for flop in chosen:
        stored = store.read(flop.text)
        if stored is None:
            missing.append(flop)
        else:
            so_far.add(flop, stored)
    report(so_far.progress())
    if missing:
        pricer = work.fitting_pricer(priced_on, may_move=device == "auto")
        priced_on = pricer.device
        try:
            _price_flops(pricer, missing, store, so_far, report)
        except EvaluationStopped:
            return None
    evaluation, over_all = work.evaluation(_total(chosen, store, shape)), None
    if MIN_EXTRAPOLATED <= len(chosen) < FLOP_CLASSES:
        over_all = _over_all_flops(evaluation, chosen, store, work.evaluation)
    price = Price(
        game=name,
        flops=_flops_text(flops),
        count=len(chosen),
        evaluation=evaluation,
        seconds=so_far.seconds,
        threads=cores,
        device=priced_on,
        resolved=resolving is not None,
        safe=resolving is not None and resolving.safe,
        over_all_flops=over_all,
    )
    store.write_price(price.as_json())
    return price


def _flops_text(flops: str | int | Sequence[str] | None) -> str | None:
    if flops is None:
        return None
    return ", ".join(flops) if isinstance(flops, list | tuple) else str(flops)


def _price_flops(
    pricer: Pricer,
    flops: Sequence[Flop],
    store: PriceFolder | PriceMemory,
    so_far: _SoFar,
    report: Callable[[PriceProgress], None],
) -> None:
    """Evaluate flops in a random order, the same every time, and store each as soon as it is done."""
    in_order = [flops[index] for index in np.random.RandomState(0).permutation(len(flops))]
    began = time.monotonic()
    for flop, values in zip(in_order, pricer.each(flop.cards for flop in in_order), strict=True):
        ended = time.monotonic()
        stored = StoredFlop(values, ended - began)
        store.write(flop.text, stored)
        so_far.add(flop, stored, is_new=True)
        report(so_far.progress())
        began = ended


def _total(flops: Sequence[Flop], store: PriceFolder | PriceMemory, shape: tuple[int, ...]) -> PreflopValues:
    """The weighted sum of the values of all flops, which have been stored."""
    total = np.zeros(shape)
    for flop in flops:
        stored = store.read(flop.text)
        if stored is None:
            raise InvalidFile(store.file_of(flop.text), "was removed or damaged while the price was computed")
        total += flop.weight * stored.values
    return total


def _over_all_flops(
    whole: Evaluation,
    flops: Sequence[Flop],
    store: PriceFolder | PriceMemory,
    evaluation: Callable[[PreflopValues], Evaluation],
) -> float:
    """The exploitability over all N flops, extrapolated from that over these n and over random halves of them.

    A best response gains from knowing which flops may come. If that is b (1/n − 1/N) over n flops and b (2/n − 1/N)
    over half of them, the halves show b. It is so if every hand gains only where two actions are nearly worth the same.
    """
    stored = [store.read(flop.text) for flop in flops]
    weighted = np.array([flop.weight * each.values for flop, each in zip(flops, stored, strict=True) if each])
    weights = np.array([flop.weight for flop in flops])
    random, half, gains = np.random.RandomState(0), len(flops) // 2, []
    for _ in range(HALVINGS):
        order = random.permutation(len(flops))
        for rows in (order[:half], order[half : 2 * half]):
            over_half = evaluation(weighted[rows].sum(axis=0) * (ALL_FLOPS / weights[rows].sum()))
            gains.append(over_half.exploitability - whole.exploitability)
    more = len(flops) / half - 1  # 1 for an even number of flops
    gain_of_knowing = fmean(gains) / more * (1 - len(flops) / FLOP_CLASSES)
    return max(0.0, whole.exploitability - gain_of_knowing)


class _Pricing:
    """What is priced, and by which pricer."""

    def __init__(
        self,
        game: HoldemGame,
        reader: DealtReader,
        betting: Betting,
        after_flop: FlopTree,
        resolving: Resolving | None,
        threads: int,
        interrupted: Callable[[], bool],
    ) -> None:
        self.game, self.reader, self.betting, self.after_flop = game, reader, betting, after_flop
        self.resolving, self.threads, self.interrupted = resolving, threads, interrupted
        self.strategy = cache(reader.class_strategy)

    def evaluation(self, total: PreflopValues) -> Evaluation:
        """Values and best responses of the whole game, from the weighted sum over flops."""
        lines = {node: total[:, :, line] for line, node in enumerate(self.after_flop.chance)}
        return evaluate_game(self.betting.tree, self.betting.payoffs, self.strategy, lines, self.game.big_blind)

    def fitting_pricer(self, device: str, *, may_move: bool) -> Pricer:
        """A pricer that fits in memory; if it `may_move`, it moves from a GPU that is too small to the CPU."""
        pricer = self._pricer(device)
        if pricer.device == "cuda" and may_move and pricer.evaluation_bytes > pricer.free_bytes():
            pricer = self._pricer("cpu")
        _check_fits(pricer, self.threads)
        return pricer

    def _pricer(self, device: str) -> Pricer:
        if self.resolving is None:
            return self._flop_pricer(device)
        return ResolvingPricer(
            self.after_flop,
            self.betting.payoffs,
            self.strategy,
            self.resolving,
            blueprint=self._flop_pricer(device) if self.resolving.safe else None,
            big_blind=self.game.big_blind,
            device=device,
            threads=self.threads,
            interrupted=self.interrupted,
        )

    def _flop_pricer(self, device: str) -> FlopPricer:
        """The pricer of a strategy that covers every flop."""
        assert isinstance(self.reader, BucketedReader)
        return FlopPricer(
            self.after_flop,
            self.betting.payoffs,
            self.reader.buckets,
            self.reader.bucket_strategy,
            threads=self.threads,
            evaluators=bucket_evaluators(device, threads=self.threads, interrupted=self.interrupted),
        )


def _check_fits(pricer: Pricer, threads: int) -> None:
    what, needed, free = "the price of a flop", pricer.evaluation_bytes, pricer.free_bytes()
    if pricer.device != "cpu" and needed > free:
        advice = [Advice("device", "cpu", "takes none of it")]
        raise WouldNotFit(what, needed=needed, available=free, memory="GPU memory", advice=advice)
    needed, free = pricer.memory_bytes, available_bytes()
    if needed > free:
        hint = "use fewer threads" if pricer.device == "cpu" and threads > 1 else ""
        raise WouldNotFit(what, needed=needed, available=free, hint=hint)


class _SoFar:
    """The flops done so far, and the estimate that they give."""

    def __init__(self, flops: int, shape: tuple[int, ...], evaluation: Callable[[PreflopValues], Evaluation]) -> None:
        self.flops, self.evaluation = flops, evaluation
        self.total = np.zeros(shape)
        self.done, self.weight, self.seconds = 0, 0.0, 0.0
        self._new, self._new_seconds = 0, 0.0

    def add(self, flop: Flop, stored: StoredFlop, *, is_new: bool = False) -> None:
        """Count a flop; `is_new` if this run evaluated it."""
        self.total += flop.weight * stored.values
        self.done += 1
        self.weight += flop.weight
        self.seconds += stored.seconds
        if is_new:
            self._new += 1
            self._new_seconds += stored.seconds

    def progress(self) -> PriceProgress:
        """How far it has got: the estimate scales the flops done to all, the time left is by those of this run."""
        estimate = self.evaluation(self.total * (ALL_FLOPS / self.weight)) if self.done else None
        seconds_left = (self.flops - self.done) * self._new_seconds / self._new if self._new else None
        return PriceProgress(self.done, self.flops, estimate, seconds_left)
