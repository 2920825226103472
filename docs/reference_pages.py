"""Pages of the reference, made while the site is built: one for each layer, in the order the data flows.

1. A layer is a folder or a module of `src/regretless`; those that do not exist yet have no page.
2. Its page lists its public modules; mkdocstrings fills in what each one says and exports.
3. The pages become the section Reference of the navigation.
"""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

PACKAGE = Path(__file__).parent.parent / "src" / "regretless"
# The order in which the data flows: rules of a game, arrays, updates, the loop, what a person touches.
LAYERS = [
    "cards", "games", "forms", "rules", "engines", "solvers", "storage", "plots",
    "deep", "postflop", "cluster", "api", "web", "cli", "errors",
]  # fmt: skip


def modules(layer: str) -> list[str]:
    """Full names of the public modules of a layer, the layer itself first; none where it does not exist."""
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


def page(layer: str) -> str:
    lines = [f"# {layer}", ""]
    for module in modules(layer):
        lines += [f"## `{module}`", "", f"::: {module}", ""]
    return "\n".join(lines)


def existing() -> list[str]:
    return [layer for layer in LAYERS if modules(layer)]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill the section Reference of the navigation."""
    config.nav = [
        {"Reference": [{layer: f"reference/{layer}.md"} for layer in existing()]} if "Reference" in entry else entry
        for entry in config.nav or []
    ]
    config.watch.append(str(PACKAGE))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each layer."""
    for layer in existing():
        files.append(File.generated(config, f"reference/{layer}.md", content=page(layer)))
    return files
