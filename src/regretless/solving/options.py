"""What a solve can be asked: one record, whose fields say what they must be and which kinds of problem they are for.

The keywords of `rl.solve`, the flags of the command, the page's JSON, a study's fields and a worker's job all become
one `SolveOptions`. It is passed whole and checked once, when it meets its problem (`request.make_request`): each option
is honoured or refused by name. None means not given.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from enum import StrEnum
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypedDict

from regretless.engines import NUMBER_FORMATS, Sampling, Updates
from regretless.errors import InvalidFile, InvalidOption
from regretless.solving.kinds import Kind
from regretless.solving.loop import Progress
from regretless.solving.record import FORMS
from regretless.solving.solution import Solution
from regretless.variants.presets import replace_mccfr
from regretless.variants.variant import Variant

__all__ = [
    "DEVICES", "EXACT", "NO_OPTIONS", "RULES", "CommonKeywords", "GameKeywords", "LoopKeywords", "Refusal", "Rule",
    "SolveKeywords", "SolveOptions", "SpotKeywords", "check_names",
]  # fmt: skip

EXACT = "lp"  # the variant that does not iterate: the equilibrium by linear program
DEVICES = ("auto", "cpu", "cuda", "mps")


@dataclass(frozen=True)
class Refusal:
    """Why an option does not apply to a kind of problem, after "option: value"; `unless` lists harmless values."""

    why: str
    unless: tuple[object, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What an option must be, and the kinds of problem it does not apply to."""

    fits: Callable[[Any], bool]
    text: str  # what `fits` requires, after "option: value"
    fixed: bool  # whether a resume must keep the original value
    refused: Mapping[Kind, Refusal]

    def broken_by(self, value: object) -> str:
        """What is wrong with a value that does not fit: not a number at all, or one that is not allowed."""
        if self.fits is _is_count and not _is_whole(value):
            return "must be a whole number"
        return "must be a number" if self.fits is _is_positive and not _is_number(value) else self.text


def _rule(
    *, fits: Callable[[Any], bool] = lambda value: True, rule: str = "", fixed: bool = False, **refused: Refusal
) -> dict[str, Rule]:
    """The rule of a field; `refused` are the kinds of problem it does not apply to."""
    kinds = {Kind(kind): refusal for kind, refusal in refused.items()}
    return {"rule": Rule(fits=fits, text=rule, fixed=fixed, refused=kinds)}


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_positive(value: Any) -> bool:
    return _is_number(value) and bool(value > 0)  # NaN is not


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_whole(value) and bool(value >= 1)


_EXACT = "cannot be combined with variant lp, a linear program on the CPU"
_NOT_EXACT = Refusal("cannot be combined with variant lp, which does not iterate")
_ONE = "must be at least 1"
_FUNCTION = "must be a function"
_STORAGES = Refusal(f"is not one of {', '.join(map(str, NUMBER_FORMATS))} bits", unless=tuple(NUMBER_FORMATS))
_SPOTS = Refusal("is for hold'em spots")
_REGRETS = Refusal("is for hold'em spots: the file of a game always includes its regrets", unless=(False,))
_UNMEASURED = Refusal("is not for games from the deal: their exploitability is not measured while they are solved")
_TRAINING = "is for solve: training"
_SAMPLED = f"{_TRAINING} samples externally"
_FLOPS = Refusal("is for hold'em from the deal")
_SHARDS = Refusal("is for hold'em from the deal on some flops")


@dataclass(frozen=True, kw_only=True)
class SolveOptions:
    """The options of a solve."""

    variant: str | Variant | None = field(
        default=None,
        metadata=_rule(
            training=Refusal(f"{_TRAINING} is linear CFR; algorithm chooses between deep and single"), fixed=True
        ),
    )
    iterations: int | None = field(default=None, metadata=_rule(exact=_NOT_EXACT, fits=_is_count, rule=_ONE))
    target: float | None = field(
        default=None, metadata=_rule(exact=_NOT_EXACT, dealt=_UNMEASURED, fits=_is_positive, rule="must be above 0")
    )
    measure_every: int | None = field(
        default=None, metadata=_rule(exact=_NOT_EXACT, dealt=_UNMEASURED, fits=_is_count, rule=_ONE)
    )
    updates: str | None = field(
        default=None,
        metadata=_rule(
            flops=Refusal("is not for games from the deal, which update the players in turn", unless=("alternating",)),
            exact=_NOT_EXACT,
            public=Refusal("is for the history form: in the public form players are updated in turn", ("alternating",)),
            spot=Refusal("is for games: a hold'em spot updates the players in turn", unless=("alternating",)),
            training=Refusal(f"{_TRAINING} updates the players in turn", unless=("alternating",)),
            bucketed=Refusal("is for games: a hold'em spot updates the players in turn", unless=("alternating",)),
            dealt=Refusal("is not for games from the deal, which update the players in turn", unless=("alternating",)),
            fits=lambda value: value in tuple(Updates),
            rule=f"is not one of {', '.join(Updates)}",
            fixed=True,
        ),
    )
    sampling: str | None = field(
        default=None,
        metadata=_rule(
            flops=Refusal("is for games: sample_runouts samples turns and rivers", unless=("full",)),
            exact=Refusal(_EXACT, unless=("full",)),
            public=Refusal("is for the history form: the public form is solved on the full tree", unless=("full",)),
            spot=Refusal("is for games: a hold'em spot has sample_runouts", unless=("full",)),
            training=Refusal(_SAMPLED, unless=("external",)),
            bucketed=Refusal("is for games: a spot with buckets samples runouts", unless=("full",)),
            dealt=Refusal("is not for games from the deal, which sample boards", unless=("full",)),
            fits=lambda value: value in tuple(Sampling),
            rule=f"is not one of {', '.join(Sampling)}",
            fixed=True,
        ),
    )
    batch_size: int | None = field(
        default=None,
        metadata=_rule(
            flops=Refusal("is for games: sample_runouts is the number of runouts that are sampled of each flop"),
            exact=_NOT_EXACT,
            public=Refusal("is for the history form: the public form is solved on the full tree"),
            spot=Refusal("is for games: sample_runouts is the number of runouts that are sampled of a hold'em spot"),
            training=Refusal(_SAMPLED),
            bucketed=Refusal("is for games: sample_runouts is the number of runouts that a spot with buckets samples"),
            dealt=Refusal("is not for games from the deal: sample_runouts is the number of boards that they sample"),
            fits=_is_count,
            rule=_ONE,
            fixed=True,
        ),
    )
    seed: int | None = field(
        default=None,
        metadata=_rule(
            exact=Refusal("cannot be combined with variant lp, which is deterministic"),
            public=Refusal("is for the history form: solving the public form is deterministic"),
            fits=_is_whole,
            rule="must be a whole number",
            fixed=True,
        ),
    )
    engine: str | None = field(
        default=None,
        metadata=_rule(
            exact=Refusal(_EXACT, unless=("auto",)),
            training=Refusal(f"{_TRAINING} runs in PyTorch", unless=("auto", "torch")),
        ),
    )
    device: str | None = field(default=None, metadata=_rule(exact=Refusal(_EXACT, unless=("auto", "cpu"))))
    threads: int | None = field(default=None, metadata=_rule(fits=_is_count, rule=_ONE))
    shards: int | None = field(
        default=None,
        metadata=_rule(
            game=_SHARDS,
            exact=_SHARDS,
            public=_SHARDS,
            spot=_SHARDS,
            training=_SHARDS,
            bucketed=_SHARDS,
            dealt=_SHARDS,
            fits=_is_count,
            rule=_ONE,
        ),
    )
    storage: int | None = field(
        default=None,
        metadata=_rule(
            flops=_STORAGES,
            game=Refusal("is for hold'em spots and the public form: other games have their engine's precision"),
            exact=Refusal("is for hold'em spots and the public form"),
            public=_STORAGES,
            spot=_STORAGES,
            training=Refusal(f"{_TRAINING} stores samples"),
            bucketed=Refusal("is not for spots with buckets, which keep 32 bits", unless=(32,)),
            dealt=Refusal("is not for games from the deal, which keep 32 bits", unless=(32,)),
            fixed=True,
        ),
    )
    form: str | None = field(
        default=None,
        metadata=_rule(
            flops=Refusal("is for games: hold'em is always solved in the public form"),
            exact=Refusal("cannot be combined with variant lp, which solves the history form", unless=("history",)),
            spot=Refusal("is for games: a hold'em spot is always solved in the public form"),
            training=Refusal(f"{_TRAINING} needs no choice of a form"),
            bucketed=Refusal("is for games: a hold'em spot is always solved in the public form"),
            dealt=Refusal("is not for games from the deal, which have only one"),
            fits=lambda value: value in FORMS,
            rule=f"is not one of {', '.join(FORMS)}",
            fixed=True,
        ),
    )
    buckets: str | None = field(
        default=None,
        metadata=_rule(
            flops=Refusal("cannot be combined with flops, on which real cards are dealt"),
            game=_SPOTS,
            exact=_SPOTS,
            public=_SPOTS,
            training=_SPOTS,
            fits=lambda value: isinstance(value, str),
            rule="must be text such as turn=500,river=500",
            fixed=True,
        ),
    )
    sample_runouts: int | None = field(
        default=None,
        metadata=_rule(
            game=_SPOTS,
            exact=_SPOTS,
            public=_SPOTS,
            training=_SPOTS,
            fits=_is_count,
            rule=_ONE,
            fixed=True,
        ),
    )
    flops: str | int | Sequence[str] | None = field(
        default=None,
        metadata=_rule(
            game=_FLOPS,
            exact=_FLOPS,
            public=_FLOPS,
            spot=_FLOPS,
            training=_FLOPS,
            bucketed=_FLOPS,
            fixed=True,
        ),
    )
    locks: Sequence[Any] | None = field(
        default=None,
        metadata=_rule(
            flops=_SPOTS,
            game=_SPOTS,
            exact=_SPOTS,
            public=_SPOTS,
            training=_SPOTS,
            bucketed=Refusal("cannot be combined with buckets", unless=((), [])),
            dealt=_SPOTS,
        ),
    )
    keep_regrets: bool | None = field(
        default=None,
        metadata=_rule(
            game=_REGRETS,
            dealt=_REGRETS,
            public=_REGRETS,
            exact=Refusal("is for hold'em spots: a linear program has no regrets", unless=(False,)),
            training=_SPOTS,
        ),
    )
    checkpoint: str | Path | None = field(
        default=None,
        metadata=_rule(
            exact=_NOT_EXACT, fits=lambda value: isinstance(value, str | PathLike), rule="is not the path of a file"
        ),
    )
    save_every: float | None = field(
        default=None, metadata=_rule(exact=_NOT_EXACT, fits=_is_positive, rule="must be above 0 seconds")
    )
    checkpointed: Callable[[InvalidFile | None], None] | None = field(
        default=None, metadata=_rule(exact=_NOT_EXACT, fits=callable, rule=_FUNCTION)
    )
    resume: Solution | str | Path | None = field(
        default=None,
        metadata=_rule(exact=Refusal("cannot be combined with variant lp: a linear program does not iterate")),
    )
    progress: bool | None = field(
        default=None, metadata=_rule(fits=lambda value: isinstance(value, bool), rule="must be True or False")
    )
    report: Callable[[Progress], None] | None = field(default=None, metadata=_rule(fits=callable, rule=_FUNCTION))
    interrupted: Callable[[], bool] | None = field(default=None, metadata=_rule(fits=callable, rule=_FUNCTION))

    @classmethod
    def read(cls, keywords: Mapping[str, object]) -> SolveOptions:
        """The record of these keywords; a name that does not exist is refused.

        >>> SolveOptions.read({"variant": "mccfr", "target": None}).sampling
        'external'
        >>> SolveOptions.read({"iteratons": 10})
        Traceback (most recent call last):
        regretless.errors.InvalidOption: iteratons: 10 is not an option of solve; did you mean iterations?
        """
        options = {name: value for name, value in keywords.items() if value is not None}
        check_names(options)
        values: Any = replace_mccfr(options)  # their types are checked by `check`
        return cls(**values)

    def given(self) -> Iterator[tuple[str, object]]:
        """The options that were given, with their values."""
        for each in fields(self):
            if (value := getattr(self, each.name)) is not None:
                yield each.name, value

    def check(self, kind: Kind) -> None:
        """Refuse the first option that does not apply to the kind of problem or whose value is not allowed.

        >>> SolveOptions(target=0.3, storage=16).check(Kind.SPOT)
        >>> SolveOptions(sampling="external").check(Kind.SPOT)
        Traceback (most recent call last):
        regretless.errors.InvalidOption: sampling: 'external' is for games: a hold'em spot has sample_runouts
        >>> SolveOptions(save_every=float("nan")).check(Kind.GAME)
        Traceback (most recent call last):
        regretless.errors.InvalidOption: save_every: nan must be above 0 seconds
        """
        for name, value in self.given():
            rule = RULES[name]
            refusal = rule.refused.get(kind)
            if refusal is not None and not _is_one_of(value, refusal.unless):
                raise InvalidOption(name, _plain(value), refusal.why)
            if not rule.fits(value):
                raise InvalidOption(name, _plain(value), rule.broken_by(value))
        for name in ("save_every", "checkpointed"):
            if (value := getattr(self, name)) is not None and self.checkpoint is None:
                raise InvalidOption(name, value, "needs a file to save to: give a checkpoint too")

    def check_sampled(self) -> None:
        """Refuse options about samples of a game that is solved on the full tree."""
        if self.batch_size is not None:
            reason = "is a number of sampled deals: choose a sampling other than full"
            raise InvalidOption("batch_size", self.batch_size, reason)
        if self.seed is not None:
            raise InvalidOption("seed", self.seed, "decides what is sampled: choose a sampling other than full")

    def check_seed(self, sample_runouts: int | None) -> None:
        """Refuse a seed where nothing is drawn; `sample_runouts` is that of a solve being resumed."""
        if self.seed is not None and self.sample_runouts is None and sample_runouts is None:
            raise InvalidOption("seed", self.seed, "decides which runouts are drawn: give sample_runouts too")

    def check_resume(self, saved: Mapping[str, object], where: str) -> None:
        """Refuse an option that contradicts the solve being resumed, which is in `where`.

        >>> SolveOptions(variant="plus", iterations=50).check_resume({"variant": "plus"}, "leduc.rgl")
        >>> SolveOptions(variant="vanilla").check_resume({"variant": "plus"}, "leduc.rgl")
        Traceback (most recent call last):
        regretless.errors.InvalidOption: variant: 'vanilla' cannot resume leduc.rgl, which was started with 'plus'
        """
        for name, value in self.given():
            if RULES[name].fixed and name in saved and value != saved[name]:
                start = "without one" if saved[name] is None else f"with {_plain(saved[name])!r}"
                raise InvalidOption(name, _plain(value), f"cannot resume {where}, which was started {start}")


NO_OPTIONS = SolveOptions()
RULES: Mapping[str, Rule] = {each.name: each.metadata["rule"] for each in fields(SolveOptions)}


class LoopKeywords(TypedDict, total=False):
    """Keywords of `rl.solve` and `rl.train` alike; None means not given."""

    iterations: int | None
    target: float | None
    measure_every: int | None
    seed: int | None  # of a solve, with sampling or buckets
    device: str | None
    threads: int | None
    resume: Solution | str | Path | None
    checkpoint: str | Path | None
    save_every: float | None
    checkpointed: Callable[[InvalidFile | None], None] | None
    progress: bool | None
    report: Callable[[Progress], None] | None
    interrupted: Callable[[], bool] | None


class CommonKeywords(LoopKeywords, total=False):
    """Keywords of `rl.solve` for every problem."""

    variant: str | Variant | None
    engine: str | None
    storage: int | None  # of spots, and of games in the public form


class GameKeywords(CommonKeywords, total=False):
    """Keywords of `rl.solve` for a game."""

    form: str | None
    updates: str | None
    sampling: str | None
    batch_size: int | None


class SpotKeywords(CommonKeywords, total=False):
    """Keywords of `rl.solve` for a hold'em spot, or for hold'em from the deal."""

    buckets: str | None
    sample_runouts: int | None
    flops: str | int | Sequence[str] | None  # of hold'em from the deal
    shards: int | None  # the same, on some flops
    locks: Sequence[Any] | None


class SolveKeywords(GameKeywords, SpotKeywords, total=False):
    """Keywords of `rl.solve` where only the file or the name says what is solved."""


def check_names(
    options: Mapping[str, object],
    known: Collection[str] | None = None,
    function: str = "solve",
    synonyms: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Refuse the first option that does not exist; `synonyms` are names that other libraries use."""
    known = RULES if known is None else known
    for name, value in options.items():
        if name not in known:
            close = [synonyms[name]] if name in synonyms else get_close_matches(name, known, n=1)
            meant = f"did you mean {close[0]}?" if close else f"it has {', '.join(known)}"
            raise InvalidOption(name, value, f"is not an option of {function}; {meant}")


def _is_one_of(value: object, allowed: tuple[object, ...]) -> bool:
    """Whether this is an allowed value: True is not 1 here, and 32.0 is not 32."""
    alike = (each for each in allowed if value == each)
    return any(all(isinstance(value, kind) == isinstance(each, kind) for kind in (bool, float)) for each in alike)


def _plain(value: object) -> object:
    """A member of an enumeration as users type it, and long values shortened."""
    if isinstance(value, StrEnum):
        return str(value)
    return value if len(repr(value)) <= 200 else f"{repr(value)[:60]}..."
