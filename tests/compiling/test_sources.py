"""A kernel's sources: what it imports, and nothing else."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from regretless.compiling import sources

PACKAGE = sources.PACKAGE


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with one kernel file; caches are emptied so that each digest reads the files anew."""
    folder = tmp_path / "regretless"
    for path, text in {
        "engines/kernels.py": "from regretless.engines.part import part\nfrom regretless.forms.kinds import FOLD\n",
        "engines/part.py": "from regretless.engines import deep as below, deeper\nfrom regretless.errors import Bad\n",
        "engines/deep.py": "if TYPE_CHECKING:\n    from regretless.engines.types import Type\n",
        "engines/deeper.py": "def late():\n    from regretless.engines.late import late\n",
        "engines/__init__.py": "",
        "engines/types.py": "",
        "engines/late.py": "",
        "engines/unrelated.py": "",
        "errors.py": "",
        "forms/kinds.py": "from regretless.forms.other import other\n",
        "forms/other.py": "",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    monkeypatch.setattr(sources, "PACKAGE", folder)
    return folder


def digest(package: Path) -> bytes:
    for function in (sources.digest_of_sources, sources._read, sources._file_of):
        function.cache_clear()
    try:
        return sources.digest_of_sources(package / "engines" / "kernels.py")
    finally:
        for function in (sources.digest_of_sources, sources._read, sources._file_of):
            function.cache_clear()


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("engines/kernels.py", True),
        ("engines/part.py", True),
        ("engines/deep.py", True),
        ("engines/deeper.py", True),
        ("forms/kinds.py", True),
        ("forms/other.py", False),
        ("errors.py", False),
        ("engines/__init__.py", False),
        ("engines/types.py", False),
        ("engines/late.py", False),
        ("engines/unrelated.py", False),
    ],
)
def test_an_edit_counts_only_in_a_file_that_is_compiled_in(package: Path, file: str, counts: bool) -> None:
    before = digest(package)
    os.utime(package / file)
    assert digest(package) == before
    (package / file).write_text((package / file).read_text(encoding="utf-8") + "# a comment\n", encoding="utf-8")
    assert (digest(package) != before) == counts


def test_the_name_of_a_source_counts(package: Path) -> None:
    before = digest(package)
    (package / "engines" / "deep.py").rename(package / "engines" / "renamed.py")
    part = package / "engines" / "part.py"
    part.write_text(part.read_text(encoding="utf-8").replace("deep as", "renamed as"), encoding="utf-8")
    assert digest(package) != before


def imports_by_parsing(text: str) -> set[Path]:
    """What `imported_files` finds, by Python's own parser."""
    files = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.Import):
            files |= {sources._file_of(alias.name) for alias in node.names if alias.name.startswith("regretless")}
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("regretless"):
            for alias in node.names:
                files.add(sources._file_of(f"{node.module}.{alias.name}") or sources._file_of(str(node.module)))
    return {file for file in files if file is not None}


def test_imports_are_found_as_python_finds_them() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    assert {path: set(sources.imported_files(text)) for path, text in texts.items()} == {
        path: imports_by_parsing(text) for path, text in texts.items()
    }


def test_every_array_that_a_kernel_is_handed_in_memory_comes_from_its_sources() -> None:
    """Their types are not in its signature (`kernels/arguments.py`): the files that create them must be its sources."""
    public = PACKAGE / "engines" / "numba" / "public"
    assert {public / f"{name}.py" for name in ("jobs", "plan", "tables")} <= sources.sources_of(
        public / "kernels" / "iterate.py"
    )


def test_sources_are_read_once_per_process(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = PACKAGE / "cards" / "_evaluator_kernels.py"
    sources.digest_of_sources(kernels)
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"reads {path} again"))
    sources.digest_of_sources(kernels)
