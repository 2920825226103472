"""Nested control groups of both versions: free memory is the minimum over all ancestors."""

from __future__ import annotations

from pathlib import Path

import pytest

from regretless.forms import available_bytes, memory

GIB = 2**30


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
