"""What a module that cannot be imported means: a failed run.

The one exception is a module of the package whose optional library is absent, which is skipped with the reason.
`--doctest-ignore-import-errors` is of no use here: it also skips test files with a wrong import, whose tests then never
run.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent / "src"
OPTIONAL = {"LiteEFG", "cupy", "cupyx", "torch"}  # what the environment that `make test` builds may lack


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if report.failed:
        library = missing_library(report.call.excinfo.value)  # type: ignore[attr-defined]
        if library in OPTIONAL and PACKAGE in collector.path.parents:
            report.outcome = "skipped"
            report.longrepr = (str(collector.path), 0, f"Skipped: {library} is not installed")
            forget_module(collector.path)
    return report


def missing_library(error: BaseException) -> str | None:
    """The library whose absence is the cause of a failed import."""
    cause = error.__cause__ or error
    return cause.name.partition(".")[0] if isinstance(cause, ModuleNotFoundError) and cause.name else None


def forget_module(path: Path) -> None:
    """Drop the half-made module that pytest leaves behind, so that importing it again fails again."""
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == str(path):
            del sys.modules[name]
