"""Files that appear whole or not at all.

1. Write to a temporary name in the same folder.
2. Ask the disk to keep it (fsync).
3. Rename it over the real name, which on every system is one step.

A crash, a full disk or an interrupt before step 3 leaves the old file as it was; the temporary one is removed.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from regretless.errors import InvalidFile

__all__ = ["check_writable", "replace_file"]


@contextmanager
def replace_file(path: str | Path) -> Iterator[Path]:
    """A temporary path to write to; when the block ends well, it becomes `path`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replace_file(f"{folder}/note.txt") as temporary:
    ...         _ = temporary.write_text("whole")
    ...     os.listdir(folder), Path(folder, "note.txt").read_text()
    (['note.txt'], 'whole')
    """
    final = _destination(path)
    temporary = _temporary_beside(final)
    try:
        temporary.touch(exist_ok=False)
        mode = stat.S_IMODE((final if final.exists() else temporary).stat().st_mode)
        yield temporary
        temporary.chmod(mode)  # some libraries write files that only their owner may read
        with open(temporary, "rb+") as written:
            os.fsync(written.fileno())
        os.replace(temporary, final)
        _keep_folder(final.parent)
    except OSError as error:
        raise InvalidFile(path, f"cannot be written: {reason(error)}") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def check_writable(path: str | Path) -> None:
    """Raise `InvalidFile` if `path` could not be written, now rather than after an hour of solving.

    >>> check_writable("no-such-folder/leduc.rgl")
    Traceback (most recent call last):
    regretless.errors.InvalidFile: no-such-folder/leduc.rgl: cannot be written: the folder no-such-folder does not exist
    """
    temporary = _temporary_beside(_destination(path))
    try:
        temporary.touch(exist_ok=False)
    except OSError as error:
        raise InvalidFile(path, f"cannot be written: {reason(error)}") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def reason(error: OSError) -> str:
    """What the system says went wrong, as the end of a sentence: "no space left on device"."""
    text = error.strerror or str(error) or type(error).__name__
    return text[:1].lower() + text[1:]


def _destination(path: str | Path) -> Path:
    """Where the file itself lies: a link is followed, so that it stays a link."""
    try:
        final = Path(os.path.realpath(path))
        if final.is_dir():
            raise InvalidFile(path, "cannot be written: it is a folder")
        if final.exists() and not final.is_file():
            raise InvalidFile(path, "cannot be written: it is not an ordinary file")
        if not final.parent.is_dir():
            missing = "is not a folder" if final.parent.exists() else "does not exist"
            raise InvalidFile(path, f"cannot be written: the folder {Path(path).parent} {missing}")
    except (OSError, ValueError) as error:  # a name that is too long, or holds a null character
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise InvalidFile(path, f"cannot be written: {why}") from None
    return final


def _temporary_beside(final: Path) -> Path:
    return final.with_name(f".{final.name[:80]}.{secrets.token_hex(4)}.part")


def _keep_folder(folder: Path) -> None:
    """Ask the disk to keep the renaming, where a folder can be asked (not on Windows)."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems cannot, and the file is there all the same
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
