"""Which tests run: slow ones on request, GPU tests if there is a GPU.

pytest                   all but the slow ones; without a GPU, GPU tests are skipped, with the reason
pytest --run-slow        all
pytest -m slow           only the slow ones
pytest -m gpu            only GPU tests; files and folders without any are not even imported, so that this works on a
                         GPU host that lacks the libraries of the other tests
"""

from __future__ import annotations

import importlib.util
import os
import resource
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

from regretless.engines.devices import cuda_devices

try:
    from hypothesis import HealthCheck, settings
except ImportError:  # a GPU host
    pass
else:
    # Nothing that depends on the clock: the first example may compile a kernel, and the machine may be busy. Every run
    # draws the same examples; `--hypothesis-profile random` draws others, as `make test-slow` does.
    settings.register_profile("same", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
    settings.register_profile("random", settings.get_profile("same"), derandomize=False)
    settings.load_profile("same")


# A shell that starts the tests in the background makes them ignore Ctrl-C, and nohup makes them ignore SIGHUP. The
# commands they start would too.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Examples in docstrings of modules that load without PyTorch but cannot run without it.
DOCTESTS_WITH_TORCH = {
    "regretless.api.train",
    "regretless.deep.trained_policy.TrainedPolicy",
    "regretless.deep.trained_policy.TrainedPolicy.save",
    "regretless.engines.batched.BatchedEngine",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-slow", action="store_true", help="also run the tests marked slow")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if config.option.markexpr.strip() != "gpu":
        return None
    files = collection_path.rglob("*.py") if collection_path.is_dir() else [collection_path]
    return not any("gpu" in path.read_text(encoding="utf-8") for path in files if path.suffix == ".py") or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--run-slow") and "slow" not in config.option.markexpr:
        slow = [item for item in items if item.get_closest_marker("slow")]
        if slow:
            config.hook.pytest_deselected(items=slow)
            items[:] = [item for item in items if not item.get_closest_marker("slow")]
    has_torch = importlib.util.find_spec("torch") is not None
    for item in items:
        if item.get_closest_marker("gpu") and cuda_devices() == 0:
            item.add_marker(pytest.mark.skip(reason="no CUDA device"))
        if item.name in DOCTESTS_WITH_TORCH and not has_torch:
            item.add_marker(pytest.mark.skip(reason="torch is not installed"))


@pytest.fixture(scope="session", autouse=True)
def command_read_once() -> Iterator[None]:
    """Reads the command's options once per process; Typer does it in every call, which takes longer than most tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.main.get_command", cache(get_command))
        yield


@pytest.fixture
def read_only_folder() -> Iterator[Path]:
    """A folder that this process cannot write to; root, which nothing stops, becomes another user meanwhile."""
    superuser = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o555)
        if superuser:
            os.seteuid(65534)
        yield Path(name)
        if superuser:
            os.seteuid(0)
        Path(name).chmod(0o755)


@pytest.fixture
def room_for() -> Callable[[int], AbstractContextManager[None]]:
    """A context in which the system lets no file grow beyond a number of bytes, as on a full disk."""

    @contextmanager
    def limited(most: int) -> Iterator[None]:
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limited
