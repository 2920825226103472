"""A training on the one path: what is asked, the game's form, the engine, and the trained policy at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from regretless.deep.settings import TrainingSettings
from regretless.deep.settings import settings as make_settings
from regretless.deep.training.trained_policy import TrainedPolicy
from regretless.engines import devices
from regretless.errors import InvalidOption, MissingExtra
from regretless.forms.compile import compile_history
from regretless.forms.history import HistoryForm
from regretless.games.game import Game
from regretless.games.registry import as_game
from regretless.games.registry import load as load_game
from regretless.solvers.problem import Problem
from regretless.solvers.record import Record
from regretless.solvers.request import DEVICES, OPTIONS, Kind, Request, check_names, check_options
from regretless.solvers.solution import Solution
from regretless.variants.presets import read_variant
from regretless.variants.variant import Variant

if TYPE_CHECKING:
    from regretless.deep.training.engine import DeepEngine, Watcher

__all__ = ["SETTINGS", "DeepProblem", "check_training", "training_problem"]

SETTINGS = tuple(each.name for each in fields(TrainingSettings))
ALGORITHMS = {"deep": "deep-cfr", "single": "single-deep-cfr"}  # as records name them
MEASUREMENTS = 10  # of a training, by default: each fits a policy network


def check_training(options: Mapping[str, Any]) -> None:
    """Refuse the first option that training does not have, or whose value is not allowed; None means not given."""
    given = {name: value for name, value in options.items() if value is not None}
    check_names(given, (*OPTIONS, "preset", *SETTINGS), "train")
    check_options(Kind.TRAINING, {name: value for name, value in given.items() if _is_of_the_loop(name)})
    changes = {name: value for name, value in given.items() if not _is_of_the_loop(name)}
    make_settings(changes.pop("preset", "small"), **changes)


def training_problem(what: object, options: dict[str, Any], *, watchers: Sequence[Watcher] = ()) -> DeepProblem:
    """The training that was asked for, or the one that is resumed; takes its settings out of the options."""
    if find_spec("torch") is None:
        raise MissingExtra("torch", "torch")
    check_training(options)
    changes = {name: options.pop(name) for name in list(options) if not _is_of_the_loop(name)}
    changes = {name: value for name, value in changes.items() if value is not None}
    earlier = options.get("resume")
    if earlier is None:
        if what is None:
            raise InvalidOption("what", None, "is missing: give a game, or a training to resume")
        settings = make_settings(changes.pop("preset", "small"), **changes)
    else:
        settings = _resumed_settings(earlier, changes)
        what = what if what is not None else earlier.rules or earlier.game
    if options.get("iterations") is not None:
        settings = replace(settings, iterations=options["iterations"])
    rules = load_game(what) if isinstance(what, str) else as_game(what)
    return DeepProblem(rules, settings, watchers=watchers)


def _is_of_the_loop(name: str) -> bool:
    """Whether an option is one of every solve, rather than a setting of the training."""
    return name in OPTIONS


def _resumed_settings(earlier: object, changes: Mapping[str, Any]) -> TrainingSettings:
    """The settings of the training that is resumed, which nothing but its end may differ from."""
    if not isinstance(earlier, TrainedPolicy):
        where = earlier.where if isinstance(earlier, Solution) else type(earlier).__name__
        raise InvalidOption("resume", where, "is not a training: regretless solve resumes it")
    was = asdict(earlier.training.settings)
    for name, value in changes.items():
        if name == "preset":
            raise InvalidOption(name, value, f"cannot be combined with resume: {earlier.where} has its own settings")
        if value != was[name]:
            raise InvalidOption(name, value, f"cannot resume {earlier.where}, which was started with {was[name]!r}")
    return earlier.training.settings


class DeepProblem(Problem[HistoryForm, "DeepEngine"]):
    """A game to train a policy for. Its rules can be enumerated, so that exploitability is exact."""

    kind = Kind.TRAINING
    forms = ()
    solution_type = TrainedPolicy

    def __init__(self, rules: Game[Any], settings: TrainingSettings, *, watchers: Sequence[Watcher] = ()) -> None:
        self.rules = rules
        self.name = rules.name
        self.training = settings
        self.watchers = watchers
        self.variant = ALGORITHMS[settings.algorithm]

    def end(self, iterations: int | None, target: float | None) -> tuple[int, float | None]:
        return iterations or self.training.iterations, target

    def choose_variant(self, given: Mapping[str, Any], resume: Solution | None) -> tuple[Variant | None, str]:
        """Linear CFR, whose weights the training applies to its samples, under the name of the algorithm."""
        return read_variant("linear"), self.variant

    def fixed_settings(self) -> dict[str, Any]:
        return super().fixed_settings() | {"sampling": "external"}

    def measure_every(self, iterations: int) -> int | None:
        return max(1, iterations // MEASUREMENTS)

    @classmethod
    def check_machine(cls, engine: str, device: str) -> None:
        if device not in DEVICES:
            raise InvalidOption("device", device, f"is not one of {', '.join(DEVICES)}")

    def form(self) -> HistoryForm:
        return compile_history(self.rules)

    def create(self, form: HistoryForm, request: Request) -> DeepEngine:
        from regretless.deep.deep_cfr import DeepCfr
        from regretless.deep.training.engine import DeepEngine, check_fits, device_of
        from regretless.deep.training.judge import EnumeratingJudge
        from regretless.deep.worlds.history_world import HistoryWorld

        world = HistoryWorld(self.rules, form, device_of(request.device))
        check_fits(self.name, world, self.training)
        core = DeepCfr(world, self.training, seed=request.settings.seed)
        return DeepEngine(form, core, EnumeratingJudge(world), threads=request.threads or 1, watchers=self.watchers)

    def checkpoint_bytes(self, form: HistoryForm, engine: DeepEngine) -> int:
        return engine.memory_bytes

    def size(self, form: HistoryForm) -> tuple[int, int]:
        return len(form.parent), len(form.keys)

    def solution(self, record: Record, form: HistoryForm, engine: DeepEngine) -> TrainedPolicy:
        from regretless.deep.training.parameters import parameters_of

        policy = engine.policy()
        strategy = engine.judge.strategy(policy)
        return TrainedPolicy(
            record=record,
            snapshot=engine.snapshot(copy=False),
            zero_sum=form.zero_sum,
            read_strategy=lambda: strategy,
            training=engine.training(),
            networks=parameters_of(policy),
            rules=self.rules,
        )

    # --- resuming ----------------------------------------------------------------------------------------------------

    def machine(self, earlier: Solution) -> dict[str, Any]:
        """The earlier device and threads, both of which change the last bits of numbers, if this machine has them."""
        has = earlier.device == "cpu" or (earlier.device == "cuda" and devices.cuda_devices() > 0)
        return ({"device": earlier.device} if has else {}) | {"threads": earlier.threads}

    def why_final(self, earlier: Solution) -> str:
        return "is a policy without its memories, which a resume needs: --keep-memories saves them"
