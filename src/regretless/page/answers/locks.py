"""Locks as the page sends them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from regretless.holdem.spots.locks import AnyLock, Lock, LockFrom
from regretless.page.endpoint import Refusal
from regretless.page.library import Library

__all__ = ["read_lock"]


def read_lock(fields: Mapping[str, Any], library: Library) -> AnyLock:
    """A lock to a strategy, or to that of another solution of the served folder."""
    strategy, source = fields.get("strategy"), fields.get("source")
    if (strategy is None) == (source is None):
        raise Refusal("lock: give either a strategy or a source", "strategy")
    hands = fields.get("hands", "")
    if source is not None:
        return LockFrom(str(library.existing(source, ".rgl")), node=fields["node"], hands=hands)
    lock = Lock(fields["node"], {name: float(share) for name, share in strategy.items()}, hands)  # type: ignore[union-attr]
    _ = lock.steps, lock.range
    return lock
