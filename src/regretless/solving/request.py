"""The options of a solve: which kinds of problem each applies to, and what a resume may change.

`rl.solve` and the command alike honour each option or refuse it by name: `check_options` refuses options that do not
apply to the problem and invalid values, `check_resume` options that contradict the solve being resumed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

from regretless.engines import NUMBER_FORMATS, Sampling, Updates
from regretless.errors import InvalidFile, InvalidOption
from regretless.solving.loop import Progress, Stop
from regretless.solving.record import FORMS, Settings
from regretless.solving.solution import Solution
from regretless.variants.variant import Variant, stores_predictions

__all__ = [
    "CHECKPOINT_SECONDS", "DEVICES", "EXACT", "OPTIONS", "Kind", "Option", "Refusal", "Request", "check_names",
    "check_options", "check_resume",
]  # fmt: skip

EXACT = "lp"  # the variant that does not iterate: the equilibrium by linear program
CHECKPOINT_SECONDS = 180.0
DEVICES = ("auto", "cpu", "cuda", "mps")


class Kind(StrEnum):
    """The kind of problem, which decides which options apply."""

    GAME = "game"
    EXACT = "exact"  # a game, by linear program
    PUBLIC = "public"  # a game, in its public form
    SPOT = "spot"
    TRAINING = "training"  # a game, by networks
    BUCKETED = "bucketed"  # a spot, with buckets and sampled runouts
    DEALT = "dealt"  # hold'em from the deal, with buckets and sampled boards


@dataclass(frozen=True)
class Refusal:
    """Why an option does not apply to a kind of problem, after "option: value"; `unless` lists harmless values."""

    why: str
    unless: tuple[object, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Option:
    """Which kinds of problem an option applies to: None, or why not."""

    game: Refusal | None = None
    exact: Refusal | None = None
    public: Refusal | None = None
    spot: Refusal | None = None
    training: Refusal | None = None
    bucketed: Refusal | None = None
    dealt: Refusal | None = None
    fits: Callable[[Any], bool] = lambda value: True
    rule: str = ""  # what `fits` requires, after "option: value"
    fixed: bool = False  # whether a resume must keep the original value


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_positive(value: Any) -> bool:
    return _is_number(value) and bool(value > 0)  # NaN is not


def _is_whole(value: Any) -> bool:
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

OPTIONS: Mapping[str, Option] = {
    "variant": Option(
        training=Refusal(f"{_TRAINING} is linear CFR; algorithm chooses between deep and single"), fixed=True
    ),
    "iterations": Option(exact=_NOT_EXACT, fits=_is_count, rule=_ONE),
    "target": Option(exact=_NOT_EXACT, dealt=_UNMEASURED, fits=_is_positive, rule="must be above 0"),
    "measure_every": Option(exact=_NOT_EXACT, dealt=_UNMEASURED, fits=_is_count, rule=_ONE),
    "updates": Option(
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
    "sampling": Option(
        exact=Refusal(_EXACT, unless=("full",)),
        public=Refusal("is for the history form: the public form is solved on the full tree", unless=("full",)),
        spot=Refusal("is for games: a hold'em spot is solved on the full tree", unless=("full",)),
        training=Refusal(_SAMPLED, unless=("external",)),
        bucketed=Refusal("is for games: a spot with buckets samples runouts", unless=("full",)),
        dealt=Refusal("is not for games from the deal, which sample boards", unless=("full",)),
        fits=lambda value: value in tuple(Sampling),
        rule=f"is not one of {', '.join(Sampling)}",
        fixed=True,
    ),
    "batch_size": Option(
        exact=_NOT_EXACT,
        public=Refusal("is for the history form: the public form is solved on the full tree"),
        spot=Refusal("is for games: it is a number of sampled deals, and a hold'em spot is solved on the full tree"),
        training=Refusal(_SAMPLED),
        bucketed=Refusal("is for games: sample_runouts is the number of runouts that a spot with buckets samples"),
        dealt=Refusal("is not for games from the deal: sample_runouts is the number of boards that they sample"),
        fits=_is_count,
        rule=_ONE,
        fixed=True,
    ),
    "seed": Option(
        exact=Refusal("cannot be combined with variant lp, which is deterministic"),
        public=Refusal("is for the history form: solving the public form is deterministic"),
        spot=Refusal("is for games: solving a hold'em spot is deterministic"),
        fits=_is_whole,
        rule="must be a whole number",
        fixed=True,
    ),
    "engine": Option(
        exact=Refusal(_EXACT, unless=("auto",)),
        training=Refusal(f"{_TRAINING} runs in PyTorch", unless=("auto", "torch")),
    ),
    "device": Option(exact=Refusal(_EXACT, unless=("auto", "cpu"))),
    "threads": Option(fits=_is_count, rule=_ONE),
    "storage": Option(
        game=Refusal("is for hold'em spots and the public form: other games have their engine's precision"),
        exact=Refusal("is for hold'em spots and the public form"),
        public=_STORAGES,
        spot=_STORAGES,
        training=Refusal(f"{_TRAINING} stores samples"),
        bucketed=Refusal("is not for spots with buckets, which keep 32 bits", unless=(32,)),
        dealt=Refusal("is not for games from the deal, which keep 32 bits", unless=(32,)),
        fixed=True,
    ),
    "form": Option(
        exact=Refusal("cannot be combined with variant lp, which solves the history form", unless=("history",)),
        spot=Refusal("is for games: a hold'em spot is always solved in the public form"),
        training=Refusal(f"{_TRAINING} needs no choice of a form"),
        bucketed=Refusal("is for games: a hold'em spot is always solved in the public form"),
        dealt=Refusal("is not for games from the deal, which have only one"),
        fits=lambda value: value in FORMS,
        rule=f"is not one of {', '.join(FORMS)}",
        fixed=True,
    ),
    "buckets": Option(
        game=_SPOTS,
        exact=_SPOTS,
        public=_SPOTS,
        training=_SPOTS,
        fits=lambda value: isinstance(value, str),
        rule="must be text such as turn=500,river=500",
        fixed=True,
    ),
    "sample_runouts": Option(
        game=_SPOTS,
        exact=_SPOTS,
        public=_SPOTS,
        training=_SPOTS,
        spot=Refusal("is for spots with buckets: give buckets too"),
        fits=_is_count,
        rule=_ONE,
        fixed=True,
    ),
    "locks": Option(
        game=_SPOTS,
        exact=_SPOTS,
        public=_SPOTS,
        training=_SPOTS,
        bucketed=Refusal("cannot be combined with buckets", unless=((), [])),
        dealt=_SPOTS,
    ),
    "keep_regrets": Option(
        game=_REGRETS,
        dealt=_REGRETS,
        public=_REGRETS,
        exact=Refusal("is for hold'em spots: a linear program has no regrets", unless=(False,)),
        training=_SPOTS,
    ),
    "checkpoint": Option(
        exact=_NOT_EXACT, fits=lambda value: isinstance(value, str | PathLike), rule="is not the path of a file"
    ),
    "save_every": Option(exact=_NOT_EXACT, fits=_is_positive, rule="must be above 0 seconds"),
    "checkpointed": Option(exact=_NOT_EXACT, fits=callable, rule=_FUNCTION),
    "resume": Option(exact=Refusal("cannot be combined with variant lp: a linear program does not iterate")),
    "progress": Option(fits=lambda value: isinstance(value, bool), rule="must be True or False"),
    "report": Option(fits=callable, rule=_FUNCTION),
    "interrupted": Option(fits=callable, rule=_FUNCTION),
}


def _warn(problem: InvalidFile | None) -> None:
    if problem is not None:
        warnings.warn(str(problem), stacklevel=2)


@dataclass(frozen=True, kw_only=True)
class Request:
    """A validated request, with every option filled in."""

    variant: Variant | None  # None: the exact equilibrium
    variant_text: str
    settings: Settings  # kept by a resume
    engine: str = "auto"
    device: str = "auto"
    threads: int | None = None
    resume: Solution | None = None
    checkpoint: Path | None = None  # where to save every `save_every` seconds and on interrupts
    save_every: float = CHECKPOINT_SECONDS
    checkpointed: Callable[[InvalidFile | None], None] = _warn  # called after each checkpoint with None or the error
    report: Callable[[Progress], None] | None = None
    interrupted: Callable[[], bool] = lambda: False

    @property
    def predicts(self) -> bool:
        """Whether the variant keeps predictions beside the regrets from its first iteration on."""
        return self.variant is not None and stores_predictions(self.variant)

    @property
    def stop(self) -> Stop:
        """When the loop ends."""
        asked = self.settings
        return Stop(iterations=asked.iterations, target=asked.target, measure_every=asked.measure_every)


def check_names(
    given: Mapping[str, object],
    known: Collection[str] = OPTIONS,
    function: str = "solve",
    synonyms: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Refuse the first option that does not exist; `synonyms` are names that other libraries use."""
    for name, value in given.items():
        if name not in known:
            close = [synonyms[name]] if name in synonyms else get_close_matches(name, known, n=1)
            meant = f"did you mean {close[0]}?" if close else f"it has {', '.join(known)}"
            raise InvalidOption(name, value, f"is not an option of {function}; {meant}")


def check_options(kind: Kind, given: Mapping[str, object]) -> None:
    """Refuse the first option that does not apply to the kind of problem or is invalid; None means not given.

    >>> check_options(Kind.SPOT, {"target": 0.3, "storage": 16, "seed": None})
    >>> check_options(Kind.SPOT, {"sampling": "external"})
    Traceback (most recent call last):
    regretless.errors.InvalidOption: sampling: 'external' is for games: a hold'em spot is solved on the full tree
    >>> check_options(Kind.GAME, {"save_every": float("nan")})
    Traceback (most recent call last):
    regretless.errors.InvalidOption: save_every: nan must be above 0 seconds
    """
    for name, value in given.items():
        if value is None:
            continue
        check_names({name: value})
        option = OPTIONS[name]
        refusal: Refusal | None = getattr(option, kind.value)
        if refusal is not None and not _is_one_of(value, refusal.unless):
            raise InvalidOption(name, _plain(value), refusal.why)
        if not option.fits(value):
            raise InvalidOption(name, _plain(value), _broken_rule(option, value))
    if kind is Kind.GAME and given.get("sampling") in (None, "full"):
        for name, role in (("batch_size", "is a number of sampled deals"), ("seed", "decides what is sampled")):
            if given.get(name) is not None:
                raise InvalidOption(name, given[name], f"{role}: choose a sampling other than full")


def _broken_rule(option: Option, value: object) -> str:
    """What is wrong with a value that does not fit: not a number at all, or one that is not allowed."""
    if option.fits is _is_count and not _is_whole(value):
        return "must be a whole number"
    return "must be a number" if option.fits is _is_positive and not _is_number(value) else option.rule


def check_resume(given: Mapping[str, object], saved: Mapping[str, object], where: str) -> None:
    """Refuse an option that contradicts the solve being resumed, which is in `where`.

    >>> check_resume({"variant": "plus", "iterations": 50}, {"variant": "plus"}, "leduc.rgl")
    >>> check_resume({"variant": "vanilla"}, {"variant": "plus"}, "leduc.rgl")
    Traceback (most recent call last):
    regretless.errors.InvalidOption: variant: 'vanilla' cannot resume leduc.rgl, which was started with 'plus'
    """
    for name, value in given.items():
        if value is None or name not in OPTIONS or not OPTIONS[name].fixed or name not in saved:
            continue
        if value != saved[name]:
            begun = "without one" if saved[name] is None else f"with {_plain(saved[name])!r}"
            raise InvalidOption(name, _plain(value), f"cannot resume {where}, which was started {begun}")


def _is_one_of(value: object, allowed: tuple[object, ...]) -> bool:
    return any(value == each and isinstance(value, bool) == isinstance(each, bool) for each in allowed)


def _plain(value: object) -> object:
    """A member of an enumeration as users type it, and long values shortened."""
    if isinstance(value, StrEnum):
        return str(value)
    return value if len(repr(value)) <= 200 else f"{repr(value)[:60]}..."
