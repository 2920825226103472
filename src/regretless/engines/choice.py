"""Which engine and device solve a public form if the request leaves that open, and why: `devices.py` has the times."""

from __future__ import annotations

from dataclasses import dataclass

from regretless.engines import devices
from regretless.engines.devices import device_type
from regretless.engines.memory import estimate
from regretless.engines.registry import ENGINES, FormKind, available, engine_name
from regretless.errors import bytes_text
from regretless.forms.public_size import PublicSize
from regretless.installing import install_command

__all__ = ["Choice", "choose_public"]


@dataclass(frozen=True)
class Choice:
    """An engine and a device, as `creation.create` takes them; `why` is "" where there was nothing to choose."""

    engine: str = "auto"
    device: str = "auto"
    why: str = ""

    @property
    def on_gpu(self) -> bool:
        """Whether this asks for a CUDA device; `create` refuses combinations the engine does not support."""
        if self.engine == "auto":
            return device_type(self.device) == "cuda"
        able = ENGINES[self.engine].classes[FormKind.PUBLIC].devices
        return device_type(self.device) == "cuda" in able or (self.device == "auto" and able[0] == "cuda")


def choose_public(
    size: PublicSize,
    *,
    engine: str = "auto",
    device: str = "auto",
    threads: int | None = None,
    storage: int = 32,
    predicts: bool = False,
    entries: int | None = None,
) -> Choice:
    """The engine and device for a form of this size.

    A requested engine or device is used as it is, and asking for `threads` chooses the CPU. `entries` are those of all
    forms that are solved together, by default this form's. `predicts`: the variant stores predictions beside the
    regrets.
    """
    engine = engine_name(engine)
    if engine != "auto" or device != "auto":
        return Choice(engine, device)
    if threads is not None or not devices.cuda_devices():
        return Choice("auto", "cpu")
    name = "cuda"
    min_entries = devices.PUBLIC_GPU_FROM[name]
    entries = size.entries if entries is None else entries
    count = f"{entries:,} (hand, action) entries"
    limit = f"the {min_entries // 1_000_000} million from which a GPU pays off"
    if entries < min_entries:
        return Choice("auto", "cpu", f"on the CPU: {count}, fewer than {limit}")
    if name not in available():
        missing = f"{ENGINES[name].libraries[0]} is not installed: {install_command(ENGINES[name].extra)}"
        return Choice("auto", "cpu", f"on the CPU: {missing}")
    needed = estimate(name, FormKind.PUBLIC, size, storage=storage, predicts=predicts) or 0
    free = devices.cuda_free_bytes()
    if needed > free:
        sizes = f"the GPU has {bytes_text(free)} free, and {bytes_text(needed)} are needed"
        return Choice("auto", "cpu", f"on the CPU: {sizes}")
    return Choice(name, "cuda", f"on the GPU: {count}, at least {limit}")
