"""A training as a problem for the solving loop: the game's form, the engine, and the trained policy at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from regretless.deep.settings import TrainingSettings
from regretless.deep.trained_policy import PolicyFields, TrainedPolicy
from regretless.engines import devices
from regretless.errors import Advice, InvalidOption, WouldNotFit
from regretless.forms.compile import compile_history
from regretless.forms.history import HistoryForm
from regretless.forms.memory import available_bytes
from regretless.forms.public import PublicForm
from regretless.games.game import AnyGame
from regretless.solving.kinds import Kind
from regretless.solving.options import DEVICES, SolveOptions
from regretless.solving.problem import Machine, Problem, Request
from regretless.solving.record import Record, Settings
from regretless.solving.solution import Solution
from regretless.variants.presets import read_variant
from regretless.variants.variant import Variant

if TYPE_CHECKING:
    from regretless.deep.engine import DeepEngine, Watcher

__all__ = ["AnyTraining", "EnumeratedTraining", "TrainingProblem"]

ALGORITHMS = {"deep": "deep-cfr", "single": "single-deep-cfr"}  # as records name them
MEASUREMENTS = 5  # of a training, by default: each fits a policy network

FormType = TypeVar("FormType", bound=HistoryForm | PublicForm)


class TrainingProblem(Problem[FormType, "DeepEngine"]):
    """A game to train a policy for."""

    kind = Kind.TRAINING
    forms = ()
    solution_type: type[TrainedPolicy] = TrainedPolicy

    def __init__(self, rules: AnyGame, settings: TrainingSettings, *, watchers: Sequence[Watcher] = ()) -> None:
        self.rules = rules
        self.name = rules.name
        self.training = settings
        self.watchers = watchers
        self.variant = ALGORITHMS[settings.algorithm]
        self.default_iterations = self.max_iterations = settings.iterations

    def choose_variant(self, requested: str | Variant | None, resume: Solution | None) -> tuple[Variant | None, str]:
        """Linear CFR, whose weights the training applies to its samples, under the name of the algorithm."""
        if requested is not None:
            SolveOptions(variant=requested).check(self.kind)  # refuses it
        return read_variant("linear"), self.variant

    def fill_settings(self, settings: Settings) -> Settings:
        return replace(super().fill_settings(settings), sampling="external")

    def measure_every(self, iterations: int, target: float | None) -> int | None:
        return max(1, iterations // MEASUREMENTS)

    def settings_for(self, request: Request) -> TrainingSettings:
        """The settings of the training, for as many iterations as are requested."""
        return replace(self.training, iterations=request.settings.iterations)

    @classmethod
    def check_machine(cls, engine: str, device: str) -> None:
        if devices.device_type(device) not in DEVICES:
            raise InvalidOption("device", device, f"is not one of {', '.join(DEVICES)}")

    def checkpoint_bytes(self, form: FormType, engine: DeepEngine) -> int:
        return engine.memory_bytes

    def fields(self, record: Record, form: FormType, engine: DeepEngine) -> PolicyFields:
        """The fields of a trained policy that every kind of game has."""
        from regretless.deep.policies import parameters_of

        return {
            "record": record,
            "zero_sum": not isinstance(form, HistoryForm) or form.zero_sum,
            "snapshot": engine.snapshot(copy=False),
            "training": engine.training(),
            "networks": parameters_of(engine.policy()),
            "solved_game": self.rules,
        }

    # --- resuming ----------------------------------------------------------------------------------------------------

    def machine(self, earlier: Solution) -> Machine:
        """The earlier device and threads, both of which change the last bits of numbers, if this machine has them."""
        has = earlier.device == "cpu" or (earlier.device == "cuda" and devices.cuda_devices() > 0)
        return Machine(device=earlier.device if has else None, threads=earlier.threads)

    not_resumable = "is a policy without its memories, which a resume needs"
    keeps_resumable = (Advice("keep_memories", None, "saves them", keyword="save(path, resumable=True)"),)


class EnumeratedTraining(TrainingProblem[HistoryForm]):
    """A game whose information sets can be enumerated, so that its exploitability is exact."""

    def form(self) -> HistoryForm:
        return compile_history(self.rules)

    def create(self, form: HistoryForm, request: Request) -> DeepEngine:
        from regretless.deep.deep_cfr import DeepCfr
        from regretless.deep.engine import DeepEngine, check_fits, device_of
        from regretless.deep.policies import ExactEvaluator
        from regretless.deep.worlds import HistoryWorld, features_bytes

        if (needed := features_bytes(form)) > (free := available_bytes()):
            raise WouldNotFit(f"describing {self.name} to a network", needed=needed, available=free)
        world = HistoryWorld(self.rules, form, device_of(request.device))
        settings = self.settings_for(request)
        check_fits(self.name, world, settings)
        core = DeepCfr(world, settings, seed=request.settings.seed)
        # Networks of this size gain nothing from more threads.
        return DeepEngine(form, core, ExactEvaluator(world), threads=request.threads or 1, watchers=self.watchers)

    def size(self, form: HistoryForm) -> tuple[int, int]:
        return len(form.parent), len(form.keys)

    def solution(self, record: Record, form: HistoryForm, engine: DeepEngine) -> TrainedPolicy:
        from regretless.deep.policies import ExactEvaluator

        assert isinstance(engine.evaluator, ExactEvaluator)
        strategy = engine.evaluator.strategy(engine.policy())
        return TrainedPolicy(make_reader=lambda: strategy, **self.fields(record, form, engine))


AnyTraining: TypeAlias = TrainingProblem[Any]  # whichever form it has
