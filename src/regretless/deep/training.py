"""From the options of a training to its problem: every option is honoured or refused by name.

Options are of two kinds: those of every solve (`solving.request.OPTIONS`: iterations, target, seed, device, …), and the
settings of a training (`settings.py`), with `preset` to start from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from regretless.deep.problem import AnyTraining, EnumeratedTraining
from regretless.deep.settings import SETTINGS, SYNONYMS, TrainingSettings, preset_settings
from regretless.deep.trained_policy import TrainedPolicy
from regretless.errors import InvalidGame, InvalidOption, MissingExtra, MissingOption
from regretless.games.flop_holdem import FlopHoldem
from regretless.games.registry import as_game
from regretless.solving.request import OPTIONS, Kind, check_names, check_options
from regretless.solving.solution import Solution

if TYPE_CHECKING:
    from regretless.deep.engine import Watcher

__all__ = ["check_training", "training_problem"]

_SHARED = tuple(name for name, option in OPTIONS.items() if option.training is None)  # with solve
_KNOWN = tuple(dict.fromkeys((*_SHARED, "preset", *SETTINGS, "tensorboard", "watchers")))


def check_training(options: Mapping[str, object]) -> None:
    """Refuse the first option that training does not have, or whose value is not allowed; None means not given.

    >>> check_training({"preset": "small", "width": 32, "seed": 7})
    >>> check_training({"sampling": "outcome"})
    Traceback (most recent call last):
    regretless.errors.InvalidOption: sampling: 'outcome' is for solve: training samples externally
    """
    changes = _settings_in(options)
    check_names(changes, _KNOWN, "train", SYNONYMS)
    check_options(Kind.TRAINING, {name: value for name, value in options.items() if name in OPTIONS})
    _new_settings(changes)


def training_problem(what: object, options: dict[str, object], *, watchers: Sequence[Watcher] = ()) -> AnyTraining:
    """The training to run, new or resumed; takes its settings out of the options and leaves those of every solve."""
    if find_spec("torch") is None:
        raise MissingExtra("torch", "torch")
    check_training(options)
    changes = _settings_in(options)
    for name in [name for name in options if name not in OPTIONS]:
        del options[name]
    earlier = options.get("resume")
    if earlier is None:
        if what is None:
            raise MissingOption("what", "give a game, or a training run to resume")
        settings = _new_settings(changes)
    else:
        if not isinstance(earlier, TrainedPolicy):
            where = earlier.where if isinstance(earlier, Solution) else type(earlier).__name__
            raise InvalidOption("resume", where, "is not a training run: regretless solve resumes it")
        settings = _resumed_settings(earlier, changes)
        what = what if what is not None else earlier.solved_game or earlier.game
    if options.get("iterations") is not None:
        settings = settings.changed({"iterations": options["iterations"]})
    rules = as_game(what)
    if isinstance(rules, FlopHoldem):
        from regretless.deep.flop_holdem import FlopHoldemTraining

        return FlopHoldemTraining(rules, settings, watchers=watchers)
    if rules.public_only:
        raise InvalidGame(
            f"{rules.name} is too large for an exact exploitability, which train measures: in Python, "
            "regretless.deep.deep_cfr.DeepCfr trains without measuring"
        )
    return EnumeratedTraining(rules, settings, watchers=watchers)


def _settings_in(options: Mapping[str, object]) -> dict[str, object]:
    """The preset and the settings among the options, rather than options of every solve."""
    return {name: value for name, value in options.items() if name not in OPTIONS and value is not None}


def _new_settings(changes: Mapping[str, object]) -> TrainingSettings:
    """The settings of a new training: those of its preset, with changes."""
    fields = dict(changes)
    return preset_settings(fields.pop("preset", "small"), **fields)


def _resumed_settings(earlier: TrainedPolicy, changes: Mapping[str, object]) -> TrainingSettings:
    """The settings of the training that is resumed; only those that say when to stop may change."""
    settings = earlier.training.settings
    for name, value in changes.items():
        if name == "preset":
            raise InvalidOption(name, value, f"cannot be combined with resume: {earlier.where} has its own settings")
        if value != (started := getattr(settings, name)):
            raise InvalidOption(name, value, f"cannot resume {earlier.where}, which was started with {started!r}")
    return settings
