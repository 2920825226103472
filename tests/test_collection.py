"""A module that cannot be imported fails the run, unless only an optional library of the package is missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """This project's settings for a one-module package and a test file, both valid; CuPy cannot be imported."""
    for name in ("pyproject.toml", "conftest.py"):
        shutil.copy(ROOT / name, tmp_path)
    write(tmp_path / "src/regretless/__init__.py", '"""A package."""\n')
    write(tmp_path / "src/regretless/sound.py", '"""Two.\n\n>>> 1 + 1\n2\n"""\n')
    write(tmp_path / "tests/test_sound.py", "def test_sound():\n    pass\n")
    write(tmp_path / "absent/cupy.py", "raise ModuleNotFoundError(\"No module named 'cupy'\", name='cupy')\n")
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def run_pytest(project: Path, *options: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project / "absent"), "PYTEST_ADDOPTS": "", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def test_sound_modules_pass_and_a_missing_optional_library_skips_its_module(project: Path) -> None:
    write(project / "src/regretless/planted.py", "import cupy\n")
    code, said = run_pytest(project)
    assert code == 0, said
    assert "2 passed, 1 skipped" in said
    assert "cupy is not installed" in said


def test_a_module_that_cannot_be_imported_fails_the_run(project: Path) -> None:
    planted = {
        "tests/test_name.py": "from regretless.sound import no_such_name\n\ndef test_it():\n    assert False\n",
        "tests/test_library.py": "import no_such_library\n",
        "tests/test_optional.py": "import cupy\n",  # a test calls importorskip
        "src/regretless/name.py": "from regretless.sound import no_such_name\n",
        "src/regretless/module.py": "import regretless.no_such_module\n",
        "src/regretless/library.py": "import no_such_library\n",
    }
    for file, text in planted.items():
        write(project / file, text)
    code, said = run_pytest(project)
    assert code == pytest.ExitCode.INTERRUPTED, said
    assert set(re.findall(r"^ERROR (\S+)", said, re.MULTILINE)) == set(planted)


def test_a_parametrized_test_without_parameters_fails_the_run(project: Path) -> None:
    text = "import pytest\n\n@pytest.mark.parametrize('x', [])\ndef test_it(x):\n    assert False\n"
    write(project / "tests/test_planted.py", text)
    code, said = run_pytest(project)
    assert code == pytest.ExitCode.INTERRUPTED, said
    assert "Empty parameter set" in said


def test_optional_libraries_can_be_hidden(project: Path) -> None:
    text = "import importlib.util\n\ndef test_it():\n    assert importlib.util.find_spec('cupy') is {}\n"
    write(project / "tests/test_planted.py", text.format("not None"))
    assert run_pytest(project)[0] == 0
    write(project / "tests/test_planted.py", text.format("None"))
    assert run_pytest(project)[0] == 1
    code, said = run_pytest(project, "--without-optional")
    assert code == 0, said
