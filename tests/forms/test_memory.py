"""Free memory: nested control groups of both versions, other systems than Linux, and the setting that overrides it."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from regretless.errors import InvalidOption
from regretless.forms import available_bytes, memory

GIB = 2**30


@pytest.fixture(autouse=True)
def _no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REGRETLESS_MEMORY", raising=False)


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Write the files of control groups (paths below the mount -> numbers) and the group the process is in."""
    monkeypatch.setattr(memory, "MOUNT", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "MEMBERSHIP", tmp_path / "self")
    monkeypatch.setattr(memory, "_machine_available", lambda: 64 * GIB)

    def write(membership: str, files: dict[str, object]) -> None:
        (tmp_path / "self").write_text(membership)
        for name, content in files.items():
            file = tmp_path / "cgroup" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{content}\n")

    return write


def test_without_groups_the_machine_decides(groups) -> None:
    assert available_bytes() == 64 * GIB  # no /proc/self/cgroup at all
    groups("0::/\n", {})
    assert available_bytes() == 64 * GIB


def test_version_2_takes_the_least_over_all_ancestors(groups) -> None:
    groups(
        "0::/user.slice/job/step\n",
        {
            "user.slice/memory.max": 8 * GIB,
            "user.slice/memory.current": 5 * GIB,
            "user.slice/job/memory.max": 4 * GIB,
            "user.slice/job/memory.current": 2 * GIB,
            "user.slice/job/step/memory.max": "max",
            "user.slice/job/step/memory.current": GIB,
        },
    )
    assert available_bytes() == 2 * GIB


def test_version_2_knows_soft_limits_and_gives_back_the_pages_of_files(groups) -> None:
    groups(
        "0::/job\n",
        {
            "job/memory.max": "max",
            "job/memory.high": 3 * GIB,
            "job/memory.current": 2 * GIB,
            "job/memory.stat": f"anon 5\ninactive_file {GIB}\nactive_file 7",
        },
    )
    assert available_bytes() == 2 * GIB


def test_version_1_and_a_mixed_machine(groups) -> None:
    unlimited = 9223372036854771712
    groups(
        "9:name=systemd:/\n4:cpu,memory:/docker/abc/inner\n0::/\n",
        {
            "memory/memory.limit_in_bytes": unlimited,
            "memory/memory.usage_in_bytes": 0,
            "memory/docker/abc/memory.limit_in_bytes": 6 * GIB,
            "memory/docker/abc/memory.usage_in_bytes": 5 * GIB,
            "memory/docker/abc/memory.stat": f"total_inactive_file {GIB}",
            "memory/docker/abc/inner/memory.limit_in_bytes": unlimited,
            "memory/docker/abc/inner/memory.usage_in_bytes": GIB,
        },
    )
    assert available_bytes() == 2 * GIB


def test_a_container_that_sees_its_own_group_as_the_root(groups) -> None:
    groups("0::/docker/abc\n", {"memory.max": 2 * GIB, "memory.current": GIB})
    assert available_bytes() == GIB


def test_a_group_over_its_limit_has_nothing_left(groups) -> None:
    groups("0::/\n", {"memory.max": GIB, "memory.current": 2 * GIB})
    assert available_bytes() == 0


# --- the setting -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "size"), [("8 GB", 8_000_000_000), ("512MiB", 2**29), ("1.5 gib", 3 * 2**29), ("2TB", 2 * 10**12)]
)
def test_the_setting_overrides_what_is_measured(groups, monkeypatch: pytest.MonkeyPatch, text: str, size: int) -> None:
    groups("0::/\n", {"memory.max": GIB, "memory.current": 0})
    monkeypatch.setattr(memory, "resident_bytes", lambda: 300_000_000)
    monkeypatch.setenv("REGRETLESS_MEMORY", text)
    assert available_bytes() == size - 300_000_000
    monkeypatch.setenv("REGRETLESS_MEMORY", " ")
    assert available_bytes() == GIB


def test_memory_in_use_counts_against_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGRETLESS_MEMORY", "64 GB")
    monkeypatch.setattr(memory, "resident_bytes", lambda: 50_000_000)
    assert available_bytes() == 64 * 10**9 - 50_000_000
    monkeypatch.setenv("REGRETLESS_MEMORY", "1 MB")
    assert available_bytes() == 0


@pytest.mark.parametrize("text", ["8", "GB", "-1 GB", "8 XB", "8 GB free", "1e3 GB"])
def test_a_setting_that_is_no_size_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("REGRETLESS_MEMORY", text)
    with pytest.raises(InvalidOption, match=r"REGRETLESS_MEMORY.*is not a size such as 8 GB or 512 MB"):
        available_bytes()


# --- other systems ---------------------------------------------------------------------------------------------------


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Pretend to run on another system, without /proc, with these modules in place of the real ones."""

    def pretend(platform: str, **modules: Any) -> None:
        for name in ("MEMINFO", "STATM", "MEMBERSHIP"):
            monkeypatch.setattr(memory, name, tmp_path / "missing")
        monkeypatch.setattr(memory, "sys", SimpleNamespace(platform=platform))

        def find(name: str) -> Any:
            if name not in modules:
                raise ImportError(name)
            return modules[name]

        monkeypatch.setattr(memory, "import_module", find)
        monkeypatch.delattr(memory.os, "sysconf")

    return pretend


def _windows(available: int, resident: int) -> SimpleNamespace:
    """ctypes with the two functions of kernel32, which check the lengths they are told."""

    def status_of(pointer: Any) -> bool:
        status = pointer._obj
        assert ctypes.sizeof(status) == int(status[0]) == 64
        status[1], status[2] = 32 * GIB, available
        return True

    def memory_of(process: Any, pointer: Any, length: int) -> bool:
        counters = pointer._obj
        assert process.value == ctypes.c_void_p(-1).value
        assert ctypes.sizeof(counters) == int(counters[0]) == length == 72
        counters[1], counters[2] = 2 * resident, resident
        return True

    kernel = SimpleNamespace(
        GlobalMemoryStatusEx=status_of, K32GetProcessMemoryInfo=memory_of, GetCurrentProcess=lambda: -1
    )
    names = ("c_uint64", "c_void_p", "byref")
    return SimpleNamespace(windll=SimpleNamespace(kernel32=kernel), **{name: getattr(ctypes, name) for name in names})


def test_windows_is_asked_for_its_free_memory(system, monkeypatch: pytest.MonkeyPatch) -> None:
    system("win32", ctypes=_windows(available=11 * GIB, resident=GIB))
    assert available_bytes() == 11 * GIB
    monkeypatch.setenv("REGRETLESS_MEMORY", "6 GiB")
    assert available_bytes() == 5 * GIB


def test_a_mac_is_asked_for_its_free_memory(system, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = (
        "Mach Virtual Memory Statistics: (page size of 16384 bytes)\n"
        "Pages free:                               65536.\n"
        "Pages active:                            300000.\n"
        "Pages inactive:                          131072.\n"
        "Pages speculative:                        32768.\n"
        "Pages wired down:                        100000.\n"
        "Pages purgeable:                          32768.\n"
        '"Translation faults":                  123456789.\n'
    )
    usage = SimpleNamespace(RUSAGE_SELF=0, getrusage=lambda who: SimpleNamespace(ru_maxrss=2 * GIB))  # bytes there
    system("darwin", resource=usage)
    monkeypatch.setattr(
        memory.subprocess, "run", lambda command, **options: subprocess.CompletedProcess(command, 0, stdout=answer)
    )
    assert available_bytes() == 4 * GIB
    monkeypatch.setenv("REGRETLESS_MEMORY", "3GiB")
    assert available_bytes() == GIB


def test_psutil_answers_where_it_is_installed(system, monkeypatch: pytest.MonkeyPatch) -> None:
    process = SimpleNamespace(memory_info=lambda: SimpleNamespace(rss=GIB))
    psutil = SimpleNamespace(virtual_memory=lambda: SimpleNamespace(available=7 * GIB), Process=lambda: process)
    system("win32", psutil=psutil)
    assert available_bytes() == 7 * GIB
    monkeypatch.setenv("REGRETLESS_MEMORY", "3 GiB")
    assert available_bytes() == 2 * GIB


@pytest.mark.parametrize("platform", ["win32", "darwin", "freebsd14"])
def test_an_unknown_system_has_half_of_its_memory_or_four_gibibytes(
    system, monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    system(platform)
    monkeypatch.setattr(memory, "VM_STAT", "/missing/vm_stat")
    assert available_bytes() == 4 * GIB
    monkeypatch.setattr(memory.os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 2**21}.__getitem__, raising=False)
    assert available_bytes() == 4 * GIB
    monkeypatch.setattr(memory.os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 2**23}.__getitem__, raising=False)
    assert available_bytes() == 16 * GIB
    monkeypatch.setenv("REGRETLESS_MEMORY", "3 GiB")
    assert available_bytes() == 3 * GIB


def test_this_process_is_measured() -> None:
    assert sys.platform != "linux" or 20_000_000 < memory.resident_bytes() < 100 * GIB
