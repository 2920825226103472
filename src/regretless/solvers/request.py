"""What may be asked of a solve: every option, which problems it serves, and what it must equal on a resume.

Each option is honoured or refused by name, by `rl.solve` and by the command alike. A problem is a game, a game that is
solved exactly (by linear program) or a hold'em spot. `check_options` refuses what does not serve the problem and values
that make no sense; `check_resume` refuses what contradicts the solve that is resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from numbers import Integral, Real
from typing import Any

from regretless.errors import InvalidOption

__all__ = ["OPTIONS", "Option", "Problem", "Refusal", "check_options", "check_resume"]


class Problem(StrEnum):
    """What is solved, as far as it decides which options make sense."""

    GAME = "game"
    EXACT = "exact"  # a game, by linear program
    SPOT = "spot"


@dataclass(frozen=True)
class Refusal:
    """Why an option does not serve a problem, after "option: value"; values that change nothing are let pass."""

    why: str
    unless: tuple[object, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Option:
    """Which problems an option serves: None, or why not."""

    game: Refusal | None = None
    exact: Refusal | None = None
    spot: Refusal | None = None
    fits: Callable[[Any], bool] = lambda value: True
    rule: str = ""  # what `fits` asks for, after "option: value"
    fixed: bool = False  # whether a resume must keep the value it was started with

    def refusal(self, problem: Problem) -> Refusal | None:
        """Why the option does not serve this problem."""
        found: Refusal | None = getattr(self, problem.value)
        return found


def _at_least(least: int) -> Callable[[Any], bool]:
    return lambda value: _is_whole(value) and value >= least


def _is_positive(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and value > 0  # type: ignore[operator]  # NaN is not


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


_EXACT = "cannot be combined with variant lp, a linear program on the CPU"
_NOT_EXACT = Refusal("cannot be combined with variant lp, which does not iterate")
_ONE = "must be at least 1"

OPTIONS: Mapping[str, Option] = {
    "variant": Option(fixed=True),
    "iterations": Option(exact=_NOT_EXACT, fits=_at_least(1), rule=_ONE),
    "target": Option(exact=_NOT_EXACT, fits=_is_positive, rule="must be above 0"),
    "measure_every": Option(exact=_NOT_EXACT, fits=_at_least(1), rule=_ONE),
    "updates": Option(
        exact=_NOT_EXACT,
        spot=Refusal("is for games: a hold'em spot updates the players in turn", unless=("alternating",)),
        fixed=True,
    ),
    "sampling": Option(
        exact=Refusal(_EXACT, unless=("full",)),
        spot=Refusal("is for games: a hold'em spot is solved on the full tree", unless=("full",)),
        fixed=True,
    ),
    "batch_size": Option(
        exact=_NOT_EXACT,
        spot=Refusal("is for games: it is a number of sampled deals, and a hold'em spot is solved on the full tree"),
        fits=_at_least(1),
        rule=_ONE,
        fixed=True,
    ),
    "seed": Option(
        exact=Refusal("cannot be combined with variant lp, which draws nothing at random"),
        spot=Refusal("is for games: solving a hold'em spot draws nothing at random"),
        fits=_is_whole,
        rule="must be a whole number",
        fixed=True,
    ),
    "engine": Option(
        exact=Refusal(_EXACT, unless=("auto",)),
        spot=Refusal("cannot solve spots: use auto or numba", unless=("auto", "numba")),
    ),
    "device": Option(
        exact=Refusal(_EXACT, unless=("auto", "cpu")),
        spot=Refusal("cannot solve spots: use auto or cpu", unless=("auto", "cpu")),
    ),
    "threads": Option(
        exact=Refusal("cannot be combined with variant lp, which runs on one", unless=(1,)),
        fits=_at_least(1),
        rule=_ONE,
    ),
    "storage": Option(
        game=Refusal("is for hold'em spots: games keep numbers of 64 bits, or what their engine works in"),
        exact=Refusal("is for hold'em spots"),
        spot=Refusal("is not one of 32, 16 bits", unless=(32, 16)),
        fixed=True,
    ),
    "locks": Option(game=Refusal("is for hold'em spots"), exact=Refusal("is for hold'em spots")),
    "keep_regrets": Option(
        game=Refusal("is for hold'em spots: the file of a game always holds its regrets", unless=(False,)),
        exact=Refusal("is for hold'em spots: a linear program has no regrets", unless=(False,)),
    ),
    "checkpoint": Option(exact=_NOT_EXACT),
    "save_every": Option(exact=_NOT_EXACT, fits=_is_positive, rule="must be above 0 seconds"),
    "checkpointed": Option(exact=_NOT_EXACT),
    "resume": Option(exact=Refusal("cannot be combined with variant lp: a linear program does not iterate")),
    "progress": Option(),
    "report": Option(),
    "interrupted": Option(),
}


def check_options(problem: Problem, given: Mapping[str, object]) -> None:
    """Refuse the first option that does not serve the problem or has a senseless value; None was not given.

    >>> check_options(Problem.SPOT, {"target": 0.3, "storage": 16, "seed": None})
    >>> check_options(Problem.SPOT, {"sampling": "external"})
    Traceback (most recent call last):
    regretless.errors.InvalidOption: sampling: 'external' is for games: a hold'em spot is solved on the full tree
    >>> check_options(Problem.GAME, {"save_every": float("nan")})
    Traceback (most recent call last):
    regretless.errors.InvalidOption: save_every: nan must be above 0 seconds
    """
    for name, value in given.items():
        if value is None:
            continue
        if name not in OPTIONS:
            close = get_close_matches(name, OPTIONS, n=1)
            meant = f"did you mean {close[0]}?" if close else f"it has {', '.join(OPTIONS)}"
            raise InvalidOption(name, value, f"is not an option of solve; {meant}")
        option = OPTIONS[name]
        refusal = option.refusal(problem)
        if refusal is not None and not _is_one_of(value, refusal.unless):
            raise InvalidOption(name, _plain(value), refusal.why)
        if not option.fits(value):
            raise InvalidOption(name, _plain(value), option.rule)
    if problem is Problem.GAME and given.get("sampling") in (None, "full"):
        for name, role in (("batch_size", "is a number of sampled deals"), ("seed", "decides what is sampled")):
            if given.get(name) is not None:
                raise InvalidOption(name, given[name], f"{role}: choose a sampling other than full")


def check_resume(given: Mapping[str, object], saved: Mapping[str, object], where: str) -> None:
    """Refuse an option that contradicts the solve that is resumed, which lies `where`.

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
    """A member of an enumeration as the text that a user types, and long values cut."""
    if isinstance(value, StrEnum):
        return str(value)
    return value if len(repr(value)) <= 200 else f"{repr(value)[:60]}..."
