"""Every engine by name, loaded on first use.

An engine has a class for each kind of form it works on; the class's `Build` says which options it takes. `ENGINES` has
them by engine and kind, and `creation.py` creates engines from it.

>>> ENGINES["matrix"].classes[FormKind.HISTORY].devices
('cpu', 'cuda')
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
    """The form that an engine works on, or the part of it that an iteration walks."""

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
    runouts: bool = False  # whether it can sample those of a public form
    compiled: str = ""  # "module:function" of the storage: whether its kernels are compiled; "" if it has none


@dataclass(frozen=True, kw_only=True)
class EngineEntry:
    """An engine: what it works on and what must be installed."""

    classes: Mapping[FormKind, Build]
    libraries: tuple[str, ...] = ()
    extra: str = ""  # the extra that installs them


# --- the engines -----------------------------------------------------------------------------------------------------

SINGLE, DOUBLE = "float32", "float64"
ALL_DEVICES = ("cpu", "cuda", "mps")
ONLY_ALTERNATING = (Updates.ALTERNATING,)
STORAGES = tuple(NUMBER_FORMATS)

_NUMBA, _NUMPY, _CUDA, _TORCH = (f"regretless.engines.{backend}" for backend in ("numba", "numpy", "cuda", "torch"))
_TORCH_EXACT = Build(
    path=f"{_TORCH}.sequence:TorchEngine",
    estimate=f"{_TORCH}.sequence:estimate",
    devices=ALL_DEVICES,
    dtypes=(SINGLE, DOUBLE),
    threads=True,
)

ENGINES: dict[str, EngineEntry] = {
    "numba": EngineEntry(
        classes={
            FormKind.SEQUENCE: Build(
                path=f"{_NUMBA}.sequence:NumbaSequenceEngine",
                estimate=f"{_NUMBA}.sequence:estimate",
                dtypes=(DOUBLE, SINGLE),
                threads=True,
            ),
            FormKind.HISTORY: Build(
                path=f"{_NUMBA}.sequence:NumbaHistoryEngine",
                estimate=f"{_NUMBA}.sequence:estimate",
                dtypes=(DOUBLE, SINGLE),
                threads=True,
            ),
            FormKind.SAMPLING: Build(
                path=f"{_NUMBA}.sampling:NumbaSamplingEngine",
                estimate=f"{_NUMBA}.sampling:estimate",
                updates=ONLY_ALTERNATING,
                samplings=(Sampling.CHANCE, Sampling.EXTERNAL, Sampling.OUTCOME),
            ),
            FormKind.PUBLIC: Build(
                path=f"{_NUMBA}.public.engine:NumbaPublicEngine",
                estimate=f"{_NUMBA}.public.sizes:estimate",
                dtypes=(SINGLE,),
                threads=True,
                storages=STORAGES,
                updates=ONLY_ALTERNATING,
                buckets=f"{_NUMBA}.public.bucket_evaluator:NumbaBucketEvaluators",
                runouts=True,
                compiled=f"{_NUMBA}.public.engine:kernels_are_compiled",
            ),
            FormKind.BUCKETED: Build(
                path=f"{_NUMBA}.buckets.engine:NumbaBucketedEngine",
                estimate=f"{_NUMBA}.buckets.engine:estimate",
                dtypes=(SINGLE,),
                threads=True,
                storages=(32,),
                updates=ONLY_ALTERNATING,
                compiled=f"{_NUMBA}.buckets.engine:kernels_are_compiled",
            ),
        },
        libraries=("numba",),
    ),
    "numpy": EngineEntry(
        classes={
            FormKind.SEQUENCE: Build(
                path=f"{_NUMPY}.sequence:NumpySequenceEngine", estimate=f"{_NUMPY}.sequence:estimate"
            ),
            FormKind.HISTORY: Build(
                path=f"{_NUMPY}.sequence:NumpyHistoryEngine", estimate=f"{_NUMPY}.sequence:estimate"
            ),
            FormKind.PUBLIC: Build(
                path=f"{_NUMPY}.public:PublicReference", storages=(64,), updates=ONLY_ALTERNATING, runouts=True
            ),
            FormKind.BUCKETED: Build(
                path=f"{_NUMPY}.buckets:BucketedReference", storages=(64,), updates=ONLY_ALTERNATING
            ),
        },
    ),
    "torch": EngineEntry(
        classes={
            FormKind.SEQUENCE: _TORCH_EXACT,
            FormKind.HISTORY: _TORCH_EXACT,
            FormKind.SAMPLING: Build(
                path=f"{_TORCH}.sampling:TorchSamplingEngine",
                devices=ALL_DEVICES,
                dtypes=(SINGLE, DOUBLE),
                updates=ONLY_ALTERNATING,
                samplings=(Sampling.CHANCE,),
            ),
        },
        libraries=("torch",),
        extra="torch",
    ),
    "cuda": EngineEntry(
        classes={
            FormKind.SEQUENCE: Build(
                path=f"{_CUDA}.sequence.engine:CudaSequenceEngine", devices=("cuda",), dtypes=(SINGLE, DOUBLE)
            ),
            FormKind.PUBLIC: Build(
                path=f"{_CUDA}.public.engine:CudaPublicEngine",
                estimate=f"{_CUDA}.public.sizes:estimate",
                devices=("cuda",),
                dtypes=(SINGLE,),
                storages=STORAGES,
                updates=ONLY_ALTERNATING,
                shared=f"{_CUDA}.public.batch:SharedCuda",
                buckets=f"{_CUDA}.public.bucket_evaluator:CudaBucketEvaluators",
            ),
            FormKind.BUCKETED: Build(
                path=f"{_CUDA}.buckets.engine:CudaBucketedEngine",
                estimate=f"{_CUDA}.buckets.engine:estimate",
                devices=("cuda",),
                dtypes=(SINGLE,),
                storages=(32,),
                updates=ONLY_ALTERNATING,
            ),
        },
        libraries=("cupy",),
        extra="gpu",
    ),
    "matrix": EngineEntry(
        classes={
            FormKind.HISTORY: Build(
                path=f"{_NUMPY}.matrix:MatrixEngine", estimate=f"{_NUMPY}.matrix:estimate", devices=("cpu", "cuda")
            ),
        },
        libraries=("scipy",),
        extra="exact",
    ),
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
    return device if any(map(is_installed, _engines_for(kind, device))) else "cpu"


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
    able = _engines_for(kind, device)
    if not able:
        others = [other for other in FASTEST_FIRST if _engines_for(kind, other)]
        raise InvalidOption("device", device, f"has no engine for the {kind} form: use {' or '.join(others)}")
    for name in able:
        if is_installed(name):
            return name
    raise MissingExtra(ENGINES[able[0]].libraries[0], ENGINES[able[0]].extra)


def _engines_for(kind: FormKind, device: str) -> list[str]:
    """Engines that do this kind of work on a device, installed or not, fastest first."""
    return [name for name in FASTEST_FIRST[device] if kind in ENGINES[name].classes]


def load(path: str) -> Any:
    """Import the class or function at a path such as "module:class"."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def _missing(entry: EngineEntry) -> list[str]:
    return [library for library in entry.libraries if find_spec(library) is None]
