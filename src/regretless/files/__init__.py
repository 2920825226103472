"""The container of `.rgl` files: written atomically, checked when read, never executed."""

from regretless.files.atomic import check_writable, replace_file
from regretless.files.container import FORMAT_VERSION, Container, Streamed, open_container, write_container
from regretless.files.fields import Fields

__all__ = [
    "FORMAT_VERSION", "Container", "Fields", "Streamed", "check_writable", "open_container", "replace_file",
    "write_container",
]  # fmt: skip
