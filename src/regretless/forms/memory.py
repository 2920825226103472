"""How much memory is free, and how much a compiled form takes.

The environment variable REGRETLESS_MEMORY ("8 GB", "512 MB", or "512 MiB" for 512 · 2^20 bytes) sets how much memory a
process of Regretless may use in all; what it has in use already is subtracted. It overrides everything below:

    Linux           MemAvailable in /proc/meminfo, or less if a control group allows less
    elsewhere       psutil, if it is installed
    Windows         GlobalMemoryStatusEx
    macOS           vm_stat: pages that are free, inactive, speculative or purgeable
    anything else   half of the physical memory; 4.3 GB if that is not known either

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
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from regretless.errors import InvalidOption

__all__ = ["SETTING", "available_bytes", "memory_bytes", "resident_bytes"]

SETTING = "REGRETLESS_MEMORY"  # the environment variable
MEMINFO = Path("/proc/meminfo")
STATM = Path("/proc/self/statm")  # pages: total, resident, …
MOUNT = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")  # lines "4:memory:/path" (version 1) and "0::/path" (version 2)
VM_STAT = "/usr/bin/vm_stat"
UNKNOWN = 4 * 2**30  # assumed where nothing can be measured

_SIZE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([kmgt]?)(i?)b", re.IGNORECASE)
_POWER = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def available_bytes() -> int:
    """Free memory: what REGRETLESS_MEMORY leaves, else the machine's, or less if a control group allows less."""
    if text := os.environ.get(SETTING, "").strip():
        return max(0, _read_size(text) - resident_bytes())
    machine, group = _machine_available(), _group_available()
    return machine if group is None else min(machine, group)


def _read_size(text: str) -> int:
    """A size as people write it.

    >>> _read_size("8 GB"), _read_size("1.5gib"), _read_size("64KiB")
    (8000000000, 1610612736, 65536)
    """
    size = _SIZE.fullmatch(text)
    if size is None:
        raise InvalidOption(SETTING, text, "is not a size such as 8 GB or 512 MB")
    number, prefix, binary = size.groups()
    return int(float(number) * (1024 if binary else 1000) ** _POWER[prefix.lower()])


def _machine_available() -> int:
    with suppress(OSError, ValueError, IndexError):
        for line in MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with suppress(ImportError):  # an optional library; everything below answers without it
        return int(import_module("psutil").virtual_memory().available)
    with suppress(ImportError, AttributeError, OSError, ValueError, KeyError, subprocess.SubprocessError):
        if sys.platform == "win32":
            return _windows_available()
        if sys.platform == "darwin":
            return _mac_available()
    with suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    return UNKNOWN


def _windows_available() -> int:
    """`ullAvailPhys` of MEMORYSTATUSEX: two 32-bit numbers (its length, the load), then seven 64-bit ones."""
    ctypes: Any = import_module("ctypes")
    status = (ctypes.c_uint64 * 8)(64)  # the first number is the length in bytes, little-endian
    if not ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
        raise OSError("GlobalMemoryStatusEx failed")
    return int(status[2])


def _mac_available() -> int:
    answer = subprocess.run([VM_STAT], capture_output=True, text=True, timeout=5, check=True).stdout
    page_size = re.search(r"page size of (\d+) bytes", answer)
    pages = {name: int(count) for name, count in re.findall(r"^(.+?):\s+(\d+)\.$", answer, re.MULTILINE)}
    if page_size is None:
        raise ValueError("vm_stat does not say how large a page is")
    reclaimable = sum(pages.get(f"Pages {kind}", 0) for kind in ("inactive", "speculative", "purgeable"))
    return int(page_size[1]) * (pages["Pages free"] + reclaimable)


def resident_bytes() -> int:
    """Memory that this process has in use; 0 if that cannot be measured."""
    with suppress(OSError, ValueError, IndexError):
        return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    with suppress(ImportError):
        return int(import_module("psutil").Process().memory_info().rss)
    with suppress(ImportError, AttributeError, OSError):
        if sys.platform == "win32":
            return _windows_resident()
    with suppress(ImportError, AttributeError, OSError):
        usage: Any = import_module("resource")
        return int(usage.getrusage(usage.RUSAGE_SELF).ru_maxrss) * (1 if sys.platform == "darwin" else 1024)  # the peak
    return 0


def _windows_resident() -> int:
    """`WorkingSetSize` of PROCESS_MEMORY_COUNTERS: two 32-bit numbers (its length, page faults), then eight sizes."""
    ctypes: Any = import_module("ctypes")
    counters = (ctypes.c_uint64 * 9)(72)
    kernel = ctypes.windll.kernel32
    process = ctypes.c_void_p(kernel.GetCurrentProcess())
    if not kernel.K32GetProcessMemoryInfo(process, ctypes.byref(counters), 72):
        raise OSError("K32GetProcessMemoryInfo failed")
    return int(counters[2])


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
