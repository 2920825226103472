"""Whether the kernels of the public form lie compiled on disk, so that a person can be told when they do not."""

from __future__ import annotations

from typing import Any

__all__ = ["kernels_are_compiled"]


def kernels_are_compiled() -> bool:
    """Whether the next solve starts at once; otherwise its first iteration compiles, which takes about 20 seconds."""
    from regretless.engines import _public_iterate

    iterate: Any = _public_iterate.iterate
    try:
        return bool(iterate.signatures or iterate._cache._cache_file._load_index())
    except (AttributeError, OSError):  # another numba, or a cache that cannot be read: say nothing
        return True
