"""Kept kernels: used again while nothing changed, compiled anew once a file that they have inlined did."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from regretless.engines import _kernel_cache

PART = """
from regretless.engines._kernel import inlined

@inlined
def part(x):
    return x + {added}
"""
MIDDLE = """
from regretless.engines._kernel import inlined
from regretless.engines.part import part

@inlined
def middle(x):
    return part(x)
"""
WHOLE = """
from regretless.engines._kernel import kernel
from regretless.engines.middle import middle

@kernel
def whole(x):
    return 2 * middle(x)

print(whole(1), "kept" if sum(whole.stats.cache_hits.values()) else "compiled")
"""

Package = Callable[..., str]


@pytest.fixture(params=["beside the source", "where the environment says", "where the user's cache is"])
def answer_of(request: pytest.FixtureRequest, tmp_path: Path) -> Package:
    """A small package with these decorators: writes the part that is inlined two files away, and runs the whole."""
    engines = tmp_path / "regretless" / "engines"
    engines.mkdir(parents=True)
    for module in ("_compile.py", "_kernel.py", "_kernel_cache.py"):
        shutil.copy(Path(_kernel_cache.__file__).parent / module, engines)
    for path, text in (
        (engines.parent / "__init__.py", ""),
        (engines / "__init__.py", ""),
        (engines / "middle.py", MIDDLE),
        (engines / "whole.py", WHOLE),
    ):
        path.write_text(text, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment |= {"PYTHONPATH": str(tmp_path), "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "user")}
    if request.param == "where the environment says":
        environment["NUMBA_CACHE_DIR"] = str(tmp_path / "given")
    if request.param == "where the user's cache is":
        (engines / "__pycache__").write_text("a file, so that this folder cannot be had", encoding="utf-8")

    def run(*, added: int, room: int | None = None) -> str:
        text = PART.format(added=added)
        if not (engines / "part.py").exists() or (engines / "part.py").read_text(encoding="utf-8") != text:
            (engines / "part.py").write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "regretless.engines.whole"]
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=True,
            preexec_fn=None if room is None else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
        )  # fmt: skip
        return done.stdout.strip()

    return run


def test_an_edit_of_what_is_inlined_is_noticed(answer_of: Package) -> None:
    assert answer_of(added=10) == "22 compiled"
    assert answer_of(added=10) == "22 kept"
    assert answer_of(added=40) == "82 compiled"
    assert answer_of(added=40) == "82 kept"


@pytest.mark.parametrize("answer_of", ["beside the source"], indirect=True)
def test_a_full_disk_neither_ends_a_solve_nor_brings_an_old_kernel_back(answer_of: Package) -> None:
    assert answer_of(added=10) == "22 compiled"
    assert answer_of(added=40, room=2500) == "82 compiled"  # bytes: an index can be written, code cannot
    assert answer_of(added=40) == "82 compiled"
    assert answer_of(added=40) == "82 kept"


def test_the_digest_is_that_of_names_and_texts(tmp_path: Path) -> None:
    digests = [_kernel_cache.digest_of_sources(tmp_path)]

    def note() -> None:
        digests.append(_kernel_cache.digest_of_sources(tmp_path))

    (tmp_path / "one.py").write_text("a = 1", encoding="utf-8")
    note()
    status = (tmp_path / "one.py").stat()
    (tmp_path / "one.py").write_text("a = 2", encoding="utf-8")
    os.utime(tmp_path / "one.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    note()
    (tmp_path / "one.py").rename(tmp_path / "two.py")
    note()
    assert len(set(digests)) == 4
    os.utime(tmp_path / "two.py")
    (tmp_path / "notes.txt").write_text("no source", encoding="utf-8")
    assert _kernel_cache.digest_of_sources(tmp_path) == digests[-1]


def test_the_digest_takes_no_time() -> None:
    folder = Path(_kernel_cache.__file__).parent
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        _kernel_cache.digest_of_sources(folder)
        seconds.append(time.perf_counter() - began)
    assert min(seconds) < 0.005
