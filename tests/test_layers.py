"""The layers police themselves: a planted violation breaks the contract it should break, and nothing else does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("importlinter")

ROOT = Path(__file__).parent.parent
LAYERS = "A layer imports only layers below it"
NO_POKER = "Engines, variants and solvers know no poker"
ARRAY_LIBRARIES = "Only engines, cards and compiling import numba, PyTorch and CuPy"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint_imports(project: Path) -> tuple[int, str]:
    command = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    result = subprocess.run(
        [sys.executable, "-c", command, "--no-cache"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project / "src"), "NO_COLOR": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
    )
    return result.returncode, result.stdout + result.stderr


def contracts(report: str, verdict: str) -> set[str]:
    return set(re.findall(rf"^(.+) {verdict}(?: \(.*\))?$", report, re.MULTILINE))


def test_the_layers_hold(project: Path) -> None:
    code, report = lint_imports(project)
    assert code == 0, report
    assert contracts(report, "KEPT") == {LAYERS, NO_POKER, ARRAY_LIBRARIES}, report


@pytest.mark.parametrize(
    ("file", "line", "contract"),
    [
        ("cards/planted.py", "import regretless.solvers", LAYERS),
        ("games/planted.py", "from regretless.forms import history", LAYERS),
        ("errors.py", "def late():\n    from regretless import variants", LAYERS),
        ("solvers/planted.py", "import regretless.cards", NO_POKER),
        ("engines/planted.py", "from regretless.cards import ranges", NO_POKER),
        ("variants/planted.py", "import numba", ARRAY_LIBRARIES),
        ("solvers/planted.py", "def late():\n    import torch.cuda", ARRAY_LIBRARIES),
        ("__init__.py", "from cupy import ndarray", ARRAY_LIBRARIES),
        ("leftovers/__init__.py", "", LAYERS),
        ("leftovers.py", "", LAYERS),
    ],
)
def test_a_planted_violation_is_found(project: Path, file: str, line: str, contract: str) -> None:
    path = project / "src" / "regretless" / file
    path.parent.mkdir(exist_ok=True)
    with path.open("a", encoding="utf-8") as planted:
        planted.write(f"\n{line}\n")
    code, report = lint_imports(project)
    assert code == 1, report
    assert contracts(report, "BROKEN") == {contract}, report


@pytest.mark.parametrize("layer", ["engines", "cards"])
def test_kernels_may_import_array_libraries(project: Path, layer: str) -> None:
    (project / "src" / "regretless" / layer / "planted.py").write_text("import numba\n", encoding="utf-8")
    code, report = lint_imports(project)
    assert code == 0, report
