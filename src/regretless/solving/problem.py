"""What differs between kinds of problems on the path from a request to a solution.

options    SolveOptions                              what was asked, typed
request    make_request(problem, options)            every option honoured or refused, the rest filled in
form       problem.form()                            compiled, after `check_fits`
engine     problem.create(form, request)             chosen once, found in the registry
loop       run(engine, variant, stop)                measurements, checkpoints, interrupts, resume
solution   problem.solution(record, form, engine)    which can be saved, loaded, verified and resumed
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeAlias, TypeVar

from regretless.engines import ENGINES, Choice, FormKind, devices, engine_if_able, engine_name
from regretless.errors import Advice, InvalidOption
from regretless.forms.bucketed import BucketedForm
from regretless.forms.history import HistoryForm
from regretless.forms.public import PublicForm
from regretless.forms.tree_hash import tree_hash
from regretless.solving.kinds import Kind, of_solution
from regretless.solving.loop import Stop
from regretless.solving.options import DEVICES, EXACT, SolveOptions
from regretless.solving.record import Record, Settings
from regretless.solving.solution import Solution
from regretless.variants.presets import PRESETS, read_variant, variant_text
from regretless.variants.variant import Variant, stores_predictions

__all__ = ["AnyProblem", "Machine", "Problem", "Request"]

CHECKPOINT_SECONDS = 180.0

FormType = TypeVar("FormType", bound=HistoryForm | PublicForm | BucketedForm)
EngineType = TypeVar("EngineType")


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What a solve runs on; None leaves the choice open."""

    engine: str | None = None
    device: str | None = None
    threads: int | None = None


@dataclass(frozen=True, kw_only=True)
class Request:
    """A problem and its options, checked and filled in: all that a solve needs."""

    problem: AnyProblem
    variant: Variant | None  # None: the exact equilibrium
    variant_text: str
    settings: Settings  # kept by a resume
    engine: str = "auto"
    device: str = "auto"
    threads: int | None = None
    shards: int | None = None  # processes that share the game; None: this one has all of it
    resume: Solution | None = None
    checkpoint: Path | None = None  # where to save every `save_every` seconds and on interrupts
    save_every: float = CHECKPOINT_SECONDS
    shared_choice: Choice | None = None  # of spots that are solved together
    readable_checkpoints: bool = False  # whether each checkpoint is a whole solution; writing it takes longer

    @property
    def predicts(self) -> bool:
        """Whether the variant keeps predictions beside the regrets from its first iteration on."""
        return self.variant is not None and stores_predictions(self.variant)

    @property
    def stop(self) -> Stop:
        """When the loop ends."""
        end = self.settings
        return Stop(iterations=end.iterations, target=end.target, measure_every=end.measure_every)

    @cached_property
    def choice(self) -> Choice:
        """The engine and device, chosen once."""
        return self.problem.choose(self) if self.shared_choice is None else self.shared_choice


class Problem(ABC, Generic[FormType, EngineType]):
    """Something to solve: a game, or a hold'em spot."""

    kind: Kind
    name: str  # as users type it
    unit: str = "per game"  # of exploitability as it is shown
    scale: float = 1.0  # exploitability in `unit` / exploitability in the game's units
    form_name: str = "history"  # what `form` compiles, as users type it
    variant: str = "plus"  # the default
    forms: tuple[FormKind, ...]  # what its engines work on
    solution_type: type[Solution]  # what `solution` returns
    measures: bool = True  # whether the loop measures exploitability; if so, its engine must be able to
    default_iterations: int = 1000  # if neither iterations nor a target is given
    default_target: float | None = None  # the same, in a user's units
    max_iterations: int = 1_000_000  # limit if only a target is given

    def end(self, iterations: int | None, target: float | None) -> tuple[int, float | None]:
        """Iterations and target (in the game's units), from those of a request (in a user's)."""
        if iterations is None:
            iterations = self.default_iterations if target is None else self.max_iterations
            target = self.default_target if target is None else target
        return iterations, None if target is None else self.in_units(target)

    def normalise_options(self, options: SolveOptions) -> SolveOptions:
        """The options with texts as they are stored in the settings of a file."""
        return options

    def choose_variant(self, requested: str | Variant | None, resume: Solution | None) -> tuple[Variant | None, str]:
        """The requested variant and its text, else those of the earlier solve or the default; None for `lp`."""
        default = self.variant if resume is None else resume.variant
        choice = default if requested is None else requested
        if isinstance(choice, str) and choice == EXACT:
            if self.kind is not Kind.GAME:
                reason = f"cannot solve {self.name}: it is for small games in the history form"
                raise InvalidOption("variant", EXACT, reason)
            return None, EXACT
        try:
            variant = read_variant(choice)
        except InvalidOption:
            if resume is not None and requested is None:
                reason = f"was solved by {choice}, a variant of your own: give it as variant=…"
                raise InvalidOption("resume", resume.where, reason) from None
            raise
        return variant, choice if isinstance(choice, str) and choice in PRESETS else variant_text(variant)

    def fill_settings(self, settings: Settings) -> Settings:
        """The settings of a request, with those that the problem itself decides."""
        return replace(settings, form=self.form_name)

    def measure_every(self, iterations: int, target: float | None) -> int | None:
        """Iterations between measurements, unless the request says; None: the loop chooses."""
        return None

    @classmethod
    def check_machine(cls, engine: str, device: str) -> None:
        """Refuse by name an engine or device that does not exist or cannot solve this kind of problem."""
        engine = engine_name(engine)
        engine_names, device_names = ["auto"], ["auto"]  # that can solve it
        for name, entry in ENGINES.items():
            builds = [build for form, build in entry.classes.items() if form in cls.forms]
            if builds:
                engine_names.append(name)
            for build in builds:
                device_names += [each for each in build.devices if each not in device_names]
        if engine not in engine_names:
            cls._refuse_machine("engine", engine, engine_names, exists=engine in ENGINES)
        if devices.device_type(device) not in device_names:
            cls._refuse_machine("device", device, device_names, exists=device in DEVICES)

    @classmethod
    def _refuse_machine(cls, option: str, name: str, able: list[str], *, exists: bool) -> NoReturn:
        """Refuse an engine or device that is not among those that can solve this kind of problem."""
        subjects = {
            Kind.PUBLIC: "the public form",
            Kind.BUCKETED: "a spot with buckets",
            Kind.DEALT: "a game from the deal",
            Kind.FLOPS: "a game from the deal",
        }
        subject = subjects.get(cls.kind, f"a {cls.kind}")
        reason = f"cannot solve {subject}: use one of" if exists else "is not one of"
        raise InvalidOption(option, name, f"{reason} {', '.join(able)}")

    def in_units(self, target: float) -> float:
        """A user's target in the game's units."""
        return target / self.scale

    def choose(self, request: Request) -> Choice:
        """The engine and device for a request."""
        return Choice(request.engine, request.device)

    def check_fits(self, request: Request) -> None:
        """Raise `WouldNotFit` if memory is known to be too small before anything is compiled."""

    @abstractmethod
    def form(self) -> FormType:
        """The compiled problem."""

    def tree_hash(self, form: FormType) -> str:
        """Equal for problems whose snapshots fit each other."""
        return tree_hash(form.tree if isinstance(form, BucketedForm) else form)

    @abstractmethod
    def create(self, form: FormType, request: Request) -> EngineType:
        """An engine on the form."""

    def prepare(self, engine: EngineType, *, resumed: bool) -> None:
        """Prepare a new or restored engine for its first iteration."""

    @abstractmethod
    def checkpoint_bytes(self, form: FormType, engine: EngineType) -> int:
        """Approximate size of a checkpoint."""

    @abstractmethod
    def size(self, form: FormType) -> tuple[int, int]:
        """Nodes and information sets."""

    @abstractmethod
    def solution(self, record: Record, form: FormType, engine: EngineType) -> Solution:
        """The answer, read from the engine."""

    # --- resuming ----------------------------------------------------------------------------------------------------

    def machine(self, earlier: Solution) -> Machine:
        """What a solve runs on that resumes an earlier one."""
        sampled = earlier.settings.sampling != "full"
        engine = engine_if_able(earlier.engine, self.forms)
        builds = ENGINES[engine].classes.items() if engine in ENGINES else ()
        takes_threads = any(build.threads for form, build in builds if (form is FormKind.SAMPLING) == sampled)
        threads = earlier.threads if takes_threads else None  # other engines only report how many they use
        return Machine(engine=engine, device=earlier.device, threads=threads)

    # Why a solution without a snapshot cannot be resumed, and what would have saved one.
    not_resumable: str = "is a finished solve without its regrets, which a resume needs"
    keeps_resumable: tuple[Advice, ...] = (
        Advice("keep_regrets", None, "saves them", keyword="save(path, resumable=True)"),
    )

    def check_resumed(self, earlier: Solution) -> None:
        """Refuse a solution of another problem."""
        command = earlier.problem_kind.command
        if command != of_solution(self.solution_type).command:
            raise InvalidOption("resume", earlier.where, f"is resumed by regretless {command}")
        if type(earlier) is not self.solution_type:
            raise InvalidOption("resume", earlier.where, f"is not a solve of {self.name}")


AnyProblem: TypeAlias = Problem[Any, Any]  # whichever form and engine it has
