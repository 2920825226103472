"""Limits for every fuzz case: only the package's own errors, five seconds each, 500 MB in total.

Every fuzzer generates its cases from a seed, so a failing case can be reproduced. A small number runs with the other
tests and the full number with the slow ones.
"""

from __future__ import annotations

import re
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from regretless.errors import RegretlessError

SECONDS = 5.0  # of processor time, so that a busy machine does not count as a hang
BYTES = 500e6


class _Case:
    """One case: its errors, its time."""

    def __init__(self) -> None:
        self.refused = 0
        self.passed = 0

    @contextmanager
    def __call__(self, what: object) -> Iterator[None]:
        """Run one case; anything but the package's own errors fails and names the case."""
        try:
            with _deadline(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield
            self.passed += 1
        except RegretlessError as error:
            self.refused += 1
            message = str(error)
            if not 0 < len(message) < 2000 or "\n" in message:
                pytest.fail(f"a message that is no sentence: {message[:200]!r} for {str(what)[:2000]}")
        except Exception as error:
            pytest.fail(f"{type(error).__name__}: {error} for {str(what)[:4000]}")


@contextmanager
def _deadline() -> Iterator[None]:
    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"more than {SECONDS:g} s")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _peak() -> int:
    """Peak memory of the process since the last reset."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 if found else 0


@pytest.fixture
def case() -> Iterator[_Case]:
    """Runs cases; memory must never grow by more than 500 MB during the test."""
    if not hasattr(signal, "setitimer"):
        pytest.skip("needs a timer of processor time")
    measured = Path("/proc/self/clear_refs").exists()
    if measured:
        Path("/proc/self/clear_refs").write_text("5")
    before = _peak() if measured else 0
    cases = _Case()
    yield cases
    if measured:
        assert _peak() - before < BYTES
