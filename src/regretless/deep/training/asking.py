"""From the options of a training to its problem: every option is honoured or refused by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from regretless.deep.settings import SYNONYMS, TrainingSettings
from regretless.deep.settings import settings as make_settings
from regretless.deep.training.problem import EnumeratedTraining, TrainingProblem
from regretless.deep.training.trained_policy import TrainedPolicy
from regretless.errors import InvalidGame, InvalidOption, MissingExtra, MissingOption
from regretless.games.flop_holdem import FlopHoldem
from regretless.games.registry import as_game
from regretless.solving.request import OPTIONS, Kind, check_names, check_options
from regretless.solving.solution import Solution

if TYPE_CHECKING:
    from regretless.deep.training.engine import Watcher

__all__ = ["SETTINGS", "check_training", "training_problem"]

SETTINGS = tuple(each.name for each in fields(TrainingSettings))
_SHARED = tuple(name for name, option in OPTIONS.items() if option.training is None)  # with solve
_KNOWN = tuple(dict.fromkeys((*_SHARED, "preset", *SETTINGS, "tensorboard", "watchers")))


def check_training(options: Mapping[str, Any]) -> None:
    """Refuse the first option that training does not have, or whose value is not allowed; None means not given.

    >>> check_training({"preset": "small", "width": 32, "seed": 7})
    >>> check_training({"sampling": "outcome"})
    Traceback (most recent call last):
    regretless.errors.InvalidOption: sampling: 'outcome' is for solve: training samples externally
    """
    given = {name: value for name, value in options.items() if value is not None}
    changes = {name: value for name, value in given.items() if not _is_of_the_loop(name)}
    check_names(changes, _KNOWN, "train", SYNONYMS)
    check_options(Kind.TRAINING, {name: value for name, value in given.items() if _is_of_the_loop(name)})
    make_settings(changes.pop("preset", "small"), **changes)


def training_problem(
    what: object, options: dict[str, Any], *, watchers: Sequence[Watcher] = ()
) -> TrainingProblem[Any]:
    """The training that was asked for, or the one that is resumed; takes its settings out of the options."""
    if find_spec("torch") is None:
        raise MissingExtra("torch", "torch")
    check_training(options)
    changes = {name: options.pop(name) for name in list(options) if not _is_of_the_loop(name)}
    changes = {name: value for name, value in changes.items() if value is not None}
    earlier = options.get("resume")
    if earlier is None:
        if what is None:
            raise MissingOption("what", "give a game, or a training run to resume")
        settings = make_settings(changes.pop("preset", "small"), **changes)
    else:
        settings = _resumed_settings(earlier, changes)
        what = what if what is not None else earlier.solved_game or earlier.game
    if options.get("iterations") is not None:
        settings = replace(settings, iterations=options["iterations"])
    rules = as_game(what)
    if isinstance(rules, FlopHoldem):
        from regretless.deep.training.flop_holdem import FlopHoldemTraining

        return FlopHoldemTraining(rules, settings, watchers=watchers)
    if rules.public_only:
        raise InvalidGame(
            f"{rules.name} is too large for an exact exploitability, which train measures: in Python, "
            "regretless.deep.deep_cfr.DeepCfr trains without measuring"
        )
    return EnumeratedTraining(rules, settings, watchers=watchers)


def _is_of_the_loop(name: str) -> bool:
    """Whether an option is one of every solve, rather than a setting of the training."""
    return name in OPTIONS


def _resumed_settings(earlier: object, changes: Mapping[str, Any]) -> TrainingSettings:
    """The settings of the training that is resumed; only those that say when to stop may change."""
    if not isinstance(earlier, TrainedPolicy):
        where = earlier.where if isinstance(earlier, Solution) else type(earlier).__name__
        raise InvalidOption("resume", where, "is not a training run: regretless solve resumes it")
    was = asdict(earlier.training.settings)
    for name, value in changes.items():
        if name == "preset":
            raise InvalidOption(name, value, f"cannot be combined with resume: {earlier.where} has its own settings")
        if value != was[name]:
            raise InvalidOption(name, value, f"cannot resume {earlier.where}, which was started with {was[name]!r}")
    return earlier.training.settings
