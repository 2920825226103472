"""A module that cannot be imported fails the run. Imported modules are not scanned for garbage.

A module of the package whose optional library is missing is skipped, with the reason. pytest's own
`--doctest-ignore-import-errors` would also skip test files with a broken import, so that their tests never run.

`--without-optional` hides the optional libraries, so that a machine that has them can test for those that do not.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

import pytest

PACKAGE = Path(__file__).parent / "src"
OPTIONAL = {"LiteEFG", "cupy", "cupyx", "torch"}  # may be missing from the environment that `make test` builds


class WithoutOptional(PathFinder):
    """Finds every installed module but the optional libraries."""

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return None if fullname.partition(".")[0] in OPTIONAL else super().find_spec(fullname, path, target)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--without-optional", action="store_true", help=f"hide {', '.join(sorted(OPTIONAL))}, as if not installed"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--without-optional"):
        sys.meta_path[sys.meta_path.index(PathFinder)] = WithoutOptional


def pytest_sessionstart() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    """Modules live until the end, and each scan of their million objects would take a fifth of a second."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    gc.unfreeze()


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
    """The missing library that made an import fail."""
    cause = error.__cause__ or error
    return cause.name.partition(".")[0] if isinstance(cause, ModuleNotFoundError) and cause.name else None


def forget_module(path: Path) -> None:
    """Drop the half-initialised module that pytest leaves behind, so that importing it again fails again."""
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == str(path):
            del sys.modules[name]
