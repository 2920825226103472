"""Every engine by name, loaded on first use.

An engine has a class for each kind of form it works on; the class's `Build` says which options it takes. There is a
table of classes for each kind, and `ENGINES` has them by engine. `creation.py` makes engines from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from regretless.engines import devices
from regretless.engines.contract import Sampling, Updates
from regretless.engines.formats import NUMBER_FORMATS
from regretless.errors import InvalidOption, MissingExtra

__all__ = [
    "ENGINES", "FASTEST_FIRST", "Build", "EngineEntry", "FormKind", "available", "device_if_able", "engine_if_able",
    "engine_name", "fastest", "find_engine", "is_installed", "load", "register", "require",
]  # fmt: skip


class FormKind(StrEnum):
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
    buckets: str = ""  # "module:class" of `BucketEvaluators`; "" if there are none
    parts: bool = False  # whether it is a `PartEngine`, which can solve a public form in parts
    compiled: str = ""  # "module:function" of the storage: whether its kernels are compiled; "" if it has none


@dataclass(frozen=True, kw_only=True)
class EngineEntry:
    """An engine: what it works on and what must be installed."""

    classes: Mapping[FormKind, Build]
    libraries: tuple[str, ...] = ()
    extra: str = ""  # the extra that installs them


# --- the classes of each kind, by engine -----------------------------------------------------------------------------

IN_TURN = (Updates.ALTERNATING,)
DOUBLE_FIRST, SINGLE_FIRST, SINGLE = ("float64", "float32"), ("float32", "float64"), ("float32",)
ANYWHERE = ("cpu", "cuda", "mps")

_ENGINES = "regretless.engines"

_torch = Build(
    path=f"{_ENGINES}.torch.sequence:TorchEngine",
    estimate=f"{_ENGINES}.torch.sequence:estimate",
    devices=ANYWHERE,
    dtypes=SINGLE_FIRST,
    threads=True,
)
SEQUENCE = {
    "numba": Build(
        path=f"{_ENGINES}.numba.sequence:NumbaSequenceEngine",
        estimate=f"{_ENGINES}.numba.sequence:estimate",
        dtypes=DOUBLE_FIRST,
        threads=True,
    ),
    "numpy": Build(
        path=f"{_ENGINES}.numpy.sequence:NumpySequenceEngine", estimate=f"{_ENGINES}.numpy.sequence:estimate"
    ),
    "torch": _torch,
    "cuda": Build(path=f"{_ENGINES}.cuda.sequence.engine:CudaSequenceEngine", devices=("cuda",), dtypes=SINGLE_FIRST),
}
HISTORY = {
    "numba": Build(
        path=f"{_ENGINES}.numba.sequence:NumbaHistoryEngine",
        estimate=f"{_ENGINES}.numba.sequence:estimate",
        dtypes=DOUBLE_FIRST,
        threads=True,
    ),
    "numpy": Build(
        path=f"{_ENGINES}.numpy.sequence:NumpyHistoryEngine", estimate=f"{_ENGINES}.numpy.sequence:estimate"
    ),
    "torch": _torch,
    "matrix": Build(
        path=f"{_ENGINES}.numpy.matrix:MatrixEngine",
        estimate=f"{_ENGINES}.numpy.matrix:estimate",
        devices=("cpu", "cuda"),
    ),
}
SAMPLING = {
    "numba": Build(
        path=f"{_ENGINES}.numba.sampling:NumbaSamplingEngine",
        estimate=f"{_ENGINES}.numba.sampling:estimate",
        updates=IN_TURN,
        samplings=(Sampling.CHANCE, Sampling.EXTERNAL, Sampling.OUTCOME),
    ),
    "torch": Build(
        path=f"{_ENGINES}.torch.sampling:TorchSamplingEngine",
        devices=ANYWHERE,
        dtypes=SINGLE_FIRST,
        updates=IN_TURN,
        samplings=(Sampling.CHANCE,),
    ),
}
PUBLIC = {
    "numba": Build(
        path=f"{_ENGINES}.numba.public.engine:NumbaPublicEngine",
        estimate=f"{_ENGINES}.numba.public.sizes:estimate",
        dtypes=SINGLE,
        threads=True,
        storages=tuple(NUMBER_FORMATS),
        updates=IN_TURN,
        buckets=f"{_ENGINES}.numba.public.bucket_evaluator:NumbaBucketEvaluators",
        parts=True,
        compiled=f"{_ENGINES}.numba.public.engine:kernels_are_compiled",
    ),
    "numpy": Build(path=f"{_ENGINES}.numpy.public:PublicReference", storages=(64,), updates=IN_TURN, parts=True),
    "cuda": Build(
        path=f"{_ENGINES}.cuda.public.engine:CudaPublicEngine",
        estimate=f"{_ENGINES}.cuda.public.sizes:estimate",
        devices=("cuda",),
        dtypes=SINGLE,
        storages=tuple(NUMBER_FORMATS),
        updates=IN_TURN,
        shared=f"{_ENGINES}.cuda.public.batch:SharedCuda",
        buckets=f"{_ENGINES}.cuda.public.bucket_evaluator:CudaBucketEvaluators",
    ),
}
BUCKETED = {
    "numba": Build(
        path=f"{_ENGINES}.numba.buckets.engine:NumbaBucketedEngine",
        estimate=f"{_ENGINES}.numba.buckets.engine:estimate",
        dtypes=SINGLE,
        threads=True,
        storages=(32,),
        updates=IN_TURN,
        compiled=f"{_ENGINES}.numba.buckets.engine:kernels_are_compiled",
    ),
    "numpy": Build(path=f"{_ENGINES}.numpy.buckets:BucketedReference", storages=(64,), updates=IN_TURN),
    "cuda": Build(
        path=f"{_ENGINES}.cuda.buckets.engine:CudaBucketedEngine",
        estimate=f"{_ENGINES}.cuda.buckets.engine:estimate",
        devices=("cuda",),
        dtypes=SINGLE,
        storages=(32,),
        updates=IN_TURN,
    ),
}

# --- the engines -----------------------------------------------------------------------------------------------------


def _entry(name: str, *libraries: str, extra: str = "") -> EngineEntry:
    tables = (SEQUENCE, HISTORY, SAMPLING, PUBLIC, BUCKETED)
    classes = {kind: table[name] for kind, table in zip(FormKind, tables, strict=True) if name in table}
    return EngineEntry(classes=classes, libraries=libraries, extra=extra)


ENGINES: dict[str, EngineEntry] = {
    "numba": _entry("numba", "numba"),
    "numpy": _entry("numpy"),
    "torch": _entry("torch", "torch", extra="torch"),
    "cuda": _entry("cuda", "cupy", extra="gpu"),
    "matrix": _entry("matrix", "scipy", extra="exact"),
}

ALIASES = {"cupy": "cuda"}  # other names that requests and files may use
FASTEST_FIRST = {"cpu": ("numba", "numpy"), "cuda": ("cuda", "torch"), "mps": ("torch",)}  # by device


def register(name: str, entry: EngineEntry) -> None:
    """Register an engine under an unused name."""
    if name in (*ENGINES, *ALIASES, "auto"):
        raise InvalidOption("engine", name, "is already registered")
    ENGINES[name] = entry


def engine_name(name: str) -> str:
    """The name under which an engine is registered; any other text is returned as it is."""
    return ALIASES.get(name, name)


def engine_if_able(name: str, kinds: Iterable[FormKind]) -> str:
    """The registered name of an engine that an earlier solve used, or "auto" if it no longer does this kind of work."""
    entry = ENGINES.get(engine_name(name))
    return engine_name(name) if entry is not None and any(kind in entry.classes for kind in kinds) else "auto"


def device_if_able(kind: FormKind, device: str) -> str:
    """The device if an installed engine does this kind of work there, otherwise "cpu"."""
    able = any(kind in ENGINES[name].classes and is_installed(name) for name in FASTEST_FIRST[device])
    return device if able else "cpu"


def available() -> tuple[str, ...]:
    """Names of the engines whose libraries are installed."""
    return tuple(filter(is_installed, ENGINES))


def is_installed(name: str) -> bool:
    """Whether the libraries of a registered engine are installed."""
    return not _missing(ENGINES[name])


def find_engine(name: str) -> EngineEntry:
    """A registered engine."""
    name = engine_name(name)
    if name not in ENGINES:
        raise InvalidOption("engine", name, f"is not one of auto, {', '.join(ENGINES)}")
    return ENGINES[name]


def require(name: str) -> EngineEntry:
    """A registered engine; raises `MissingExtra` if one of its libraries is not installed."""
    entry = find_engine(name)
    for library in _missing(entry):
        raise MissingExtra(library, entry.extra)
    return entry


def fastest(kind: FormKind, device: str) -> str:
    """The fastest installed engine that runs on `device` and does this kind of work."""
    if device == "cuda":
        devices.require_cuda()
    if device not in FASTEST_FIRST:
        raise InvalidOption("device", device, f"is not one of auto, {', '.join(FASTEST_FIRST)}")
    able = [name for name in FASTEST_FIRST[device] if kind in ENGINES[name].classes]
    if not able:
        able = [
            device for device, names in FASTEST_FIRST.items() if any(kind in ENGINES[name].classes for name in names)
        ]
        raise InvalidOption("device", device, f"has no engine for the {kind} form: use {' or '.join(able)}")
    for name in able:
        if is_installed(name):
            return name
    raise MissingExtra(ENGINES[able[0]].libraries[0], ENGINES[able[0]].extra)


def load(path: str) -> Any:
    """What a path such as "module:class" names."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def _missing(entry: EngineEntry) -> list[str]:
    return [library for library in entry.libraries if find_spec(library) is None]
