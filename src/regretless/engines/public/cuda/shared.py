"""A CUDA device that many spots share: engines whose tables are uploaded together, and batches of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from regretless.engines.contract import SharedDevice
from regretless.engines.public.cuda.arena import Arena
from regretless.engines.public.cuda.batch import CudaBatch, kind_of
from regretless.engines.public.cuda.engine import IF_FULL, CudaPublicEngine, open_device
from regretless.forms.public import PublicForm

__all__ = ["SharedCuda"]


class SharedCuda:
    """One CUDA device."""

    engine, device = CudaPublicEngine.name, CudaPublicEngine.device

    def __init__(self) -> None:
        self._on = open_device(advice=IF_FULL)
        self._arena = Arena(self._on)

    def free_bytes(self) -> int:
        return self._on.free_bytes()

    @contextmanager
    def creating(self) -> Iterator[None]:
        self._arena = Arena(self._on)  # that of earlier engines goes when they do
        with self._arena:
            yield

    def create(self, form: PublicForm, *, storage: int) -> CudaPublicEngine:
        return CudaPublicEngine(form, device=self._on, storage=storage, tables=self._arena)

    def kind_of(self, engine: CudaPublicEngine) -> Hashable:
        return kind_of(engine)

    def batch(self, engines: Sequence[CudaPublicEngine]) -> CudaBatch:
        return CudaBatch(engines, self._arena)


if TYPE_CHECKING:
    _conforms: type[SharedDevice[CudaPublicEngine]] = SharedCuda
