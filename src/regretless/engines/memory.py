"""What engines allocate, before they do: estimates, and errors that say what would fit."""

from __future__ import annotations

from typing import cast

from regretless.engines import devices
from regretless.engines.registry import FormKind, find_engine, load
from regretless.errors import Advice, WouldNotFit, bytes_text
from regretless.forms.memory import available_bytes

__all__ = ["check_fits", "estimate"]


def estimate(name: str, kind: FormKind, size: object, **options: object) -> int | None:
    """Bytes that an engine would allocate in addition to the compiled game; None if its class checks that itself.

    `size` is the compiled game or, for the public form, its sizes; `options` are `dtype`, `threads`, `storage`,
    `predicts`, `samples` and `is_part`, as far as there is a choice of them. `threads` are ignored if it has none.
    """
    build = find_engine(name).classes[kind]
    if not build.estimate:
        return None
    if not build.threads:
        options.pop("threads", None)
    return cast(int, load(build.estimate)(size, **options))


def check_fits(name: str, kind: FormKind, size: object, *, device: str, what: str, **options: object) -> None:
    """Raise `WouldNotFit` if an engine takes more memory than its device has free; says what would fit."""
    needed, free = estimate(name, kind, size, **options), _free_bytes(device)
    if needed is None or needed <= free:
        return
    advice = []
    if kind is FormKind.BUCKETED:
        advice.append(Advice("sample_runouts", None, "can be set lower"))
    if kind is FormKind.PUBLIC and options.get("storage") == 32:
        halved = estimate(name, kind, size, **options | {"storage": 16}) or 0
        if halved <= free:
            advice.append(Advice("storage", 16, f"needs {bytes_text(halved)}, which fits"))
    if kind is FormKind.PUBLIC and device != "cpu":
        on_cpu = estimate("numba", kind, size, **options) or 0
        if on_cpu <= available_bytes():
            advice.append(Advice("device", "cpu", f"needs {bytes_text(on_cpu)}, which fits"))
    memory = "memory" if device == "cpu" else "GPU memory"
    raise WouldNotFit(f"{what} in the {name} engine", needed=needed, available=free, memory=memory, advice=advice)


def _free_bytes(device: str) -> int:
    return available_bytes() if device == "cpu" else devices.cuda_free_bytes(device)
