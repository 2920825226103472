"""Everything the documentation shows is run, and must print what it shows: tests/pages.py explains how."""

from __future__ import annotations

import re
import shlex
import tomllib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from tests.pages import FENCE, PAGES, ROOT, blocks, folder_of_a_page, matches, run_page, same_processor, update

import regretless as rl

DOCUMENTS = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


# They build buckets for all boards and train networks; tests/cli has quick tests of the same commands.
SLOW = {"no_limit.md", "deep-cfr.md"}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow if page.name in SLOW else ()) for page in PAGES],
    ids=name_of,
)
def test_a_page_shows_what_its_commands_print(page: Path) -> None:
    if "$ regretless train " in page.read_text(encoding="utf-8"):
        pytest.importorskip("torch")
    with folder_of_a_page():
        edits = run_page(page)
    if edits and all(edit.digits for edit in edits) and not same_processor():
        pytest.skip(f"{name_of(page)} shows other digits than this processor finds, and was written on another")
    problems = "\n\n".join(edit.problem for edit in edits)
    assert not edits, f"{problems}\n\nIf what is printed is right, `make pages` writes it into the page."


# --- commands that are only mentioned --------------------------------------------------------------------------------


def commands_in_text(path: Path) -> list[str]:
    """`regretless …` in running text, and lines of text blocks that start with it, with those that continue them."""
    text = path.read_text(encoding="utf-8")
    inline = re.findall(r"`(regretless [^`\n]+)`", FENCE.sub("", text))
    whole = (block.body.replace("\\\n", "") for block in blocks(text) if block.language == "text")
    listed = [line for body in whole for line in body.splitlines()]
    return inline + [line for line in listed if line.startswith("regretless ")]


def options_of(words: list[str]) -> set[str]:
    """Options of the subcommand that `words` name."""
    import typer

    from regretless.cli.app import app

    command: Any = typer.main.get_command(app)
    for word in words[1:]:
        if not hasattr(command, "commands"):
            break
        if word.startswith("-"):
            break
        assert word in command.commands, f"{shlex.join(words)}: there is no subcommand {word}"
        command = command.commands[word]
    options = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    return options | {"--help"}


def assert_parses(command: str) -> None:
    words = shlex.split(command, comments=True)
    options = options_of(words)
    unknown = [word for word in words if re.match(r"--[a-z]", word) and word.split("=")[0] not in options]
    assert not unknown, f"{command}: no such option: {', '.join(unknown)}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_commands_in_running_text_exist(path: Path) -> None:
    for command in commands_in_text(path):
        assert_parses(command)


def test_the_page_of_the_command_lists_every_subcommand() -> None:
    import typer

    from regretless.cli.app import app

    group: Any = typer.main.get_command(app)
    text = (ROOT / "docs" / "tutorial" / "command.md").read_text(encoding="utf-8")
    listed = {row.split()[0] for row in re.findall(r"^\| `([a-z-][a-z -]*)` \|", text.split("## ")[0], re.MULTILINE)}
    assert listed == set(group.commands)


def test_examples_of_the_help_exist() -> None:
    found = [
        example
        for path in (ROOT / "src" / "regretless" / "cli").rglob("*.py")
        for example in re.findall(
            r"^ *\[cyan\](regretless .+?)\[/cyan\]", path.read_text(encoding="utf-8"), re.MULTILINE
        )
    ]
    assert len(found) > 10
    for example in found:
        assert_parses(example)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_shell_blocks_contain_valid_commands(path: Path) -> None:
    """make with targets and pip with extras that exist. Regretless is not on PyPI, so pip installs it from a clone."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for block in blocks(path.read_text(encoding="utf-8")):
        if block.language not in {"sh", "bash", "shell"}:
            continue
        for line in block.body.splitlines():
            words = [word for word in shlex.split(line, comments=True) if "=" not in word]
            match words:
                case ["make", *given]:
                    assert set(given) <= targets, line
                case ["pip", "install", *given]:
                    named = [match for word in given if (match := re.fullmatch(r"\.(?:\[(.+)\])?", word))]
                    assert named, f"{line}: installs from the folder of the clone, as `.` or `.[extra]`"
                    assert {extra for match in named if match[1] for extra in match[1].split(",")} <= set(EXTRAS), line
                case ["git", "clone", *_] | ["cd", _] | ["pre-commit", *_] | []:
                    pass
                case _:
                    pytest.fail(
                        f"{name_of(path)}: {line}: a regretless command belongs in a console block, where it runs"
                    )


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_scripts_that_are_mentioned_exist(path: Path) -> None:
    for script in re.findall(r"\bpython ((?:benchmarks|tests)/\S+?\.py)", path.read_text(encoding="utf-8")):
        assert (ROOT / script).is_file(), script


# --- claims ----------------------------------------------------------------------------------------------------------

CLAIMS = [*DOCUMENTS, ROOT / "pyproject.toml", ROOT / "CITATION.cff", *(ROOT / "src" / "regretless").rglob("*.py")]


def test_no_document_claims_too_much() -> None:
    """Infinite games and imperfect recall are refused, not every variant exists, and whole games are solved too."""
    claims = r"(every|any|any other) extensive-form game|every modern variant|hold'em after the flop"
    for path in CLAIMS:
        text = " ".join(path.read_text(encoding="utf-8").split())
        assert not re.search(claims, text), name_of(path)


def test_the_caption_of_the_kuhn_plot_counts_the_hands_of_the_run_above_it() -> None:
    text = (ROOT / "docs" / "tutorial" / "kuhn.md").read_text(encoding="utf-8")
    (trained,) = re.findall(r"kuhn trained on ([\d,]+) hands", text)
    assert re.findall(r"after ([\d,]+) hands", text) == [trained]


def test_exploitability_is_defined_as_it_is_computed() -> None:
    """The conventions divide NashConv by the number of players, and so does a game of three."""
    text = (ROOT / "docs" / "design" / "conventions.md").read_text(encoding="utf-8")
    assert "**Exploitability** is NashConv divided by the number of players" in text
    solution = rl.solve("kuhn(players=3)", iterations=1)
    assert solution.exploitability == pytest.approx(solution.nash_conv / 3)


# --- lists that must be complete -------------------------------------------------------------------------------------


def test_the_home_page_links_every_page() -> None:
    """Except the changelog, which the navigation includes."""
    home = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in PAGES if path.is_relative_to(ROOT / "docs")}
    missing = {page for page in pages - {"index.md", "changelog.md"} if f"]({page})" not in home}
    assert not missing


def test_the_home_page_lists_the_extras() -> None:
    home = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([a-z0-9-]+)` \|", home, re.MULTILINE)) == set(EXTRAS) - {"bench", "dev"}


def test_the_guide_lists_every_field_of_a_spot() -> None:
    from regretless.holdem.spots.bet_tables import CAP, RULES, SIZES
    from regretless.holdem.spots.spot_fields import Rules
    from regretless.holdem.spots.spot_toml import FIELDS

    text = (ROOT / "docs" / "guide" / "spots.md").read_text(encoding="utf-8")
    table = re.search(r"## Every field\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    assert table is not None
    listed = {
        name for row in re.findall(r"^\| (`.*?`) \|", table[1], re.MULTILINE) for name in re.findall(r"`(.+?)`", row)
    }
    known = {f"bets.{name}" for name in (*SIZES, CAP)} | {f"rules.{name}" for name in RULES}
    known |= {"oop.name", "ip.name", "oop.range", "ip.range", "lines.only", "lines.add", "lines.remove", "[[locks]]"}
    known |= set(FIELDS) - {"oop", "ip", "bets", "rules", "lines", "locks"}
    assert listed == known
    defaults = dict(re.findall(r"^\| `rules\.(.+?)` \| [^|]+ \| `(.+?)`", table[1], re.MULTILINE))
    assert {name: float(default) for name, default in defaults.items()} == asdict(Rules())


def test_the_guide_lists_every_field_of_a_game() -> None:
    from regretless.holdem.games.game import FIELDS, PREFLOP
    from regretless.holdem.spots.bet_tables import CAP, RULES, SIZES

    text = (ROOT / "docs" / "guide" / "games.md").read_text(encoding="utf-8")
    table = re.search(r"## Every field\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    assert table is not None
    listed = {
        name for row in re.findall(r"^\| (`.*?`) \|", table[1], re.MULTILINE) for name in re.findall(r"`(.+?)`", row)
    }
    known = {f"bets.{name}" for name in (*SIZES, CAP)} | {f"rules.{name}" for name in RULES}
    known |= {f"preflop.{name}" for name in PREFLOP} | {"lines.only", "lines.add", "lines.remove"}
    assert listed == known | set(FIELDS) - {"preflop", "bets", "rules", "lines"}


def test_the_readme_lists_every_folder() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    package = ROOT / "src" / "regretless"
    folders = {path.parent.relative_to(package).as_posix() for path in package.glob("*/__init__.py")}
    assert set(re.findall(r"^\| `([a-z]+)/` \|", text, re.MULTILINE)) == folders


def test_the_layers_are_listed_as_they_are_checked() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    checked = [layer for contract in contracts if contract["id"] == "layers" for layer in contract["layers"]]
    text = (ROOT / "docs" / "design" / "layers.md").read_text(encoding="utf-8")
    diagram = next(block.body for block in blocks(text) if block.language == "text")
    assert [re.split(r" {2,}", line)[0] for line in diagram.splitlines()] == [
        name for name in checked if name != "__main__"
    ]


def test_the_readme_states_the_exploitability_that_each_variant_reaches() -> None:
    import regretless as rl

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| (Kuhn|Leduc|) ?\| `([a-z-]+)` \| ([\d.e-]+) \| ([\d.e-]+) \| ([\d.e-]+) \|$", text, re.MULTILINE
    )
    assert len(rows) == 9
    game = ""
    for name, variant, *stated in rows:
        game = name.lower() or game
        for iterations, figure in zip((100, 1_000, 10_000), stated, strict=True):
            reached = rl.solve(game, variant=variant, iterations=iterations).exploitability
            assert float(f"{reached:.1e}") == pytest.approx(float(figure), rel=0.06), (game, variant, iterations)


# --- the mechanism itself --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("```python\nassert 1 == 2\n```\n", AssertionError),
        ("```python skip\nx = 1\n```\n", AssertionError),
        ("```pycon\n>>> 1 + 1\n3\n```\n", AssertionError),
        ("```console\n$ regretless no-such-command\n```\n", AssertionError),
        ("```console\n$ ls\n```\n", AssertionError),
        ("```console\nregretless games\n```\n", AssertionError),
        ("```python\nprint(1)\n```\n", AssertionError),
        ("- item\n\n    ```python\n    undefined_name\n    ```\n", NameError),
    ],
)
def test_a_wrong_page_is_noticed(text: str, problem: type[Exception], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with folder_of_a_page(), pytest.raises(problem):
        run_page(page)


RANGE = "```console\n$ regretless range AA\n{}```\n"


@pytest.mark.parametrize("shown", ["", "AA   5 combos\n", "AA   6 combos\n"])
def test_output_that_differs_is_noticed_and_can_be_written(shown: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n\n" + RANGE.format(shown) + "\nafter\n", encoding="utf-8")
    with folder_of_a_page():
        assert len(run_page(page)) == 1
    assert len(update(page)) == 1
    text = page.read_text(encoding="utf-8")
    assert "combos" in text
    assert text.startswith("before\n\n```console\n$ regretless range AA\n")
    assert text.endswith("```\n\nafter\n")
    with folder_of_a_page():
        assert run_page(page) == []


def test_omitted_lines_stay_omitted(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "- item\n\n    ```console\n    $ regretless equity AA KK\n    wrong\n    …\n    ```\n", encoding="utf-8"
    )
    assert len(update(page)) == 1
    text = page.read_text(encoding="utf-8")
    assert "wrong" not in text
    assert text.endswith("    …\n    ```\n")
    with folder_of_a_page():
        assert run_page(page) == []


@pytest.mark.parametrize(
    ("text", "printed"),
    [("print('a', 1)", "a 2"), ("for i in range(3):\n    print(i)", "0\n1")],
)
def test_python_output_is_compared(text: str, printed: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"```python\n{text}\n```\n\n```text\n{printed}\n```\n", encoding="utf-8")
    with folder_of_a_page():
        (edit,) = run_page(page)
    assert not matches(printed, edit.body)
    update(page)
    with folder_of_a_page():
        assert run_page(page) == []
