"""What engines allocate, before they do: estimates, and errors that say what would fit."""

from __future__ import annotations

from typing import Any, cast

from regretless.engines import devices
from regretless.engines.registry import ENGINES, Kind, find_engine, load
from regretless.errors import WouldNotFit
from regretless.forms.memory import available_bytes
from regretless.forms.public_size import PublicSize

__all__ = ["check_fits", "check_public_fits", "estimate"]


def estimate(name: str, kind: Kind, size: object, **options: object) -> int | None:
    """Bytes that an engine would allocate in addition to the compiled game; None if its class checks that itself.

    `size` is the compiled game or, for the public form, its sizes; `options` are `dtype`, `threads` and `storage`.
    """
    path = find_engine(name).classes[kind].estimate
    return cast(int, load(path)(size, **options)) if path else None


def check_fits(name: str, kind: Kind, form: object, *, what: str, **options: Any) -> None:
    """Raise `WouldNotFit` if an engine takes more memory for a form than is free."""
    needed = estimate(name, kind, form, **options)
    if needed is not None and needed > (free := available_bytes()):
        raise WouldNotFit(f"{what} in the {name} engine", needed=needed, available=free)


def check_public_fits(name: str, size: PublicSize, *, device: str, what: str = "a public form", **options: Any) -> None:
    """Raise `WouldNotFit` if an engine takes more memory for a public form than its device has free; says what fits."""
    if device not in ("cpu", "cuda") or not find_engine(name).classes[Kind.PUBLIC].estimate:
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
