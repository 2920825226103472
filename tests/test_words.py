"""One meaning per word: a class name is used once in the package, so that a search for it finds one thing."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src" / "regretless"


def class_names(package: Path) -> dict[str, list[str]]:
    """Where each class name is defined."""
    defined = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                defined[node.name].append(f"{path.relative_to(package)}:{node.lineno}")
    return defined


def test_no_class_name_is_used_twice() -> None:
    assert {name: places for name, places in class_names(PACKAGE).items() if len(places) > 1} == {}


def test_the_search_finds_a_name_that_is_used_twice(tmp_path: Path) -> None:
    (tmp_path / "first.py").write_text("class Plan: ...\n", encoding="utf-8")
    (tmp_path / "second.py").write_text("def plan():\n    class Plan: ...\n", encoding="utf-8")
    assert class_names(tmp_path) == {"Plan": ["first.py:1", "second.py:2"]}
