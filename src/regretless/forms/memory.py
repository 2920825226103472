"""How much memory is free, and how much a compiled form takes.

Under Linux control groups (containers, services, batch systems) less may be free than the machine has. A group's
limit includes its subgroups, so what is left is the minimum over a process's group and all its ancestors. Both
versions are supported, each where it is usually mounted:

    version 2    /sys/fs/cgroup, or /sys/fs/cgroup/unified beside version 1;  memory.max, memory.high, memory.current
    version 1    /sys/fs/cgroup/memory;  memory.limit_in_bytes, memory.usage_in_bytes

The kernel counts the page cache as used but reclaims it when memory is needed, so here it counts as free. A container
may see its own group as the root while /proc gives the host's path, so missing folders are skipped on the way up.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path, PurePosixPath

import numpy as np

__all__ = ["available_bytes", "memory_bytes"]

MOUNT = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")  # lines "4:memory:/path" (version 1) and "0::/path" (version 2)


def available_bytes() -> int:
    """Free memory: the machine's, or less if a control group allows less."""
    machine, group = _machine_available(), _group_available()
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


def _group_available() -> int | None:
    """Bytes that this process's groups still allow; None if there is no limit."""
    try:
        lines = MEMBERSHIP.read_text().splitlines()
    except OSError:  # not Linux
        return None
    left: list[int] = []
    for line in lines:
        _, controllers, path = (line.split(":", 2) + ["", ""])[:3]
        if controllers == "":
            for mount in (MOUNT, MOUNT / "unified"):
                left += _left(mount, path, ("memory.max", "memory.high"), "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes",)
            left += _left(MOUNT / "memory", path, names, "memory.usage_in_bytes", "total_inactive_file")
    return max(0, min(left)) if left else None


def _left(mount: Path, path: str, limits: tuple[str, ...], usage: str, cached: str) -> Iterator[int]:
    """Bytes left in each group that has a limit, from the process's own up to the root."""
    group = PurePosixPath("/" + path.lstrip("/"))
    for ancestor in (group, *group.parents):
        folder = mount / str(ancestor).lstrip("/")
        used = _number(folder / usage)
        allowed = [limit for name in limits if (limit := _number(folder / name)) is not None]
        if used is not None and allowed:
            yield min(allowed) - max(0, used - _statistic(folder / "memory.stat", cached))


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):  # no such group, or "max": no limit
        return None


def _statistic(file: Path, name: str) -> int:
    try:
        return next(int(line.split()[1]) for line in file.read_text().splitlines() if line.split()[0] == name)
    except (OSError, ValueError, IndexError, StopIteration):
        return 0


def memory_bytes(form: object) -> int:
    """Bytes of the arrays and texts in a compiled form and the forms nested in it; each array counts once."""
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
