"""Every engine by name, loaded on first use.

An engine has a class for each kind of work; its `Build` says which options that class takes. `create` honours every
option or refuses it by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast, overload

from regretless.engines import devices
from regretless.engines.contract import BucketedEngine, GameEngine, PublicEngine, Sampling, SharedDevice, Updates
from regretless.engines.public.formats import FORMATS
from regretless.errors import InvalidGame, InvalidOption, MissingExtra, WouldNotFit
from regretless.forms.bucketed import BucketedForm
from regretless.forms.history import HistoryForm
from regretless.forms.memory import available_bytes
from regretless.forms.public import PublicForm
from regretless.forms.public_size import PublicSize, size_of_form
from regretless.forms.sequence import SequenceForm, compile_sequence
from regretless.games.game import Game

__all__ = [
    "ENGINES",
    "Build",
    "Entry",
    "Kind",
    "Options",
    "available",
    "check_public_fits",
    "create",
    "estimate",
    "register",
    "share",
]

GameForm = HistoryForm | SequenceForm
AnyForm = GameForm | PublicForm | BucketedForm


class Kind(StrEnum):
    """What an engine works on."""

    SEQUENCE = "sequence"  # a two-player game over sequences
    HISTORY = "history"  # a game over nodes
    SAMPLING = "sampling"  # a random part of a game over nodes
    PUBLIC = "public"  # the public tree of a poker game, with a vector of hands at every node
    BUCKETED = "bucketed"  # the same with hands in buckets, on runouts drawn at random


@dataclass(frozen=True, kw_only=True)
class Build:
    """A class of an engine, called as `class(form=form, **options)` with the options that it supports."""

    path: str  # "module:class"
    estimate: str = ""  # "module:function" of a form or its sizes and of options; "" if the class itself checks
    devices: tuple[str, ...] = ("cpu",)  # the first one is the default
    dtypes: tuple[str, ...] = ("float64",)  # the first one is the default
    threads: bool = False  # whether it can use several
    storages: tuple[int, ...] = ()  # bits per stored number
    updates: tuple[Updates, ...] = tuple(Updates)
    samplings: tuple[Sampling, ...] = (Sampling.FULL,)
    rules: bool = False  # whether it also needs the rules of the game, as `game`
    shared: str = ""  # "module:class" of a `SharedDevice` for many forms at once; "" if there is none


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An engine: what it works on and what must be installed."""

    classes: Mapping[Kind, Build]
    libraries: tuple[str, ...] = ()
    extra: str = ""  # the extra that installs them


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
    kind: Kind | str | None = None  # the form to work on, where there is a choice
    game: Game[Any] | None = None  # the rules, for an engine that walks them


IN_TURN = (Updates.ALTERNATING,)
BOTH = ("float64", "float32")
ANYWHERE = ("cpu", "cuda", "mps")

NUMBA = "regretless.engines.sequence.numba_engine"
NUMPY = "regretless.engines.sequence.numpy_engine"
TORCH = "regretless.engines.sequence.torch_engine"
MATRIX = "regretless.engines.sequence.matrix_engine"
CUDA = "regretless.engines.sequence.cuda.engine"
WALKS = "regretless.engines.sampling.walks"
BATCH = "regretless.engines.sampling.batch"
PUBLIC = "regretless.engines.public"
BUCKETED = "regretless.engines.bucketed"

_torch = Build(
    path=f"{TORCH}:TorchEngine", estimate=f"{TORCH}:estimate", devices=ANYWHERE, dtypes=BOTH[::-1], threads=True
)

ENGINES: dict[str, Entry] = {
    "numba": Entry(
        classes={
            Kind.SEQUENCE: Build(
                path=f"{NUMBA}:NumbaSequenceEngine", estimate=f"{NUMBA}:estimate", dtypes=BOTH, threads=True
            ),
            Kind.HISTORY: Build(
                path=f"{NUMBA}:NumbaHistoryEngine", estimate=f"{NUMBA}:estimate", dtypes=BOTH, threads=True
            ),
            Kind.SAMPLING: Build(
                path=f"{WALKS}:SamplingEngine",
                estimate=f"{WALKS}:estimate",
                updates=IN_TURN,
                samplings=(Sampling.CHANCE, Sampling.EXTERNAL, Sampling.OUTCOME),
            ),
            Kind.PUBLIC: Build(
                path=f"{PUBLIC}.compiled.engine:CompiledPublicEngine",
                estimate=f"{PUBLIC}.compiled.sizes:estimate",
                dtypes=("float32",),
                threads=True,
                storages=tuple(FORMATS),
                updates=IN_TURN,
            ),
            Kind.BUCKETED: Build(
                path=f"{BUCKETED}.compiled.engine:CompiledBucketedEngine",
                estimate=f"{BUCKETED}.compiled.engine:estimate",
                dtypes=("float32",),
                threads=True,
                storages=(32,),
                updates=IN_TURN,
            ),
        },
        libraries=("numba",),
    ),
    "numpy": Entry(
        classes={
            Kind.SEQUENCE: Build(path=f"{NUMPY}:NumpySequenceEngine", estimate=f"{NUMPY}:estimate"),
            Kind.HISTORY: Build(path=f"{NUMPY}:NumpyHistoryEngine", estimate=f"{NUMPY}:estimate"),
            Kind.PUBLIC: Build(path=f"{PUBLIC}.reference:PublicReference", storages=(64,), updates=IN_TURN),
            Kind.BUCKETED: Build(path=f"{BUCKETED}.reference:BucketedReference", storages=(64,), updates=IN_TURN),
        }
    ),
    "torch": Entry(
        classes={
            Kind.SEQUENCE: _torch,
            Kind.HISTORY: _torch,
            Kind.SAMPLING: Build(
                path=f"{BATCH}:BatchSamplingEngine",
                devices=ANYWHERE,
                dtypes=BOTH[::-1],
                updates=IN_TURN,
                samplings=(Sampling.CHANCE,),
            ),
            Kind.PUBLIC: Build(
                path=f"{PUBLIC}.portable.engine:PortablePublicEngine",
                estimate=f"{PUBLIC}.portable.sizes:estimate",
                devices=ANYWHERE,
                dtypes=("float32",),
                threads=True,
                storages=tuple(FORMATS),
                updates=IN_TURN,
            ),
            Kind.BUCKETED: Build(
                path=f"{BUCKETED}.portable.engine:PortableBucketedEngine",
                estimate=f"{BUCKETED}.portable.engine:estimate",
                devices=ANYWHERE,
                dtypes=("float32",),
                threads=True,
                storages=(32,),
                updates=IN_TURN,
            ),
        },
        libraries=("torch",),
        extra="torch",
    ),
    "cupy": Entry(
        classes={
            Kind.SEQUENCE: Build(path=f"{CUDA}:CupyEngine", devices=("cuda",), dtypes=BOTH[::-1]),
            Kind.PUBLIC: Build(
                path=f"{PUBLIC}.cuda.engine:CudaPublicEngine",
                estimate=f"{PUBLIC}.cuda.sizes:estimate",
                devices=("cuda",),
                dtypes=("float32",),
                storages=tuple(FORMATS),
                updates=IN_TURN,
                shared=f"{PUBLIC}.cuda.shared:SharedCuda",
            ),
        },
        libraries=("cupy",),
        extra="gpu",
    ),
    "matrix": Entry(
        classes={
            Kind.HISTORY: Build(path=f"{MATRIX}:MatrixEngine", estimate=f"{MATRIX}:estimate", devices=("cpu", "cuda"))
        },
        libraries=("scipy",),
        extra="exact",
    ),
}

FASTEST_FIRST = {"cpu": ("numba", "numpy"), "cuda": ("cupy", "torch"), "mps": ("torch",)}  # by device


def available() -> tuple[str, ...]:
    """Names of the engines whose libraries are installed."""
    return tuple(name for name, entry in ENGINES.items() if not _missing(entry))


def register(name: str, entry: Entry) -> None:
    """Register an engine under an unused name."""
    if name in ENGINES or name == "auto":
        raise InvalidOption("engine", name, "is already registered")
    ENGINES[name] = entry


def estimate(name: str, kind: Kind, size: object, **options: object) -> int | None:
    """Bytes that an engine would allocate in addition to the compiled game; None if its class checks that itself.

    `size` is the compiled game or, for the public form, its sizes; `options` are `dtype`, `threads` and `storage`.
    """
    path = _entry(name).classes[kind].estimate
    return cast(int, _load(path)(size, **options)) if path else None


@overload
def create(name: str, form: PublicForm, **options: Any) -> PublicEngine: ...
@overload
def create(name: str, form: BucketedForm, **options: Any) -> BucketedEngine: ...
@overload
def create(name: str, form: GameForm, **options: Any) -> GameEngine: ...


def create(name: str, form: AnyForm, **options: Any) -> GameEngine | PublicEngine | BucketedEngine:
    """An engine for a compiled game; by default on the sequence form for two players, on the history form for more.

    `name` is one of `available()` or "auto"; `options` are those of `Options`. If both `name` and `device` are "auto",
    a large game goes to a CUDA device if there is one, in float64 as on a CPU (`devices.py` says how large and why);
    `threads` keeps it on the CPU.
    """
    asked = Options(**options)
    if asked.threads is not None and asked.threads < 1:
        raise InvalidOption("threads", asked.threads, "must be at least 1")
    kind = _kind(name, form, asked)
    if name == "auto":
        form = _as(kind, form)  # the form that the candidates work on, which also determines the size
        if asked.device == "auto" and kind in (Kind.SEQUENCE, Kind.HISTORY):
            name, device = _choose_by_size(form, asked.threads)
            asked = replace(asked, device=device, dtype=asked.dtype or "float64")
        else:
            name = _choose(kind, "cpu" if asked.device == "auto" else asked.device)
    entry = _entry(name)
    for library in _missing(entry):
        raise MissingExtra(library, entry.extra)
    if kind not in entry.classes:
        if kind is Kind.SAMPLING:
            raise InvalidOption("engine", name, "does not sample: use numba, or torch for batches")
        raise InvalidGame(f"the {name} engine does not work on the {kind} form, which {_name(form)} needs")
    build = entry.classes[kind]
    _check(name, kind, build, asked)
    where = build.devices[0] if asked.device == "auto" else asked.device
    if where == "cuda":
        devices.require_cuda()
    taken = _taken(kind, form, build, asked, where)
    form = _as(kind, form)
    sized = {key: value for key, value in taken.items() if key in ("dtype", "threads", "storage")}
    if isinstance(form, PublicForm):
        check_public_fits(name, size_of_form(form), device=where, **sized)
    elif where == "cpu":
        _check_fits(name, kind, form, sized)
    return cast(GameEngine | PublicEngine | BucketedEngine, _load(build.path)(form=form, **taken))


def share(name: str, device: str) -> SharedDevice[Any] | None:
    """A device on which engines for many public forms are advanced together; None if this engine has none.

    `name` and `device` are as in `create`, on a GPU.
    """
    if name == "auto":
        name = _choose(Kind.PUBLIC, device)
    entry = _entry(name)
    for library in _missing(entry):
        raise MissingExtra(library, entry.extra)
    path = entry.classes[Kind.PUBLIC].shared
    return cast("SharedDevice[Any]", _load(path)()) if path else None


def _kind(name: str, form: AnyForm, asked: Options) -> Kind:
    if isinstance(form, PublicForm):
        return Kind.PUBLIC
    if isinstance(form, BucketedForm):
        return Kind.BUCKETED
    if asked.sampling is not Sampling.FULL:
        return Kind.SAMPLING
    if asked.kind is not None:
        return Kind(asked.kind)
    known = name not in ENGINES or Kind.SEQUENCE in ENGINES[name].classes
    return Kind.SEQUENCE if known and _history(form).players == 2 else Kind.HISTORY


def _check(name: str, kind: Kind, build: Build, asked: Options) -> None:
    """Refuse options that the engine does not support."""
    who = f"the {name} engine{f' on the {kind} form' if kind in (Kind.PUBLIC, Kind.BUCKETED) else ''}"
    if asked.device not in ("auto", *build.devices):
        raise InvalidOption("device", asked.device, f"is not for {who}, which runs on {' or '.join(build.devices)}")
    if asked.dtype not in (None, *build.dtypes):
        raise InvalidOption("dtype", asked.dtype, f"is not for {who}, which has {' and '.join(build.dtypes)}")
    if not build.threads and asked.threads not in (None, 1):
        raise InvalidOption("threads", asked.threads, f"must be 1 for {who}")
    if asked.storage not in (None, *build.storages):
        known = f"is not one of {', '.join(map(str, build.storages))} bits" if build.storages else f"is not for {who}"
        raise InvalidOption("storage", asked.storage, known)
    if asked.updates not in build.updates:
        why = f"cannot be combined with {'sampling' if kind is Kind.SAMPLING else who}, which updates players in turn"
        raise InvalidOption("updates", str(asked.updates), why)
    if asked.sampling not in build.samplings:
        known = " and ".join(build.samplings)
        raise InvalidOption("sampling", str(asked.sampling), f"is not for {who}, which has {known}")
    if kind is not Kind.SAMPLING and asked.seed:
        raise InvalidOption("seed", asked.seed, "is only for solves that sample")
    if kind is not Kind.SAMPLING and asked.batch_size is not None:
        raise InvalidOption("batch_size", asked.batch_size, "is only for solves that sample")
    if build.rules and asked.game is None:
        raise InvalidOption("engine", name, "needs the rules of the game, not only its compiled form")


def _taken(kind: Kind, form: AnyForm, build: Build, asked: Options, where: str) -> dict[str, Any]:
    """The options that the class supports."""
    taken: dict[str, Any] = {}
    if build.devices != ("cpu",):
        taken["device"] = where
    if len(build.dtypes) > 1:
        taken["dtype"] = asked.dtype or build.dtypes[0]
    if len(build.updates) > 1:
        taken["updates"] = Updates(asked.updates)
    if kind is Kind.SAMPLING:
        taken |= {"sampling": Sampling(asked.sampling), "seed": asked.seed}
    if build.rules:
        taken["game"] = asked.game
    if build.threads and isinstance(form, PublicForm):  # threads do not change its results
        taken["threads"] = asked.threads or devices.useful_cores(size_of_form(form))
    elif build.threads and kind is Kind.BUCKETED:
        taken["threads"] = asked.threads or devices.available_cores()
    elif build.threads and asked.threads is not None:
        taken["threads"] = asked.threads
    if len(build.storages) > 1:
        taken["storage"] = asked.storage or build.storages[0]
    return taken if asked.batch_size is None else taken | {"batch_size": asked.batch_size}


def _check_fits(name: str, kind: Kind, form: GameForm | BucketedForm, options: dict[str, Any]) -> None:
    needed = estimate(name, kind, form, **options)
    if needed is not None and needed > (free := available_bytes()):
        raise WouldNotFit(f"{_name(form)} in the {name} engine", needed=needed, available=free)


def check_public_fits(name: str, size: PublicSize, *, device: str, what: str = "a public form", **options: Any) -> None:
    """Raise `WouldNotFit` if an engine takes more memory for a public form than its device has free; says what fits."""
    if device not in ("cpu", "cuda") or not _entry(name).classes[Kind.PUBLIC].estimate:
        return

    def needs(engine: str, where: str, **changed: Any) -> int:
        build = ENGINES[engine].classes[Kind.PUBLIC]
        known = {key: value for key, value in (options | changed).items() if key != "threads" or build.threads}
        somewhere = {"device": where} if len(build.devices) > 1 else {}
        return estimate(engine, Kind.PUBLIC, size, **known, **somewhere) or 0

    needed, free = needs(name, device), available_bytes() if device == "cpu" else devices.cuda_free_bytes()
    if needed <= free:
        return
    fitting = []
    if options.get("storage") == 32 and (halved := needs(name, device, storage=16)) <= free:
        fitting.append(f"--storage 16 needs {halved / 2**30:.1f} GiB, which fits")
    if device == "cuda" and (on_cpu := needs("numba", "cpu")) <= available_bytes():
        fitting.append(f"--device cpu needs {on_cpu / 2**30:.1f} GiB, which fits")
    memory = "memory" if device == "cpu" else "GPU memory"
    raise WouldNotFit(
        f"{what} in the {name} engine", needed=needed, available=free, memory=memory, hint="; ".join(fitting)
    )


def _choose_by_size(form: AnyForm, threads: int | None) -> tuple[str, str]:
    """The best engine and device for a game of this size on this machine."""
    assert not isinstance(form, PublicForm | BucketedForm)
    kind = Kind.SEQUENCE if isinstance(form, SequenceForm) else Kind.HISTORY
    size = devices.game_size(form)
    for name, smallest in devices.GPU_FROM.items():
        able = kind in ENGINES[name].classes and not _missing(ENGINES[name])
        if threads is None and size >= smallest and able and devices.cuda_devices():
            return name, "cuda"
    return _choose(kind, "cpu"), "cpu"


def _choose(kind: Kind, device: str) -> str:
    """The fastest installed engine that runs on `device` and does this kind of work."""
    if device == "cuda":
        devices.require_cuda()
    if device not in FASTEST_FIRST:
        raise InvalidOption("device", device, f"is not one of auto, {', '.join(FASTEST_FIRST)}")
    able = [name for name in FASTEST_FIRST[device] if kind in ENGINES[name].classes]
    if not able:
        raise InvalidOption("device", device, f"has no engine for the {kind} form")
    for name in able:
        if not _missing(ENGINES[name]):
            return name
    raise MissingExtra(ENGINES[able[0]].libraries[0], ENGINES[able[0]].extra)


def _missing(entry: Entry) -> list[str]:
    return [library for library in entry.libraries if find_spec(library) is None]


def _entry(name: str) -> Entry:
    if name not in ENGINES:
        raise InvalidOption("engine", name, f"is not one of auto, {', '.join(ENGINES)}")
    return ENGINES[name]


def _load(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def _name(form: AnyForm) -> str:
    if isinstance(form, PublicForm):
        return "a public form"
    return form.name if isinstance(form, BucketedForm) else _history(form).name


def _history(form: GameForm) -> HistoryForm:
    return form.history if isinstance(form, SequenceForm) else form


def _as(kind: Kind, form: AnyForm) -> AnyForm:
    if isinstance(form, PublicForm | BucketedForm):
        return form
    if kind is Kind.SEQUENCE:
        return form if isinstance(form, SequenceForm) else compile_sequence(form)
    return _history(form)
