"""Whether the kernels of the public form are cached on disk, so that the user can be told if they must be compiled."""

from __future__ import annotations

from typing import Any

__all__ = ["kernels_are_compiled"]


def kernels_are_compiled(storage: int = 32, *, wide_tiles: bool = False) -> bool:
    """Whether a solve can start at once; otherwise setup compiles kernels, which takes about 20 seconds.

    `wide_tiles`: terminals need 64-bit numbers (`precision.needs_wide_tiles`), which is a separate kernel.
    """
    from regretless.engines.public.compiled.kernels.iterate import iterate
    from regretless.engines.public.compiled.showdowns import fill_lists

    wanted = storage, 64 if wide_tiles else 32
    try:
        return bool(_signatures(fill_lists)) and wanted in map(_bits, _signatures(iterate))
    except (AttributeError, OSError):  # another version of numba, or an unreadable cache: say nothing
        return True


def _signatures(kernel: Any) -> list[Any]:
    """Argument types for which a kernel is compiled, in this process or on disk."""
    index = kernel._cache._cache_file._load_index()  # noqa: SLF001  numba has no public way to list what it keeps
    return [*kernel.signatures, *(signature for signature, *_ in index)]


def _bits(signature: Any) -> tuple[int, int]:
    """Bits of a regret and of a number in a tile, from the types of the arguments of `iterate`."""

    def field(kind: Any, *names: str) -> Any:
        for name in names:
            kind = kind.types[kind.fields.index(name)]
        return kind

    job = next(each for each in signature if "learned" in getattr(each, "fields", ()))
    scratch = next(each for each in signature if "tile" in getattr(each, "fields", ()))
    return int(field(job, "learned", "regret").dtype.bitwidth), int(field(scratch, "tile", "reach").dtype.bitwidth)
