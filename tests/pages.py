"""Runs the blocks of documentation pages (README.md, docs/**/*.md) and compares the output with what the pages show.

The blocks of a page run in order, share one namespace, and start in a folder that contains only `examples/`.

    ```toml title="spot.toml"    any block with a title is written to a file of that name
    ```python                    runs; if it prints, the next text block must show the output
    ```pycon                     a doctest
    ```console                   `$ regretless …` lines are commands, followed by their output
    ```sh                        make, pip and git: not run; tests/test_docs.py checks their targets and extras

A command's stdout and stderr are shown together, 80 columns wide, without colour; `< file` is what is typed. `…` stands
for text that depends on the machine or is omitted: any characters within a line, any lines on its own; a number with
decimals may differ by two units in its last digit. A command that fails must show its error.

    python -m tests.pages [PAGE …]    writes the actual output into the pages; keeps what still matches

Figures that depend on the machine (times, rates, free memory) become `…`, and omitted lines stay omitted.

Where two regrets tie, the last bit of a float32 sum decides what is played, and processors round such sums differently.
So the digits of a solved spot are reproducible only on the kind of processor that the pages were written on, recorded
in tests/pages.json. On any other, all text is compared, but no digits except those of sizes in bytes: after a change to
the kernels, compare the digits on the recorded kind.
"""

from __future__ import annotations

import contextlib
import difflib
import doctest
import hashlib
import io
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

__all__ = [
    "FENCE",
    "PAGES",
    "ROOT",
    "Block",
    "Edit",
    "blocks",
    "matches",
    "run_page",
    "same_processor",
    "update",
]

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WRITTEN_ON = Path(__file__).parent / "pages.json"
FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>```+) *(?P<info>[^`\n]*)\n(?P<body>.*?)^(?P=indent)(?P=fence) *$",
    re.MULTILINE | re.DOTALL,
)
ELLIPSIS = "…"
DECIMAL = r"[-−]?\d[\d,]*\.\d+(?:e[+-]?\d+)?"
NUMBER = r"\d[\d.,]*(?:e[+-]?\d+)?"
BYTES = r"(?:[KMGT]?B|bytes)"
# Output that differs between machines or runs, and how a page shows it.
MACHINE = [
    (re.compile(rf"{NUMBER}[kM]? (?=[a-z]+/s\b)"), "… "),
    (re.compile(rf"{NUMBER} (?:ns|µs|us|ms|s|min|h)\b"), "…"),
    (re.compile(r", \d+ threads?\b"), "…"),
    (re.compile(rf"(?<=…, ){NUMBER} {BYTES}"), "…"),  # a spot's memory, after its time: depends on the threads
    (re.compile(rf"{NUMBER} {BYTES} (?=(?:are |is )?free)"), "… "),
]


# Printed only the first time, when kernels are not compiled yet.
ONCE = re.compile(r"^compiling kernels .*\n", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block; `start` and `end` are where its body is in the page's text."""

    language: str
    title: str | None
    info: str
    body: str  # without the indentation of the fence
    indent: str
    start: int
    end: int
    line: int  # of the first line of the body, from 1


@dataclass(frozen=True)
class Edit:
    """A block whose output differs from what the page shows."""

    block: Block
    body: str  # what it should be
    problem: str  # where, and the difference
    digits: bool  # whether only digits differ


def blocks(text: str) -> list[Block]:
    found = []
    for match in FENCE.finditer(text):
        info = match["info"].strip()
        title = re.search(r'title="([^"]+)"', info)
        found.append(
            Block(
                language=info.split()[0] if info else "",
                title=title and title[1],
                info=info,
                body=re.sub(rf"^{match['indent']}", "", match["body"], flags=re.MULTILINE),
                indent=match["indent"],
                start=match.start("body"),
                end=match.end("body"),
                line=text.count("\n", 0, match.start("body")) + 1,
            )
        )
    return found


# --- running ---------------------------------------------------------------------------------------------------------


def run_page(page: Path) -> list[Edit]:
    """Run all blocks of a page in the working directory; returns edits for blocks that show something else."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    edits: list[Edit] = []
    printed = ""  # by the Python block just run
    for block in blocks(page.read_text(encoding="utf-8")):
        where = f"{page.name}, line {block.line}"
        if printed:
            assert block.language == "text", f"{where}: the block before prints, so its output must follow:\n{printed}"
            edits += _compare(block, where, block.body, printed)
            printed = ""
            continue
        if block.title is not None:
            Path(block.title).write_text(block.body, encoding="utf-8")
        if block.language in {"python", "pycon", "py"}:
            assert "skip" not in block.info, f"{where}: what a page shows is run, without exception"
            if block.body.startswith(">>>"):
                _run_doctest(block.body, namespace, where)
            else:
                with _captured() as (output, _):
                    exec(compile("\n" * (block.line - 1) + block.body, str(page), "exec"), namespace)
                printed = _read(output)
        elif block.language == "console":
            edits += _run_console(block, where)
    assert not printed, f"{page.name}: the last block prints, so its output must follow:\n{printed}"
    return edits


def _run_console(block: Block, where: str) -> list[Edit]:
    before, *parts = re.split(r"^(\$ (?:.*\\\n)*.*\n)", block.body, flags=re.MULTILINE)
    assert parts, f"{where}: a console block holds commands, `$ regretless …`"
    assert not before, f"{where}: a console block starts with a command, `$ regretless …`"
    body, differences, digits = "", [], True
    for line, shown in zip(parts[::2], parts[1::2], strict=True):
        command = line[2:].replace("\\\n", " ").strip()
        printed = run_command(command, where, fails="error:" in shown)
        for edit in _compare(block, f"{where}: {command}", shown, printed):
            differences.append(edit.problem)
            digits &= edit.digits
            shown = edit.body
        body += line + shown
    return [Edit(block, body, "\n".join(differences), digits)] if differences else []


def run_command(command: str, where: str, *, fails: bool = False) -> str:
    """The output of one `regretless …` line, run in this process; `> file` gets stdout, and `< file` is typed."""
    from regretless.cli import main

    words = shlex.split(command, comments=True)
    target = None
    if ">" in words:
        target = Path(words[words.index(">") + 1])
        words = words[: words.index(">")]
    typed = ""
    if "<" in words:
        typed = Path(words[words.index("<") + 1]).read_text(encoding="utf-8")
        words = words[: words.index("<")]
    assert words[0] == "regretless", f"{where}: {command}: only regretless runs in a console block"
    assert not {"|", "&&", ";"} & set(words), f"{where}: {command}: one command on a line, without pipes"
    with _captured(together=target is None) as (output, errors), _typed(typed):
        try:
            code = main(words[1:])
        except SystemExit as finished:
            code = finished.code if isinstance(finished.code, int) else 1
    if target is not None:
        target.write_text(_read(output), encoding="utf-8")
    printed = _read(errors if target is not None else output)
    assert (code != 0) == fails, f"{where}: {command}: exit code {code}\n{printed}"
    return ONCE.sub("", printed)


@contextlib.contextmanager
def _captured(*, together: bool = True) -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    """Captures stdout and stderr, together or apart, as on an 80-column terminal without colour."""
    output, errors = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    before = dict(os.environ)
    os.environ |= {"COLUMNS": "80", "MPLBACKEND": "agg", "NO_COLOR": "1"}
    os.environ.pop("FORCE_COLOR", None)
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output if together else errors):
            yield output, errors
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def _typed(text: str) -> Iterator[None]:
    """The text as stdin."""
    before = sys.stdin
    sys.stdin = io.StringIO(text)
    try:
        yield
    finally:
        sys.stdin = before


def _read(stream: io.TextIOWrapper) -> str:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode("utf-8")


def _run_doctest(body: str, namespace: dict[str, object], where: str) -> None:
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    example = doctest.DocTestParser().get_doctest(body, namespace, where, None, 0)
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
    runner.run(example, out=report.write, clear_globs=False)
    namespace.update(example.globs)
    assert runner.failures == 0, report.getvalue()


# --- comparing -------------------------------------------------------------------------------------------------------


def _lines(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def matches(shown: str, printed: str) -> bool:
    """Whether a page's text matches the output.

    `…` matches anything, and any run of spaces matches any other. A number with decimals may differ by two units in its
    last digit: processors round float32 sums differently.

    >>> matches("solved in … s", "solved in 0.21 s"), matches("a\\n…\\nd", "a\\nb\\nc\\nd"), matches("1   2", "1 2")
    (True, True, True)
    >>> matches("EV 30.54", "EV 30.55"), matches("EV 30.54", "EV 30.57"), matches("130 times", "131 times")
    (True, False, False)
    >>> matches("a\\n…\\nd", "a\\nb"), matches("", "a")
    (False, False)
    """
    pattern, expected = "", []
    for line in _lines(shown):
        if line.strip() == ELLIPSIS:
            pattern += r"(?:.*\n)*?"
            continue
        for piece in re.split(rf"({DECIMAL}|{ELLIPSIS}| +)", line):
            if re.fullmatch(DECIMAL, piece):
                expected.append(piece)
                pattern += f"({DECIMAL})"
            else:
                pattern += {ELLIPSIS: ".*?", " " * len(piece): " +"}.get(piece, re.escape(piece)) if piece else ""
        pattern += r"\n"
    found = re.fullmatch(pattern, "".join(f"{line}\n" for line in _lines(printed)))
    return found is not None and all(map(_close, expected, found.groups()))


def alike(shown: str, printed: str) -> bool:
    """Whether a page's text matches the output except for digits and for letters in a grid's cells or a strategy's bar.

    Sizes in bytes follow from the tree, not from what was solved, so they are compared on every processor.

    >>> alike("EV 30.54 in 130 iterations", "EV 30.61 in 128 iterations"), alike("EV 30.54", "equity 30.54")
    (True, False)
    >>> alike("60 KB after 130 iterations", "60 KB after 128 iterations"), alike("60 KB", "59 KB")
    (True, False)
    >>> alike("·     xxxx1 ·", "·     xxx11 ·"), alike(f"1: 87% {'p' * 21}bbb", f"1: 92% {'p' * 22}bb")
    (True, True)
    """
    varying = rf"\b[fxcbra\d]{{5}}\b|\b[fcrpb]{{24}}\b|[-−+]?(?>{NUMBER})(?! {BYTES}\b)"
    first, second = (re.sub(varying, "#", text) for text in (shown, printed))
    return matches(first, second)


def processor() -> dict[str, str]:
    """What the digits of a solved spot depend on: the kind of processor and the compiler."""
    import numba
    from llvmlite import binding

    features = hashlib.sha256(binding.get_host_cpu_features().flatten().encode()).hexdigest()[:12]
    return {"processor": binding.get_host_cpu_name(), "features": features, "numba": numba.__version__}


def same_processor() -> bool:
    """Whether the pages were written on this kind of processor."""
    return processor() == json.loads(WRITTEN_ON.read_text(encoding="utf-8"))


def _close(shown: str, printed: str) -> bool:
    first, second = (Decimal(text.replace(",", "").replace("−", "-")) for text in (shown, printed))
    exponent = first.as_tuple().exponent
    assert isinstance(exponent, int)
    return abs(first - second) <= 2 * Decimal(10) ** exponent


def rewritten(shown: str, printed: str) -> str:
    """What the page should show: the output without the lines that the page already omits.

    >>> print(rewritten("game\\nvalue 3\\n…\\ntime …", "game\\nnew\\nvalue 4\\nmore\\nyet more\\ntime 0.3 s"), end="")
    game
    new
    value 4
    …
    time …
    """
    for pattern, replacement in MACHINE:
        printed = pattern.sub(replacement, printed)
    old, new = _lines(shown), _lines(printed)
    kept: list[str] = []
    position = 0
    sections = _split(old)
    for number, section in enumerate(sections):
        if number:
            kept.append(ELLIPSIS)
        if number == len(sections) - 1:  # up to the end; the only section is everything
            position = position if number == 0 else max(position, len(new) - len(section))
            kept += new[position:]
        elif section:
            if number:
                position += _most_like(section[0], new[position:])
            count = 1 + _most_like(section[-1], new[position : position + len(section) + 10])
            kept += new[position : position + count]
            position += count
    return "".join(f"{line}\n" for line in kept)


def _split(lines: Sequence[str]) -> list[list[str]]:
    sections: list[list[str]] = [[]]
    for line in lines:
        if line.strip() == ELLIPSIS:
            sections.append([])
        else:
            sections[-1].append(line)
    return sections


def _most_like(line: str, candidates: Sequence[str]) -> int:
    likeness = [difflib.SequenceMatcher(None, line, candidate).ratio() for candidate in candidates]
    return likeness.index(max(likeness)) if likeness else 0


def _compare(block: Block, where: str, shown: str, printed: str) -> list[Edit]:
    if matches(shown, printed):
        return []
    body = rewritten(shown, printed)
    difference = difflib.unified_diff(_lines(shown), _lines(body), "the page shows", "it prints", lineterm="")
    return [Edit(block, body, "\n".join([where, *difference]), alike(shown, printed))]


# --- writing ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def folder_of_a_page(root: Path = ROOT) -> Iterator[None]:
    """An empty working directory with `examples/` in it, as in a clone."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        shutil.copytree(root / "examples", "examples")
        yield


def update(page: Path) -> list[Edit]:
    """Write the output of a page's blocks into it, and return what changed."""
    with folder_of_a_page():
        edits = run_page(page)
    text = page.read_text(encoding="utf-8")
    for edit in reversed(edits):
        body = re.sub(r"^(?=.)", edit.block.indent, edit.body, flags=re.MULTILINE)
        text = text[: edit.block.start] + body + text[edit.block.end :]
    page.write_text(text, encoding="utf-8")
    return edits


def main(arguments: Sequence[str]) -> int:
    failed = 0
    for page in [Path(argument).resolve() for argument in arguments] or PAGES:
        try:
            for edit in update(page):
                print(edit.problem)
        except Exception as error:  # the page stays as it is; the others are still written
            failed += 1
            print(f"{page.name}: {type(error).__name__}: {error}", file=sys.stderr)
    if not arguments and not failed:
        WRITTEN_ON.write_text(json.dumps(processor()) + "\n", encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
