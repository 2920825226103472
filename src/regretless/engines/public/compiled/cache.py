"""Whether the kernels of the public form lie compiled on disk, so that a person can be told when they do not."""

from __future__ import annotations

from typing import Any

__all__ = ["kernels_are_compiled"]


def kernels_are_compiled(storage: int = 32) -> bool:
    """Whether the next solve starts at once; otherwise its first iteration compiles, which takes about 20 seconds."""
    from regretless.engines.public.compiled import iterate as module

    iterate: Any = module.iterate
    try:
        kept = [signature for signature, *_ in iterate._cache._cache_file._load_index()]
        return any(_stored_bits(signature) == storage for signature in (*iterate.signatures, *kept))
    except (AttributeError, OSError):  # another numba, or a cache that cannot be read: say nothing
        return True


def _stored_bits(signature: Any) -> int:
    """Bits of a regret, from the types of a kernel's arguments."""
    job = next(each for each in signature if "learned" in getattr(each, "fields", ()))
    learned = job.types[job.fields.index("learned")]
    return int(learned.types[learned.fields.index("regret")].dtype.bitwidth)
