"""What is published: the source distribution, the long description, the dependencies and the citation."""

from __future__ import annotations

import ast
import datetime
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from tests.pages import ROOT

import regretless

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_source_distribution_is_the_repository() -> None:
    """So that it passes its own tests. Files that are new and not yet committed belong to it too."""
    sdist = pytest.importorskip("hatchling.builders.sdist")
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    files = {name for name in listed if name and (ROOT / name).is_file()}
    assert {
        Path(file.relative_path).as_posix() for file in sdist.SdistBuilder(str(ROOT)).recurse_included_files()
    } == files


def test_the_long_description_has_no_link_into_the_repository() -> None:
    builder = pytest.importorskip("hatchling.builders.wheel").WheelBuilder(str(ROOT))
    text = builder.metadata.core.readme
    assert builder.metadata.core.readme_content_type == "text/markdown"
    addresses = re.findall(r"\]\(([^)]*)\)", text)
    assert [address for address in addresses if not address.startswith("https://")] == []
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^#+ .*", text, re.MULTILINE) == re.findall(r"^#+ .*", readme, re.MULTILINE)
    assert re.findall(r"^```.*?^```", text, re.MULTILINE | re.DOTALL) == re.findall(
        r"^```.*?^```", readme, re.MULTILINE | re.DOTALL
    )
    assert "The tutorials solve a river and a flop, with" in " ".join(text.split())
    assert "red hands bet" not in text  # the caption of a picture


def test_every_core_dependency_is_imported() -> None:
    required = {re.split(r"[<>=~! ;\[]", line)[0] for line in PROJECT["dependencies"]}
    imported: set[str] = set()
    for path in (ROOT / "src" / "regretless").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.partition(".")[0])
    assert required <= imported - set(sys.stdlib_module_names)


def test_the_citation_names_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == regretless.__version__
    assert datetime.date.fromisoformat(citation["date-released"]) >= datetime.date(2026, 11, 18)
