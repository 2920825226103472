"""Engines by name, loaded when first asked for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast

from regretless.engines import devices
from regretless.engines.contract import GameEngine, Sampling, Updates
from regretless.errors import InvalidGame, InvalidOption, MissingExtra
from regretless.forms.history import HistoryForm
from regretless.forms.sequence import SequenceForm, compile_sequence

__all__ = ["ENGINES", "Entry", "Kind", "available", "create"]


class Kind(StrEnum):
    """The compiled form that an engine works on."""

    SEQUENCE = "sequence"
    HISTORY = "history"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Where an engine is found and what it can do.

    Its classes are called as `class(form, updates=…)`, with `device=…`, `dtype=…` and `threads=…` added where the entry
    leaves a choice of them.
    """

    classes: dict[Kind, str]  # "module:class" for each form it works on
    devices: tuple[str, ...] = ("cpu",)  # the first one is the default
    dtypes: tuple[str, ...] = ("float64",)  # the first one is the default
    threads: bool = False  # whether it can use several
    libraries: tuple[str, ...] = ()  # what must be installed
    extra: str = ""  # the extra of this package that installs it


ENGINES: dict[str, Entry] = {
    "numba": Entry(
        classes={
            Kind.SEQUENCE: "regretless.engines.sequence.numba_engine:NumbaSequenceEngine",
            Kind.HISTORY: "regretless.engines.sequence.numba_engine:NumbaHistoryEngine",
        },
        dtypes=("float64", "float32"),
        threads=True,
        libraries=("numba",),
    ),
    "numpy": Entry(
        classes={
            Kind.SEQUENCE: "regretless.engines.sequence.numpy_engine:NumpySequenceEngine",
            Kind.HISTORY: "regretless.engines.sequence.numpy_engine:NumpyHistoryEngine",
        },
    ),
    "torch": Entry(
        classes={
            Kind.SEQUENCE: "regretless.engines.sequence.torch_engine:TorchEngine",
            Kind.HISTORY: "regretless.engines.sequence.torch_engine:TorchEngine",
        },
        devices=("cpu", "cuda", "mps"),
        dtypes=("float32", "float64"),
        libraries=("torch",),
        extra="torch",
    ),
    "cupy": Entry(
        classes={Kind.SEQUENCE: "regretless.engines.sequence.cuda.engine:CupyEngine"},
        devices=("cuda",),
        dtypes=("float32", "float64"),
        libraries=("cupy",),
        extra="gpu",
    ),
    "matrix": Entry(
        classes={Kind.HISTORY: "regretless.engines.sequence.matrix_engine:MatrixEngine"},
        devices=("cpu", "cuda"),
        libraries=("scipy",),
        extra="exact",
    ),
}


FASTEST_FIRST = {"cpu": ("numba", "numpy"), "cuda": ("cupy", "torch"), "mps": ("torch",)}  # by device


def available() -> tuple[str, ...]:
    """Names of the engines whose libraries are installed."""
    return tuple(name for name, entry in ENGINES.items() if not _missing(entry))


def create(
    name: str,
    form: HistoryForm | SequenceForm,
    *,
    kind: Kind | str | None = None,
    updates: Updates = Updates.ALTERNATING,
    sampling: Sampling = Sampling.FULL,
    dtype: str | None = None,
    device: str = "auto",
    threads: int | None = None,
    seed: int = 0,
    batch_size: int | None = None,
) -> GameEngine:
    """An engine on a compiled game; by default on the sequence form for two players, on the history form for more.

    `name` is a name of `available()` or "auto"; `dtype` is "float32" or "float64", by default the engine's own. With
    both `name` and `device` left at "auto", a large game goes to a CUDA device where there is one, in float64 as on a
    CPU (`devices.py` says how large and why); `threads` keeps it on the CPU.
    `seed` and `batch_size` (deals drawn between two updates) are for engines that sample.

    >>> from regretless.forms import compile_history
    >>> from regretless.games import Kuhn
    >>> create("numpy", compile_history(Kuhn(players=3))).name
    'numpy'
    """
    if sampling is not Sampling.FULL:
        from regretless.engines.sampling.registry import create_sampling

        return create_sampling(
            name,
            _history(form),
            sampling=sampling,
            updates=updates,
            dtype=dtype,
            device=device,
            threads=threads,
            seed=seed,
            batch_size=batch_size,
        )
    if name == "auto":
        if kind == Kind.HISTORY or _history(form).players > 2:
            form = _history(form)
        else:  # what the engines to choose from work on, and what tells the size
            form = _as(Kind.SEQUENCE, form)
        if device == "auto":
            name, device = _choose_by_size(form, threads)
            dtype = dtype or "float64"
        else:
            name = _choose(form, device)
    if name not in ENGINES:
        raise InvalidOption("engine", name, f"is not one of auto, {', '.join(ENGINES)}")
    entry = ENGINES[name]
    for library in _missing(entry):
        raise MissingExtra(library, entry.extra)
    if device not in ("auto", *entry.devices):
        raise InvalidOption(
            "device", device, f"is not for the {name} engine, which runs on {' or '.join(entry.devices)}"
        )
    if dtype is not None and dtype not in entry.dtypes:
        raise InvalidOption("dtype", dtype, f"is not for the {name} engine, which knows {' and '.join(entry.dtypes)}")
    if threads is not None and threads < 1:
        raise InvalidOption("threads", threads, "must be at least 1")
    kind = _kind(form, entry) if kind is None else Kind(kind)
    if kind not in entry.classes:
        raise InvalidGame(f"the {name} engine does not work on the {kind} form, which {_history(form).name} needs")
    options: dict[str, Any] = {"updates": Updates(updates)}
    if entry.devices != ("cpu",):
        options["device"] = entry.devices[0] if device == "auto" else device
        if options["device"] == "cuda":
            devices.require_cuda()
    if len(entry.dtypes) > 1:
        options["dtype"] = dtype or entry.dtypes[0]
    if entry.threads:
        options["threads"] = threads
    module, _, class_name = entry.classes[kind].partition(":")
    build: Any = getattr(import_module(module), class_name)
    return cast(GameEngine, build(_as(kind, form), **options))


def _choose_by_size(form: HistoryForm | SequenceForm, threads: int | None) -> tuple[str, str]:
    """The engine and the device that suit a game of this size on this machine."""
    size = devices.game_size(form)
    for name, smallest in devices.GPU_FROM.items():
        if threads is None and size >= smallest and _suits(name, form) and devices.cuda_devices():
            return name, "cuda"
    return _choose(form, "cpu"), "cpu"


def _choose(form: HistoryForm | SequenceForm, device: str) -> str:
    """The fastest engine that is installed, runs on `device` and works on the form."""
    if device == "cuda":
        devices.require_cuda()
    if device not in FASTEST_FIRST:
        raise InvalidOption("device", device, f"is not one of auto, {', '.join(FASTEST_FIRST)}")
    for name in FASTEST_FIRST[device]:
        if _suits(name, form):
            return name
    wanted = ENGINES["cupy" if device == "cuda" and isinstance(form, SequenceForm) else "torch"]
    raise MissingExtra(wanted.libraries[0], wanted.extra)


def _suits(name: str, form: HistoryForm | SequenceForm) -> bool:
    """Whether the engine is installed and works on the form."""
    kind = Kind.SEQUENCE if isinstance(form, SequenceForm) else Kind.HISTORY
    return kind in ENGINES[name].classes and not _missing(ENGINES[name])


def _missing(entry: Entry) -> list[str]:
    return [library for library in entry.libraries if find_spec(library) is None]


def _kind(form: HistoryForm | SequenceForm, entry: Entry) -> Kind:
    return Kind.SEQUENCE if _history(form).players == 2 and Kind.SEQUENCE in entry.classes else Kind.HISTORY


def _history(form: HistoryForm | SequenceForm) -> HistoryForm:
    return form.history if isinstance(form, SequenceForm) else form


def _as(kind: Kind, form: HistoryForm | SequenceForm) -> HistoryForm | SequenceForm:
    if kind is Kind.HISTORY:
        return _history(form)
    return form if isinstance(form, SequenceForm) else compile_sequence(form)
