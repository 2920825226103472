"""The long description of the package: README.md without links and pictures that only work in a clone.

A package index shows the README away from the repository, where relative links lead nowhere. Links to files become
their text, and pictures are left out together with the caption below them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

__all__ = ["LongDescription", "without_files"]

ADDRESS = r"\((?!https?://|#)[^)]*\)"  # of a file
PICTURE = re.compile(rf"!\[[^]]*\]{ADDRESS}\n\n(\*[^*]+\*\n\n)?")
LINK = re.compile(rf"\[([^]]+)\]{ADDRESS}")


def without_files(readme: str) -> str:
    """The text of a README without relative links and pictures."""
    return LINK.sub(r"\1", PICTURE.sub("", readme))


class LongDescription(MetadataHookInterface):
    """Sets `readme`, which `pyproject.toml` declares as dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": without_files(readme)}
