"""The line that installs an extra works where the package came from."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.pages import ROOT

PRINT = "from regretless.errors import MissingExtra; print(MissingExtra('starlette', 'web'))"


def copy_package(folder: Path) -> None:
    """The modules that the message needs."""
    (folder / "regretless").mkdir(parents=True)
    for name in ("__init__", "errors", "installing", "printable"):
        shutil.copy(ROOT / "src" / "regretless" / f"{name}.py", folder / "regretless")


def hint(packages: Path, folder: Path) -> str:
    """The hint that a package in `packages` prints in an interpreter without any other."""
    code = f"import sys; sys.path.insert(0, {str(packages)!r}); {PRINT}"
    result = subprocess.run([sys.executable, "-S", "-P", "-c", code], cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    prefix = "starlette is not installed: "
    assert result.stdout.startswith(prefix)
    return result.stdout.removeprefix(prefix).strip()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(None, "pip install 'regretless[web]'", id="index"),
        pytest.param(
            {"url": "file://FOLDER/a%20clone", "dir_info": {}}, "pip install 'FOLDER/a clone[web]'", id="folder"
        ),
        pytest.param(
            {"url": "file://FOLDER/r-1-py3-none-any.whl", "archive_info": {"hashes": {}}},
            "pip install 'FOLDER/r-1-py3-none-any.whl[web]'",
            id="wheel",
        ),
        pytest.param(
            {"url": "file://FOLDER/gone", "dir_info": {}}, "pip install '.[web]' in a clone of Regretless", id="gone"
        ),
        pytest.param(
            {"url": "https://example.org/r.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "pip install 'regretless[web] @ git+https://example.org/r.git@abc'",
            id="repository",
        ),
        pytest.param(
            {"url": "https://example.org/r.whl", "archive_info": {}},
            "pip install 'regretless[web] @ https://example.org/r.whl'",
            id="address",
        ),
        pytest.param([], "pip install '.[web]' in a clone of Regretless", id="damaged"),
    ],
)
def test_the_hint_names_the_source_that_pip_recorded(tmp_path: Path, source: Any, expected: str) -> None:
    packages = tmp_path / "site-packages"
    copy_package(packages)
    (tmp_path / "a clone").mkdir()
    (tmp_path / "r-1-py3-none-any.whl").touch()
    record = packages / "regretless-0.1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: regretless\nVersion: 0.1.0\n")
    if source is not None:
        (record / "direct_url.json").write_text(json.dumps(source).replace("FOLDER", tmp_path.as_posix()))
    assert hint(packages, tmp_path) == expected.replace("FOLDER", str(tmp_path))


def test_the_hint_without_a_record_names_a_clone(tmp_path: Path) -> None:
    copy_package(tmp_path / "somewhere")
    assert hint(tmp_path / "somewhere", tmp_path) == "pip install '.[web]' in a clone of Regretless"


def test_the_hint_in_a_clone_names_the_clone_even_if_another_is_installed(tmp_path: Path) -> None:
    """As in an editable installation, or with PYTHONPATH=src."""
    copy_package(tmp_path / "clone" / "src")
    (tmp_path / "clone" / "pyproject.toml").touch()
    expected = f"pip install -e '{tmp_path / 'clone'}[web]'"
    assert hint(tmp_path / "clone" / "src", tmp_path) == expected
    record = tmp_path / "clone" / "src" / "regretless-0.1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: regretless\nVersion: 0.1.0\n")
    assert hint(tmp_path / "clone" / "src", tmp_path) == expected
