"""The options of a training, and the problem that they describe: every option is honoured or refused by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from regretless.deep.problem import AnyTraining, EnumeratedTraining
from regretless.deep.settings import (
    PRESETS,
    SETTINGS,
    SYNONYMS,
    Algorithm,
    MemoryPlace,
    Precision,
    Replacement,
    TrainingSettings,
    Weighting,
    preset_settings,
)  # fmt: skip
from regretless.deep.trained_policy import TrainedPolicy
from regretless.errors import InvalidGame, InvalidOption, MissingExtra, MissingOption
from regretless.games.flop_holdem import FlopHoldem
from regretless.games.registry import as_game
from regretless.solving.kinds import Kind
from regretless.solving.options import NO_OPTIONS, RULES, LoopKeywords, SolveOptions, check_names
from regretless.solving.solution import Solution

if TYPE_CHECKING:
    from regretless.deep.engine import Watcher

__all__ = ["TrainingKeywords", "TrainingOptions", "training_problem"]

_SHARED = tuple(name for name, rule in RULES.items() if Kind.TRAINING not in rule.refused)  # with solve
_KNOWN = tuple(dict.fromkeys((*_SHARED, "preset", *SETTINGS, "tensorboard", "watchers")))


class TrainingKeywords(LoopKeywords, total=False):
    """Keywords of `rl.train`: those of the loop, a preset, and single settings of `TrainingSettings`."""

    preset: str | None
    algorithm: Algorithm | None
    traversals: int | None
    traversals_at_once: int | None
    advantage_capacity: int | None
    strategy_capacity: int | None
    replacement: Replacement | None
    memory_place: MemoryPlace | None
    value_steps: int | None
    policy_steps: int | None
    batch: int | None
    merge_equal: bool | None
    from_scratch: bool | None
    weighting: Weighting | None
    width: int | None
    learning_rate: float | None
    decay: bool | None
    gradient_clip: float | None
    precision: Precision | None


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """The options of every solve that apply to a training, and the settings of the training itself."""

    loop: SolveOptions = NO_OPTIONS
    preset: str | None = None  # None if none was given
    settings: TrainingSettings = PRESETS["small"]  # those of the preset, with the changes
    changed: tuple[str, ...] = ()  # names of the settings that were changed

    @classmethod
    def read(cls, keywords: Mapping[str, object]) -> TrainingOptions:
        """The options of these keywords; None means not given.

        Refuses the first one that training does not have, and settings that are not allowed; those of the loop are
        checked with every other solve's.

        >>> TrainingOptions.read({"preset": "small", "width": 32, "seed": 7}).settings.width
        32
        >>> TrainingOptions.read({"width": 0})
        Traceback (most recent call last):
        regretless.errors.InvalidSettings: width: 0 must be a whole number of at least 1
        """
        of_loop: Any = {name: value for name, value in keywords.items() if value is not None and name in RULES}
        loop = SolveOptions(**of_loop)
        changes = {name: value for name, value in keywords.items() if value is not None and name not in RULES}
        check_names(changes, _KNOWN, "train", SYNONYMS)
        preset = changes.pop("preset", None)
        settings = preset_settings(preset or "small", **changes)
        return cls(loop=loop, preset=None if preset is None else str(preset), settings=settings, changed=tuple(changes))


def training_problem(what: object, options: TrainingOptions, *, watchers: Sequence[Watcher] = ()) -> AnyTraining:
    """The training that the options describe, or the one that is resumed."""
    if find_spec("torch") is None:
        raise MissingExtra("torch", "torch")
    earlier = options.loop.resume
    if earlier is None:
        if what is None:
            raise MissingOption("what", "give a game, or a training run to resume")
        settings = options.settings
    else:
        settings = _resumed_settings(earlier, options)
        what = what if what is not None or not isinstance(earlier, Solution) else earlier.subject
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


def _resumed_settings(earlier: object, options: TrainingOptions) -> TrainingSettings:
    """The settings of the training that is resumed; only those that say when to stop may change."""
    if not isinstance(earlier, TrainedPolicy):
        where = earlier.where if isinstance(earlier, Solution) else type(earlier).__name__
        raise InvalidOption("resume", where, "is not a training run: regretless solve resumes it")
    if options.preset is not None:
        reason = f"cannot be combined with resume: {earlier.where} has its own settings"
        raise InvalidOption("preset", options.preset, reason)
    settings = earlier.training.settings
    for name in options.changed:
        value, started = getattr(options.settings, name), getattr(settings, name)
        if value != started:
            raise InvalidOption(name, value, f"cannot resume {earlier.where}, which was started with {started!r}")
    return settings
