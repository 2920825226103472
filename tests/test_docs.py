"""Everything the documents show is run: Python blocks, and commands that start with `$ regretless`.

The blocks of a page run in order, share one namespace and start in one empty directory. A block with a title,

    ```toml title="spot.toml"

is written there under that name first, so that a page can show a file and then the command that reads it.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>```+) *(?P<info>[^`\n]*)\n(?P<body>.*?)^(?P=indent)(?P=fence) *$",
    re.MULTILINE | re.DOTALL,
)
# These wait for a person; their --help stands in for them.
WAITING = {"play", "serve"}


@dataclass(frozen=True)
class Block:
    language: str
    title: str | None
    info: str
    body: str
    line: int  # of the first line of the body, from 1


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        info = match["info"].strip()
        title = re.search(r'title="([^"]+)"', info)
        body = re.sub(rf"^{match['indent']}", "", match["body"], flags=re.MULTILINE)
        line = text.count("\n", 0, match.start("body")) + 1
        found.append(Block(info.split()[0] if info else "", title and title[1], info, body, line))
    return found


def commands(body: str) -> list[str]:
    """Lines after a `$ ` prompt, continued lines joined."""
    return [line[2:].strip() for line in body.replace("\\\n", " ").splitlines() if line.startswith("$ ")]


def run_command(command: str) -> None:
    """One `regretless …` line in this process, its output sent to a file where the line says `> file`."""
    from regretless.cli import main

    words = shlex.split(command, comments=True)
    target = None
    if ">" in words:
        target = Path(words[words.index(">") + 1])
        words = words[: words.index(">")]
    assert "|" not in words, f"{command}: a document shows one command a line, without pipes"
    if len(words) > 1 and words[1] in WAITING:
        words = [*words[:2], "--help"]
    output = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(output):
        patch.setattr(sys, "argv", words)
        try:
            code = main()
        except SystemExit as finished:
            code = finished.code
    assert code in (None, 0), f"{command}: exit code {code}\n{output.getvalue()}"
    if target is not None:
        target.write_text(output.getvalue(), encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_everything_a_page_shows_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        where = f"{page.relative_to(ROOT)}, line {block.line}"
        if block.title is not None:
            (tmp_path / block.title).write_text(block.body, encoding="utf-8")
        if block.language in {"python", "pycon", "py"}:
            assert "skip" not in block.info, f"{where}: what a page shows is run, without exception"
            if block.body.startswith(">>>"):
                run_doctest(block.body, namespace, where)
            else:
                exec(compile("\n" * (block.line - 1) + block.body, str(page), "exec"), namespace)
        elif block.language in {"console", "sh", "bash", "shell"}:
            for command in commands(block.body):
                if command.split()[0] == "regretless":
                    run_command(command)


def run_doctest(body: str, namespace: dict[str, object], where: str) -> None:
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    example = doctest.DocTestParser().get_doctest(body, namespace, where, None, 0)
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
    runner.run(example, out=report.write, clear_globs=False)
    namespace.update(example.globs)
    assert runner.failures == 0, report.getvalue()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("```python\nassert 1 == 2\n```\n", AssertionError),
        ("```python skip\nx = 1\n```\n", AssertionError),
        ("```pycon\n>>> 1 + 1\n3\n```\n", AssertionError),
        ("```console\n$ regretless no-such-command\n```\n", AssertionError),
        ("- item\n\n    ```python\n    undefined_name\n    ```\n", NameError),
    ],
)
def test_a_wrong_page_is_noticed(
    text: str, problem: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    with pytest.raises(problem):
        test_everything_a_page_shows_runs(page, tmp_path, monkeypatch)
