"""What differs between kinds of problems on the path from a request to a solution.

request    make_request(problem, options)            every option honoured or refused
form       problem.form()                            compiled, after `check_fits`
engine     problem.create(form, request)             found in the registry
loop       run(engine, variant, stop)                measurements, checkpoints, interrupts, resume
solution   problem.solution(record, form, engine)    which can be saved, loaded, verified and resumed
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from regretless.engines import ENGINES, FormKind, engine_if_able, engine_name
from regretless.errors import Advice, InvalidOption
from regretless.forms.bucketed import BucketedForm
from regretless.forms.history import HistoryForm
from regretless.forms.public import PublicForm
from regretless.forms.tree_hash import tree_hash
from regretless.solving.record import Record
from regretless.solving.request import DEVICES, EXACT, Kind, Request
from regretless.solving.solution import Solution
from regretless.variants.presets import PRESETS, read_variant, variant_text
from regretless.variants.variant import Variant

__all__ = ["Problem"]

ITERATIONS = 1000
ITERATIONS_TO_TARGET = 1_000_000  # limit if only a target is given

FormType = TypeVar("FormType", bound=HistoryForm | PublicForm | BucketedForm)
EngineType = TypeVar("EngineType")


class Problem(ABC, Generic[FormType, EngineType]):
    """Something to solve: a game, or a hold'em spot."""

    kind: Kind
    name: str  # as users type it
    unit: str = "per game"  # in which exploitability is shown
    scale: float = 1.0  # exploitability in `unit` / exploitability in the game's units
    form_name: str = "history"  # what `form` compiles, as users type it
    variant: str = "plus"  # the default
    forms: tuple[FormKind, ...]  # what its engines work on
    solution_type: type[Solution]  # what `solution` returns
    measures: bool = True  # whether the loop measures exploitability, which its engine must then be able to

    def end(self, iterations: int | None, target: float | None) -> tuple[int, float | None]:
        """Iterations and target (in the game's units) for a request."""
        if iterations is None:
            iterations = ITERATIONS if target is None else ITERATIONS_TO_TARGET
        return iterations, target

    def choose_variant(self, given: Mapping[str, Any], resume: Solution | None) -> tuple[Variant | None, str]:
        """The requested variant and its text, else those of the earlier solve or the default; None for `lp`."""
        asked = given.get("variant", self.variant if resume is None else resume.variant)
        if isinstance(asked, str) and asked == EXACT:
            if self.kind is not Kind.GAME:
                reason = f"cannot solve {self.name}: it is for small games in the history form"
                raise InvalidOption("variant", EXACT, reason)
            return None, EXACT
        try:
            variant = read_variant(asked)
        except InvalidOption:
            if resume is not None and "variant" not in given:
                reason = f"was solved by {asked}, a variant of your own: give it as variant=…"
                raise InvalidOption("resume", resume.where, reason) from None
            raise
        return variant, asked if isinstance(asked, str) and asked in PRESETS else variant_text(variant)

    def fixed_settings(self) -> dict[str, Any]:
        """Settings that nothing in a request changes."""
        return {"form": self.form_name}

    def measure_every(self, iterations: int, target: float | None) -> int | None:
        """Iterations between measurements, unless the request says; None: the loop chooses."""
        return None

    @classmethod
    def check_machine(cls, engine: str, device: str) -> None:
        """Refuse by name an engine or device that does not exist or cannot solve this kind of problem."""
        engine = engine_name(engine)
        builds = {
            name: [build for form, build in entry.classes.items() if form in cls.forms]
            for name, entry in ENGINES.items()
        }
        able = [name for name in builds if builds[name]]
        places = dict.fromkeys(place for name in able for build in builds[name] for place in build.devices)
        for option, value, known, existing in (
            ("engine", engine, ("auto", *able), ENGINES),
            ("device", device, ("auto", *places), DEVICES),
        ):
            if value not in known:
                what = {
                    Kind.PUBLIC: "the public form",
                    Kind.BUCKETED: "a spot with buckets",
                    Kind.DEALT: "a game from the deal",
                }.get(cls.kind, f"a {cls.kind}")
                wrong = f"cannot solve {what}: use one of" if value in existing else "is not one of"
                raise InvalidOption(option, value, f"{wrong} {', '.join(known)}")

    def in_units(self, target: float) -> float:
        """A user's target in the game's units."""
        return target

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

    def machine(self, earlier: Solution) -> dict[str, Any]:
        """Engine, device and threads for a solve that resumes an earlier one."""
        sampled = earlier.settings.sampling != "full"
        engine = engine_if_able(earlier.engine, self.forms)
        builds = ENGINES[engine].classes.items() if engine in ENGINES else ()
        chosen = any(build.threads for form, build in builds if (form is FormKind.SAMPLING) == sampled)
        threads = earlier.threads if chosen else None  # some engines report threads that they do not let you choose
        return {"engine": engine, "device": earlier.device, "threads": threads}

    if_final: tuple[Advice, ...] = ()  # what would have kept a snapshot

    def why_final(self, earlier: Solution) -> str:
        """Why a solution without a snapshot cannot be resumed."""
        return f"was solved by {earlier.variant}: there is nothing to resume"

    def check_resumed(self, earlier: Solution) -> None:
        """Refuse a solution of another problem."""
        if earlier.command != self.solution_type.command:
            raise InvalidOption("resume", earlier.where, f"is resumed by regretless {earlier.command}")
        if type(earlier) is not self.solution_type:
            raise InvalidOption("resume", earlier.where, f"is not a solve of {self.name}")
