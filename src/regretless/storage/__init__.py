"""Solution files: written whole or not at all, checked when read, and never a place from which code can run."""

from regretless.storage.atomic import check_writable, replace_file
from regretless.storage.container import FORMAT_VERSION, read_container, write_container
from regretless.storage.solutions import load_solution, save_solution

__all__ = [
    "FORMAT_VERSION",
    "check_writable",
    "load_solution",
    "read_container",
    "replace_file",
    "save_solution",
    "write_container",
]
