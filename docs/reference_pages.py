"""Generates the reference pages while the site is built: the command, then each layer in the order the data flows.

1. The command's page lists every subcommand and option, from the definitions behind `--help`.
2. A layer is a folder or module in `src/regretless`. Its page lists its public modules; mkdocstrings adds their
   docstrings and exports.
3. The pages form the Reference section of the navigation.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from rich.text import Text

from regretless.cli.app import app

PACKAGE = Path(__file__).parent.parent / "src" / "regretless"


def layers() -> list[str]:
    """The layers in pyproject.toml, lowest first, without the command, which has its own page."""
    project = tomllib.loads((PACKAGE.parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    names = [name for contract in contracts if contract["id"] == "layers" for name in contract["layers"]]
    return [name for name in re.findall(r"\w+", " ".join(reversed(names))) if name not in {"__main__", "cli"}]


LAYERS = layers()


def modules(layer: str) -> list[str]:
    """Full names of a layer's public modules, the layer itself first; none if it does not exist."""
    if (PACKAGE / f"{layer}.py").is_file():
        return [f"regretless.{layer}"]
    found = []
    for path in sorted((PACKAGE / layer).rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts[-1] == "__init__":
            parts = parts[:-1]
        if not any(part.startswith("_") for part in parts):
            found.append(".".join(("regretless", *parts)))
    return sorted(found, key=lambda name: (name.count("."), name))


def layer_page(layer: str) -> str:
    lines = [f"# {layer}", ""]
    for module in modules(layer):
        lines += [f"## `{module}`", "", f"::: {module}", ""]
    return "\n".join(lines)


def command_page() -> str:
    """Every subcommand with its arguments and options."""
    lines = ["# The command", "", "Every subcommand and option, as `--help` prints them.", ""]
    for name, command in commands("regretless", typer.main.get_command(app)):
        arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
        usage = " ".join([name, "[OPTIONS]", *map(placeholder, arguments)])
        lines += [f"## `{name}`", "", f"```text\n{usage}\n```", "", *paragraphs(command.help or ""), ""]
        rows = [row(parameter) for parameter in command.params if parameter.name != "help"]
        if rows:
            lines += ["| argument or option | default | |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def commands(name: str, group: Any) -> Iterator[tuple[str, Any]]:
    for word, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(f"{name} {word}", command)
        else:
            yield f"{name} {word}", command


def placeholder(argument: Any) -> str:
    word = argument.metavar or argument.name.upper()
    return word if argument.required else f"[{word}]"


def row(parameter: Any) -> str:
    shown, default = parameter.show_default, parameter.default
    if not isinstance(shown, str):
        shown = str(default) if shown and default not in (None, False) else ""
    names = ", ".join(f"`{name}`" for name in parameter.opts)
    if parameter.param_type_name == "argument":
        names = f"`{placeholder(parameter)}`".replace("|", "\\|")
    return f"| {names} | {markdown(shown)} | {markdown(parameter.help or '')} |"


def paragraphs(text: str) -> Iterator[str]:
    """A command's docstring; a paragraph that starts with a backspace is printed verbatim, so it becomes code."""
    for paragraph in text.split("\n\n"):
        if paragraph.startswith("\b"):
            code = Text.from_markup(paragraph.removeprefix("\b").strip("\n")).plain
            yield f"```text\n{code}\n```"
        else:
            yield markdown(" ".join(paragraph.split()))
        yield ""


def markdown(text: str) -> str:
    """Help text with Rich markup as Markdown: coloured text becomes code, and nothing else is markup."""
    rich = Text.from_markup(text)
    pieces, end = [], 0
    for span in sorted(rich.spans):
        pieces += [escape(rich.plain[end : span.start]), f"`{rich.plain[span.start : span.end]}`".replace("|", "\\|")]
        end = span.end
    return "".join([*pieces, escape(rich.plain[end:])])


def escape(text: str) -> str:
    """Text whose only markup is code between backticks."""
    return re.sub(r"(`[^`]+`)|([\\`*_\[\]<>|])", lambda found: found[1] or f"\\{found[2]}", text)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill the Reference section of the navigation."""
    pages = [{"The command": "reference/command.md"}, *({layer: f"reference/{layer}.md"} for layer in LAYERS)]
    config.nav = [{"Reference": pages} if "Reference" in entry else entry for entry in config.nav or []]
    config.watch.append(str(PACKAGE))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the command's page and one for each layer."""
    files.append(File.generated(config, "reference/command.md", content=command_page()))
    for layer in LAYERS:
        files.append(File.generated(config, f"reference/{layer}.md", content=layer_page(layer)))
    return files
