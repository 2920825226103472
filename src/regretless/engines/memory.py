"""What engines allocate, before they do: estimates, and errors that say what would fit."""

from __future__ import annotations

from typing import Any, cast

from regretless.engines import devices
from regretless.engines.registry import FormKind, find_engine, load
from regretless.errors import Advice, WouldNotFit, memory_text
from regretless.forms.bucketed import BucketedForm
from regretless.forms.memory import available_bytes
from regretless.forms.public_size import PublicSize

__all__ = ["check_bucketed_fits", "check_fits", "check_public_fits", "estimate", "estimate_public"]


def estimate(name: str, kind: FormKind, size: object, **options: object) -> int | None:
    """Bytes that an engine would allocate in addition to the compiled game; None if its class checks that itself.

    `size` is the compiled game or, for the public form, its sizes; `options` are `dtype`, `threads` and `storage`.
    """
    path = find_engine(name).classes[kind].estimate
    return cast(int, load(path)(size, **options)) if path else None


def estimate_public(name: str, size: PublicSize, *, device: str, **options: Any) -> int:
    """Bytes of an engine of the public form on a device, 0 if not known; `threads` are ignored if it has none."""
    build = find_engine(name).classes[FormKind.PUBLIC]
    if not build.threads:
        options.pop("threads", None)
    return estimate(name, FormKind.PUBLIC, size, **options) or 0


def check_fits(name: str, kind: FormKind, form: object, *, what: str, **options: Any) -> None:
    """Raise `WouldNotFit` if an engine takes more memory for a form than the machine has free."""
    needed, free = estimate(name, kind, form, **options), available_bytes()
    if needed is not None and needed > free:
        raise WouldNotFit(f"{what} in the {name} engine", needed=needed, available=free)


def check_bucketed_fits(name: str, form: BucketedForm, *, device: str, predicts: bool, **options: Any) -> None:
    """Raise `WouldNotFit` if an engine takes more memory for a bucketed form than its device has free.

    `predicts`: the variant keeps predictions beside the regrets.
    """
    needed = estimate(name, FormKind.BUCKETED, form, device=device, predicts=predicts, **options)
    free = available_bytes() if device == "cpu" else devices.cuda_free_bytes()
    if needed is not None and needed > free:
        raise WouldNotFit(
            f"{form.name} in the {name} engine",
            needed=needed,
            available=free,
            memory="memory" if device == "cpu" else "GPU memory",
            advice=[Advice("sample_runouts", None, "can be set lower")],
        )


def check_public_fits(name: str, size: PublicSize, *, device: str, what: str = "a public form", **options: Any) -> None:
    """Raise `WouldNotFit` if an engine takes more memory for a public form than its device has free; says what fits."""

    def needs(engine: str, where: str, **changed: Any) -> int:
        return estimate_public(engine, size, device=where, **options | changed)

    needed, free = needs(name, device), available_bytes() if device == "cpu" else devices.cuda_free_bytes()
    if needed <= free:
        return
    fitting = []
    if options.get("storage") == 32 and (halved := needs(name, device, storage=16)) <= free:
        fitting.append(Advice("storage", 16, f"needs {memory_text(halved)}, which fits"))
    if device == "cuda" and (on_cpu := needs("numba", "cpu")) <= available_bytes():
        fitting.append(Advice("device", "cpu", f"needs {memory_text(on_cpu)}, which fits"))
    memory = "memory" if device == "cpu" else "GPU memory"
    raise WouldNotFit(f"{what} in the {name} engine", needed=needed, available=free, memory=memory, advice=fitting)
