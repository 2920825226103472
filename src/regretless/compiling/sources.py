"""The sources that a kernel is compiled from, so that it is recompiled when one of them changes and only then.

Functions and constants of imported modules are compiled into a kernel. Its sources are:

1. its own file;
2. every file of its layer (`cards` or `engines`) and of this package that one of its sources imports;
3. the files of other layers that these import, but not what those import in turn: constants are defined in the file
   from which they are imported. Exceptions are never compiled in, so `errors.py` does not count.

Imports are found in the text: only unindented statements count, since a kernel cannot use what is imported inside a
function or under `TYPE_CHECKING`. Parsing the files would take longer than loading the kernels.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

__all__ = ["digest_of_sources", "imported_files", "sources_of"]

PACKAGE = Path(__file__).parents[1]
_MODULE = rf"{PACKAGE.name}(?:\.\w+)*"
_IMPORT = re.compile(
    rf"^(?:import (?P<module>{_MODULE})|from (?P<package>{_MODULE}) import (?P<names>\([^)]*\)|[^\n]*))", re.MULTILINE
)


@cache
def digest_of_sources(source: Path) -> bytes:
    """Digest of the names and contents of all sources of a kernel in this file; dates do not count."""
    digest = hashlib.sha256()
    for path in sorted(sources_of(source)):
        name = path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else path.name
        digest.update(f"{name}\n".encode() + _read(path)[0])
    return digest.digest()


def sources_of(source: Path) -> set[Path]:
    """The sources of a kernel in this file."""
    layers = {_layer_of(source), _layer_of(Path(__file__))}
    sources, unread = {source}, [source]
    while unread:
        _, imports = _read(unread.pop())
        unread += [path for path in imports - sources if _layer_of(path) in layers]
        sources |= imports
    return sources - {PACKAGE / "errors.py"}


def imported_files(text: str) -> frozenset[Path]:
    """The files of Regretless that a source imports itself; for a name in a package, the package's `__init__.py`."""
    files = set()
    for statement in _IMPORT.finditer(text):
        if statement["module"]:
            files.add(_file_of(statement["module"]))
            continue
        file = _file_of(statement["package"])
        if file is None or file.name != "__init__.py":
            files.add(file)
            continue
        for name in re.sub(r"#.*", "", statement["names"]).strip("()").split(","):
            if name.strip():
                files.add(_file_of(f"{statement['package']}.{name.split()[0]}") or file)
    return frozenset(file for file in files if file)


@cache
def _read(source: Path) -> tuple[bytes, frozenset[Path]]:
    """A file's digest and what it imports, read once per process."""
    contents = source.read_bytes()
    return hashlib.sha256(contents).digest(), imported_files(contents.decode("utf-8"))


@cache
def _file_of(module: str) -> Path | None:
    """The file of a module or of a package's `__init__`; None if there is none."""
    path = PACKAGE.parent.joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def _layer_of(path: Path) -> str:
    """The first folder or file inside the package; "" for a file outside it."""
    return path.relative_to(PACKAGE).parts[0] if path.is_relative_to(PACKAGE) else ""
