"""The command that adds an extra to this installation, from wherever the package came from.

A clone is recognised by its files, because it also runs without being installed. Otherwise pip's record of the source,
`direct_url.json` (PEP 610), names a folder, a wheel or a repository; a package from an index has none.
"""

from __future__ import annotations

import json
import shlex
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

__all__ = ["install_command"]


def install_command(extra: str) -> str:
    """The command that installs an extra."""
    package = Path(__file__).resolve().parent
    clone = package.parents[1]
    if package.parent.name == "src" and (clone / "pyproject.toml").is_file():
        return f"pip install -e {shlex.quote(f'{clone}[{extra}]')}"
    try:
        requirement = _requirement(extra)
    except (metadata.PackageNotFoundError, OSError, ValueError, LookupError, TypeError, AttributeError):
        requirement = None  # not installed by pip, or with a record that cannot be read
    if requirement is None:
        return f"pip install '.[{extra}]' in a clone of Regretless"
    return f"pip install {shlex.quote(requirement)}"


def _requirement(extra: str) -> str | None:
    """What to ask pip for; None if the folder or wheel that the package came from no longer exists."""
    record = metadata.distribution("regretless").read_text("direct_url.json")
    if record is None:
        return f"regretless[{extra}]"
    source: dict[str, Any] = json.loads(record)
    url: str = source["url"]
    if url.startswith("file:"):
        path = Path(url2pathname(urlsplit(url).path))
        return f"{path}[{extra}]" if path.exists() else None
    if repository := source.get("vcs_info"):
        url = f"{repository['vcs']}+{url}@{repository['commit_id']}"
    return f"regretless[{extra}] @ {url}"
