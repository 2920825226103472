"""Files: the container of solutions and checkpoints."""

from regretless.storage.container import Container, open_container, write_container

__all__ = ["Container", "open_container", "write_container"]
