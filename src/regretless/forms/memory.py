"""How much memory is free, and how much a compiled form takes."""

from __future__ import annotations

import os
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np

from regretless.forms.control_groups import group_available

__all__ = ["available_bytes", "memory_bytes"]


def available_bytes() -> int:
    """Free memory: the machine's, or less if a control group allows less."""
    machine, group = _machine_available(), group_available()
    return machine if group is None else min(machine, group)


def _machine_available() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):  # Windows
        return 4 * 2**30


def memory_bytes(form: object) -> int:
    """Bytes of the arrays and texts in a compiled form and the forms nested in it; each array counts once.

    >>> from regretless.games import Kuhn
    >>> from regretless.forms import compile_history
    >>> 2_000 < memory_bytes(compile_history(Kuhn())) < 20_000
    True
    """
    seen: set[int] = set()

    def count(value: object) -> int:
        if id(value) in seen:
            return 0
        seen.add(id(value))
        if isinstance(value, np.ndarray):
            return value.nbytes
        if isinstance(value, str):
            return 49 + len(value)
        if isinstance(value, tuple):
            return 40 + 8 * len(value) + sum(count(item) for item in value)
        if is_dataclass(value):
            return sum(count(getattr(value, field.name)) for field in fields(value))
        return 0

    return count(form)
