"""The layer contracts work: a planted violation breaks exactly the contract it should."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("importlinter")

ROOT = Path(__file__).parent.parent
LAYERS = "A layer imports only layers below it"
NO_POKER = "Engines, variants and solving know no poker"
ARRAY_LIBRARIES = "Only engines, cards, compiling and deep import numba, PyTorch and CuPy"
FACADE = "Other layers import engines only by its façade"
ACYCLIC = "No two modules or packages of a folder import each other, however indirectly"
PACKAGE = ROOT / "src" / "regretless"


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
    assert contracts(report, "KEPT") == {LAYERS, NO_POKER, ARRAY_LIBRARIES, FACADE, ACYCLIC}, report


@pytest.mark.parametrize(
    ("file", "line", "contract"),
    [
        ("cards/planted.py", "import regretless.solving", LAYERS),
        ("games/planted.py", "from regretless.forms import history", LAYERS),
        ("errors.py", "def late():\n    from regretless import variants", LAYERS),
        ("solving/planted.py", "import regretless.cards", NO_POKER),
        ("engines/planted.py", "from regretless.cards import ranges", NO_POKER),
        ("variants/planted.py", "import numba", ARRAY_LIBRARIES),
        ("solving/planted.py", "def late():\n    import torch.cuda", ARRAY_LIBRARIES),
        ("__init__.py", "from cupy import ndarray", ARRAY_LIBRARIES),
        ("deep/planted.py", "import numba", ARRAY_LIBRARIES),
        ("holdem/planted.py", "from regretless.deep import settings", LAYERS),
        ("holdem/planted.py", "from regretless.engines.contract import Engine", FACADE),
        ("solving/planted.py", "def late():\n    from regretless.engines import registry", FACADE),
        ("cards/deck.py", "def late():\n    from regretless.cards import ranges", ACYCLIC),
        ("forms/history.py", "if TYPE_CHECKING:\n    from regretless.forms.compile import invert", ACYCLIC),
        ("cli/terminal/numbers.py", "def late():\n    import regretless.cli.commands.plot", ACYCLIC),
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
    closed = {ACYCLIC} if contract == LAYERS else set()  # an import of a layer above may also close a cycle
    assert {contract} <= contracts(report, "BROKEN") <= {contract} | closed, report


@pytest.mark.parametrize("layer", ["engines", "cards"])
def test_kernels_may_import_array_libraries(project: Path, layer: str) -> None:
    (project / "src" / "regretless" / layer / "planted.py").write_text("import numba\n", encoding="utf-8")
    code, report = lint_imports(project)
    assert code == 0, report


# --- private names ---------------------------------------------------------------------------------------------------


def private_imports(source: str, package: str) -> Iterator[str]:
    """Private names that a module of `package` imports from regretless; a private module serves its own package."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            for place, part in enumerate(parts):
                if parts[0] == "regretless" and part.startswith("_") and not part.endswith("__"):
                    parent = ".".join(parts[:place])
                    path = PACKAGE.parent.joinpath(*parts[: place + 1])
                    is_module = path.is_dir() or path.with_suffix(".py").exists()
                    if not (is_module and f"{package}.".startswith(f"{parent}.")):
                        yield name


def test_no_module_imports_a_private_name_of_another() -> None:
    found = []
    for path in PACKAGE.rglob("*.py"):
        package = ".".join(path.relative_to(PACKAGE.parent).parent.parts)
        found += [f"{path.relative_to(ROOT)}: {name}" for name in private_imports(path.read_text("utf-8"), package)]
    assert found == []


@pytest.mark.parametrize(
    ("line", "package", "is_found"),
    [
        ("from regretless.cards.deck import _rank", "regretless.cards", True),
        ("def late():\n    from regretless.cards.deck import _rank as rank", "regretless.games", True),
        ("from regretless.cards import _equity_kernels", "regretless.cards", False),
        ("from regretless.cards import _equity_kernels", "regretless.holdem", True),
        ("from regretless.cards._equity_kernels import sample", "regretless.holdem.form", True),
        ("import regretless.cards._equity_kernels", "regretless.holdem", True),
        ("from regretless import __version__", "regretless.cli", False),
        ("from numba.core import _helperlib", "regretless.engines", False),
    ],
)
def test_a_planted_private_import_is_found(line: str, package: str, is_found: bool) -> None:
    assert bool(list(private_imports(line, package))) == is_found
