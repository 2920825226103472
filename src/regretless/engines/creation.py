"""From a compiled game and options to an engine: every option is honoured or refused by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast, overload

import numpy as np

from regretless.engines import devices
from regretless.engines.bucket_strategies import BucketEvaluator, BucketEvaluators
from regretless.engines.contract import (
    BucketedEngine,
    GameEngine,
    PartEngine,
    PublicEngine,
    Sampling,
    SharedDevice,
    Updates,
)
from regretless.engines.memory import check_fits
from regretless.engines.registry import (
    ENGINES,
    FASTEST_FIRST,
    Build,
    FormKind,
    engine_name,
    fastest,
    find_engine,
    is_installed,
    load,
    require,
)
from regretless.engines.sampled import RunoutSampling
from regretless.errors import InvalidGame, InvalidOption
from regretless.forms.bucketed import BucketedForm
from regretless.forms.history import HistoryForm
from regretless.forms.public import NodeKind, PublicForm
from regretless.forms.public_size import size_of_form
from regretless.forms.sequence import SequenceForm, compile_sequence
from regretless.games.game import AnyGame

__all__ = [
    "Options", "bucket_evaluator_beside", "bucket_evaluators", "check_samples_runouts", "create", "create_part",
    "kernels_are_compiled", "share",
]  # fmt: skip

GameForm = HistoryForm | SequenceForm
AnyForm = GameForm | PublicForm | BucketedForm


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of `create`; an engine honours an option or refuses it."""

    device: str = "auto"
    dtype: str | None = None  # "float32" or "float64"; by default the engine's own
    threads: int | None = None
    storage: int | None = None  # bits per stored number, for the public form
    updates: Updates = Updates.ALTERNATING
    sampling: Sampling = Sampling.FULL
    seed: int = 0  # of an engine that samples
    batch_size: int | None = None  # deals that it draws between two updates
    kind: FormKind | str | None = None  # the form to work on, where there is a choice
    game: AnyGame | None = None  # the rules, for an engine that walks them
    predicts: bool = False  # whether the variant will store predictions, which are counted: public and bucketed forms
    runouts: RunoutSampling | None = None  # of a public form; None: iterations walk all


@overload
def create(name: str, form: PublicForm, **options: Any) -> PublicEngine: ...
@overload
def create(name: str, form: BucketedForm, **options: Any) -> BucketedEngine: ...
@overload
def create(name: str, form: GameForm, **options: Any) -> GameEngine: ...


def create(name: str, form: AnyForm, **options: Any) -> GameEngine | PublicEngine | BucketedEngine:
    """An engine for a compiled game; by default on the sequence form for two players, on the history form for more.

    `name` is one of `available()` or "auto"; `options` are those of `Options`. If both `name` and `device` are "auto",
    a large game goes to a CUDA device if there is one, in float64 as on a CPU (`devices.py` says how large and why), or
    to the GPU of a Mac, in float32; `threads` keeps it on the CPU. "cuda:1" is the second CUDA device.
    """
    name, requested = engine_name(name), Options(**options)
    if requested.threads is not None and requested.threads < 1:
        raise InvalidOption("threads", requested.threads, "must be at least 1")
    kind = _form_kind(name, form, requested)
    if name == "auto":
        form = _convert(form, kind)  # the form that the candidates work on, which also determines the size
        name, requested = _choose(kind, form, requested)
    build = _find_build(name, kind, form)
    require(name)
    _check_options(name, kind, build, requested)
    device = build.devices[0] if requested.device == "auto" else requested.device
    if devices.device_type(device) == "cuda":
        devices.require_cuda(device)
    arguments = _arguments(kind, form, build, requested, device)
    form = _convert(form, kind)
    _check_memory(name, kind, form, arguments, device, predicts=requested.predicts)
    return cast(GameEngine | PublicEngine | BucketedEngine, load(build.path)(form=form, **arguments))


def create_part(name: str, form: PublicForm, **options: Any) -> PartEngine:
    """An engine for a part of a form; as `create`. All engines of the public form solve parts."""
    return cast(PartEngine, create(name, form, **options))


def check_samples_runouts(name: str, device: str, count: int) -> None:
    """Refuse an engine or a device of the public form, or "auto", that cannot sample so many runouts."""
    builds = {other: entry.classes.get(FormKind.PUBLIC) for other, entry in ENGINES.items()}
    able = {other: build for other, build in builds.items() if build is not None and build.runouts}
    kinds = {each for build in able.values() for each in build.devices}
    if name not in ("auto", *able) or devices.device_type(device) not in ("auto", *kinds):
        who = f"the {name} engine" if name not in ("auto", *able) else f"device {device}"
        why = f"cannot be combined with {who}: use {' or '.join(able)}, on the CPU"
        raise InvalidOption("sample_runouts", count, why)


def share(name: str, device: str) -> SharedDevice[Any] | None:
    """A device on which engines for many public forms are advanced together; None if this engine has none.

    `name` and `device` are as in `create`, on a GPU; without one, raises `InvalidOption`.
    """
    devices.require_cuda()
    if name == "auto":
        name = fastest(FormKind.PUBLIC, device)
    path = require(name).classes[FormKind.PUBLIC].shared
    return cast("SharedDevice[Any]", load(path)()) if path else None


def bucket_evaluators(
    device: str, *, threads: int = 1, interrupted: Callable[[], bool] = lambda: False
) -> BucketEvaluators:
    """Evaluators of strategies per bucket on "cpu" or "cuda"; they raise `EvaluationStopped` once `interrupted()`."""
    builds = {name: ENGINES[name].classes.get(FormKind.PUBLIC) for name in FASTEST_FIRST.get(device, ())}
    able = [name for name, build in builds.items() if build is not None and build.buckets]
    if not able:
        raise InvalidOption("device", device, "is not one of auto, cpu, cuda")
    if device == "cuda":
        devices.require_cuda()
    build = require(able[0]).classes[FormKind.PUBLIC]
    options: dict[str, object] = {"threads": threads} if build.threads else {}
    return cast("BucketEvaluators", load(build.buckets)(interrupted=interrupted, **options))


def bucket_evaluator_beside(engine: BucketedEngine, form: PublicForm) -> BucketEvaluator:
    """An evaluator in `form` of what `engine` learns: on the engine's device if it fits there, otherwise on the CPU.

    On the CPU it has the engine's threads, or all cores if the engine is on another device.
    """
    if engine.device == "cuda" and is_installed("cuda"):
        on_device = bucket_evaluators("cuda")
        tree, buckets = form.tree, np.array(engine.form.buckets)
        decisions = tree.kind == NodeKind.DECISION
        columns = buckets[tree.player[decisions], tree.street[decisions]]
        probabilities = int(np.diff(tree.first_child)[decisions] @ columns)
        needed = on_device.needed_bytes(size_of_form(form), probabilities=probabilities)
        if buckets.max() <= on_device.max_buckets and needed <= on_device.free_bytes():
            return on_device.create(form)
    threads = engine.threads if engine.device == "cpu" else devices.available_cores()
    return bucket_evaluators("cpu", threads=threads).create(form)


def kernels_are_compiled(kind: FormKind, storage: int = 32) -> bool:
    """Whether the numba engine can start at once on this kind of form; otherwise setup compiles for 20 seconds."""
    compiled = ENGINES["numba"].classes[kind].compiled
    return not compiled or bool(load(compiled)(storage))


def _form_kind(name: str, form: AnyForm, requested: Options) -> FormKind:
    """The kind of form that the engine will work on."""
    if isinstance(form, PublicForm):
        return FormKind.PUBLIC
    if isinstance(form, BucketedForm):
        return FormKind.BUCKETED
    if requested.sampling is not Sampling.FULL:
        return FormKind.SAMPLING
    if requested.kind is not None:
        return FormKind(requested.kind)
    able = name not in ENGINES or FormKind.SEQUENCE in ENGINES[name].classes
    return FormKind.SEQUENCE if able and _history(form).players == 2 else FormKind.HISTORY


def _history(form: GameForm) -> HistoryForm:
    return form.history if isinstance(form, SequenceForm) else form


def _convert(form: AnyForm, kind: FormKind) -> AnyForm:
    """The form that engines of a kind work on."""
    if isinstance(form, PublicForm | BucketedForm):
        return form
    if kind is FormKind.SEQUENCE:
        return form if isinstance(form, SequenceForm) else compile_sequence(form)
    return _history(form)


def _choose(kind: FormKind, form: AnyForm, requested: Options) -> tuple[str, Options]:
    """The fastest engine for a form, and the options with the device and the number type chosen for it."""
    if requested.device == "auto" and kind in (FormKind.SEQUENCE, FormKind.HISTORY):
        name, device = _choose_by_size(form, requested.threads)
        dtype = "float32" if device == "mps" else "float64"  # MPS has no float64
        return name, replace(requested, device=device, dtype=requested.dtype or dtype)
    device = "cpu" if requested.device == "auto" else devices.device_type(requested.device)
    return fastest(kind, device), requested


def _choose_by_size(form: AnyForm, threads: int | None) -> tuple[str, str]:
    """The best engine and device for a game of this size on this machine."""
    assert not isinstance(form, PublicForm | BucketedForm)
    kind = FormKind.SEQUENCE if isinstance(form, SequenceForm) else FormKind.HISTORY
    size = devices.game_size(form)
    for name, smallest in devices.GPU_FROM.items():
        able = kind in ENGINES[name].classes and is_installed(name)
        if threads is None and size >= smallest and able and devices.cuda_devices():
            return name, "cuda"
    if threads is None and size >= devices.GPU_FROM["torch"] and is_installed("torch") and devices.has_mps():
        return "torch", "mps"
    return fastest(kind, "cpu"), "cpu"


def _find_build(name: str, kind: FormKind, form: AnyForm) -> Build:
    """The class of an engine for a kind of form; refuses an engine that does not work on it."""
    classes = find_engine(name).classes
    if kind in classes:
        return classes[kind]
    if kind is FormKind.SAMPLING:
        raise InvalidOption("engine", name, "does not sample: use numba, or torch for batches")
    able = [other for other, entry in ENGINES.items() if kind in entry.classes]
    why = f"the {name} engine does not work on the {kind} form, which {_describe(form)} needs"
    raise InvalidGame(f"{why}: use {' or '.join(able)}")


def _check_options(name: str, kind: FormKind, build: Build, requested: Options) -> None:
    """Refuse options that the engine does not support."""
    who = f"the {name} engine"
    if kind in (FormKind.PUBLIC, FormKind.BUCKETED):
        who += f" on the {kind} form"
    if devices.device_type(requested.device) not in ("auto", *build.devices):
        raise InvalidOption("device", requested.device, f"is not for {who}, which runs on {' or '.join(build.devices)}")
    if requested.dtype not in (None, *build.dtypes):
        raise InvalidOption("dtype", requested.dtype, f"is not for {who}, which has {' and '.join(build.dtypes)}")
    if requested.storage not in (None, *build.storages):
        why = f"is not one of {', '.join(map(str, build.storages))} bits" if build.storages else f"is not for {who}"
        raise InvalidOption("storage", requested.storage, why)
    if requested.updates not in build.updates:
        in_turn = "sampling" if kind is FormKind.SAMPLING else who
        why = f"cannot be combined with {in_turn}, which updates players in turn"
        raise InvalidOption("updates", str(requested.updates), why)
    if requested.sampling not in build.samplings:
        why = f"is not for {who}, which has {' and '.join(build.samplings)}"
        raise InvalidOption("sampling", str(requested.sampling), why)
    if kind is not FormKind.SAMPLING and requested.seed:
        raise InvalidOption("seed", requested.seed, "is only for solves that sample")
    if kind is not FormKind.SAMPLING and requested.batch_size is not None:
        raise InvalidOption("batch_size", requested.batch_size, "is only for solves that sample")
    if kind not in (FormKind.PUBLIC, FormKind.BUCKETED) and requested.predicts:
        raise InvalidOption("predicts", requested.predicts, "is only for the public and bucketed forms")
    if requested.runouts is not None:
        if kind is not FormKind.PUBLIC:
            raise InvalidOption("sample_runouts", requested.runouts.count, f"is not for {who}")
        check_samples_runouts(name, requested.device, requested.runouts.count)
    if build.rules and requested.game is None:
        raise InvalidOption("engine", name, "needs the rules of the game, not only its compiled form")


def _arguments(kind: FormKind, form: AnyForm, build: Build, requested: Options, device: str) -> dict[str, object]:
    """The options that the class supports."""
    arguments: dict[str, object] = {}
    if build.devices != ("cpu",):
        arguments["device"] = device
    if len(build.dtypes) > 1:
        arguments["dtype"] = requested.dtype or build.dtypes[0]
    if len(build.updates) > 1:
        arguments["updates"] = Updates(requested.updates)
    if kind is FormKind.SAMPLING:
        arguments |= {"sampling": Sampling(requested.sampling), "seed": requested.seed}
    if build.rules:
        arguments["game"] = requested.game
    if build.threads and isinstance(form, PublicForm):  # threads do not change its results
        arguments["threads"] = requested.threads or devices.useful_cores(size_of_form(form))
    elif build.threads and kind is FormKind.BUCKETED:
        arguments["threads"] = requested.threads or devices.available_cores()
    elif build.threads and requested.threads is not None:
        arguments["threads"] = requested.threads
    if requested.runouts is not None:
        arguments["runouts"] = requested.runouts
    if len(build.storages) > 1:
        arguments["storage"] = requested.storage or build.storages[0]
    return arguments if requested.batch_size is None else arguments | {"batch_size": requested.batch_size}


def _check_memory(
    name: str, kind: FormKind, form: AnyForm, arguments: dict[str, object], device: str, *, predicts: bool
) -> None:
    """Refuse an engine that would not fit; on GPUs, classes for general games check that themselves."""
    poker = kind in (FormKind.PUBLIC, FormKind.BUCKETED)
    if device != "cpu" and not poker:
        return
    options = {key: value for key, value in arguments.items() if key in ("dtype", "threads", "storage")}
    if poker:
        options["predicts"] = predicts
    if "runouts" in arguments:
        options["samples"] = True
    if isinstance(form, PublicForm) and form.part is not None:
        options["is_part"] = True
    size = size_of_form(form) if isinstance(form, PublicForm) else form
    check_fits(name, kind, size, device=device, what=_describe(form), **options)


def _describe(form: AnyForm) -> str:
    """A form as messages name it."""
    if isinstance(form, PublicForm):
        return "this solve"
    return form.name if isinstance(form, BucketedForm) else _history(form).name
