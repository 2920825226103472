"""Putting the folder in order: renaming and moving files, notes about them, and deleting with undo.

A deleted file is moved to `.regretless/deleted`, from where it can be brought back for `UNDO_SECONDS`. Then it is gone,
as it is when the server ends. Notes are kept in `.regretless/notes.json` by the name of the file.

Nothing here follows a link: a file behind one is neither renamed nor deleted.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from starlette.concurrency import run_in_threadpool

from regretless.errors import InvalidFile, RegretlessError
from regretless.files.fields import Fields
from regretless.files.state import check_state_folder, move_state, replace_state, state_folder
from regretless.page.endpoint import Conflict, NotFound, Routes
from regretless.page.folder import STATE, File
from regretless.page.library import Library
from regretless.page.queue import SolveQueue
from regretless.page.schema import Json, Mismatch, check, integer, obj, text

__all__ = ["DeletedFiles", "FileNotes", "routes"]

UNDO_SECONDS = 10
GRACE_SECONDS = 5  # for an undo that was clicked in the last moment
MAX_NOTE_LENGTH = 2_000  # characters
MAX_NOTES = 2_000
MAX_NOTES_BYTES = 8 * 2**20  # bytes of all of them
_DELETED = re.compile(r"[0-9a-f]{16}\.(rgl|toml)")
_NOTES = obj(
    {"notes": obj({}) | {"additionalProperties": text(longest=MAX_NOTE_LENGTH)}}, "notes as they are kept, by file"
)


class FileNotes:
    """What the reader has written about files."""

    def __init__(self, library: Library) -> None:
        self._root = library.folder
        self._path = library.folder / STATE / "notes.json"
        self._changing = threading.Lock()

    def read(self) -> dict[str, str]:
        """All notes; none if they cannot be read, as the folder may come from somebody else."""
        with suppress(InvalidFile):
            return self._read_saved()
        return {}

    def change(self, changes: dict[str, str]) -> None:
        """Replace the notes of some files; an empty one is removed. Notes that cannot be read are never overwritten."""
        with self._changing:
            before = self._read_saved()
            notes = {file: note for file, note in (before | changes).items() if note}
            if notes == before:
                return
            content = json.dumps({"notes": notes}).encode()
            if len(notes) > MAX_NOTES:
                raise Conflict(f"{MAX_NOTES:,} files have notes already", "notes")
            if len(content) > MAX_NOTES_BYTES:
                raise Conflict(f"the notes of all files together have at most {MAX_NOTES_BYTES:,} bytes", "notes")
            try:
                state_folder(self._path.parent, self._root)
                with replace_state(self._path, self._root) as temporary:
                    temporary.write_bytes(content)
            except OSError as error:
                raise RegretlessError(f"the served folder cannot be written: {error.strerror}") from None

    @contextmanager
    def following(self, file: str, to: str) -> Iterator[None]:
        """Let a file's note follow it to another name while the block moves it.

        The note has both names meanwhile, so it is not lost if the server is killed.
        """
        notes = self.read()
        note, replaced = notes.get(file), notes.get(to, "")
        if not note:
            yield
            return
        self.change({to: note})
        try:
            yield
        except Exception:
            self.change({to: replaced})
            raise
        self.change({file: ""})

    def _read_saved(self) -> dict[str, str]:
        if not os.path.lexists(self._path):
            return {}
        saved = Fields.read(self._path, self._root, largest=MAX_NOTES_BYTES).table
        try:
            check(saved, _NOTES)
        except Mismatch as error:
            raise InvalidFile(self._path, f"is damaged: {error}") from None
        return dict(saved["notes"])


@dataclass(frozen=True)
class _DeletedFile:
    file: str  # what it was called
    path: Path  # where it is now
    note: str


class DeletedFiles:
    """Files that were deleted a moment ago."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._folder = library.folder / STATE / "deleted"
        check_state_folder(self._folder, library.folder)
        self._files: dict[str, _DeletedFile] = {}
        self._changing = threading.Lock()

    def delete(self, file: str, note: str) -> str:
        """Put a file aside; the id brings it back."""
        path = self._library.existing(file)
        id_ = secrets.token_hex(8)
        deleted = _DeletedFile(file, self._folder / f"{id_}{path.suffix}", note)
        move_state(path, deleted.path, self._library.folder)
        with self._changing:
            self._files[id_] = deleted
        timer = threading.Timer(UNDO_SECONDS + GRACE_SECONDS, self._forget, [id_])
        timer.daemon = True
        timer.start()
        return id_

    def restore(self, id_: str) -> _DeletedFile:
        """Bring a file back under its name."""
        with self._changing:
            deleted = self._files.get(id_)
            if deleted is None:
                raise NotFound("id: that file is gone for good, or back already", "id")
            move_state(deleted.path, self._library.path(deleted.file), self._library.folder)
            del self._files[id_]
        return deleted

    def _forget(self, id_: str) -> None:
        with self._changing:
            deleted = self._files.pop(id_, None)
        if deleted is not None:
            with suppress(OSError):
                deleted.path.unlink()

    def empty(self) -> None:
        """Remove what was deleted, also what an earlier server has left."""
        with self._changing:
            self._files.clear()
        with suppress(InvalidFile, OSError):
            check_state_folder(self._folder, self._library.folder)
            for path in self._folder.iterdir():
                if _DELETED.fullmatch(path.name):
                    with suppress(OSError):
                        path.unlink()  # of a link, the link itself


# --- endpoints -------------------------------------------------------------------------------------------------------

_FILE = obj({"file": text()})

routes = Routes()


@routes.endpoint("POST", "/files/rename", "Give a file another name, perhaps in another folder", _FILE)
async def rename(
    library: Library,
    queue: SolveQueue,
    notes: FileNotes,
    file: File,
    to: Annotated[str, text("the new name, with slashes; its suffix may be omitted", longest=300)],
) -> Json:
    path = library.existing(file)
    _check_movable(file, library, queue)
    name = to.strip()
    name = name if name.endswith(path.suffix) else f"{name}{path.suffix}"
    library.check_reachable(name)
    if name in queue.writing():
        raise Conflict(f"to: {name!r} is being solved", "to")

    def move() -> None:
        if name != file:
            with notes.following(file, name):
                move_state(path, library.path(name, path.suffix), library.folder)

    await run_in_threadpool(move)
    queue.rename(file, name)
    return {"file": name}


@routes.endpoint("POST", "/files/notes", "Write a note about a file", obj({"file": text(), "notes": text()}))
def write_notes(
    library: Library, file_notes: FileNotes, file: File, notes: Annotated[str, text(longest=MAX_NOTE_LENGTH)]
) -> Json:
    library.existing(file)
    file_notes.change({file: notes.strip()})
    return {"file": file, "notes": notes.strip()}


@routes.endpoint(
    "POST",
    "/files/delete",
    "Delete a file; for some seconds it can be brought back",
    obj({"id": text(), "file": text(), "seconds": integer("to change one's mind")}),
)
async def delete(library: Library, queue: SolveQueue, notes: FileNotes, deleted: DeletedFiles, file: File) -> Json:
    library.existing(file)
    _check_movable(file, library, queue)

    def put_aside() -> str:
        note = notes.read().get(file, "")
        id_ = deleted.delete(file, note)
        if note:
            try:
                notes.change({file: ""})
            except RegretlessError:
                deleted.restore(id_)
                raise
        return id_

    return {"id": await run_in_threadpool(put_aside), "file": file, "seconds": UNDO_SECONDS}


@routes.endpoint("POST", "/files/restore", "Bring a deleted file back", _FILE)
def restore(notes: FileNotes, deleted: DeletedFiles, id: Annotated[str, text(longest=40)]) -> Json:
    restored = deleted.restore(id)
    if restored.note:
        notes.change({restored.file: restored.note})
    return {"file": restored.file}


def _check_movable(file: str, library: Library, queue: SolveQueue) -> None:
    """Refuse a file that a solve writes, and one that a study needs."""
    library.check_reachable(file)
    if file in queue.writing():
        raise Conflict(f"file: {file!r} is being solved: stop it first", "file")
