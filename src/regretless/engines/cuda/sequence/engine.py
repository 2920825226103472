"""CFR on a two-player game by our own CUDA kernels, launched through CuPy; `solve.py` says how they run."""

from __future__ import annotations

import numpy as np

from regretless.engines.contract import Evaluation, Snapshot, Updates
from regretless.engines.cuda.sequence.solve import CudaSequenceSolve
from regretless.engines.sequence_layout import terms_of
from regretless.errors import InvalidOption
from regretless.forms.compile import check_strategy
from regretless.forms.history import FloatArray
from regretless.forms.sequence import SequenceForm
from regretless.variants.variant import Schedule

__all__ = ["CudaSequenceEngine"]

TOLERANCE = {"float32": 1e-4, "float64": 1e-10}  # of results of order 1, after some tens of iterations


class CudaSequenceEngine:
    """One two-player game on a CUDA device.

    `mode` is how a schedule runs ("persistent", "graph" or "auto"); `blocks` and `block_threads` are how many thread
    blocks of how many threads share a persistent game, by default chosen by its size; `carried` is whether a single
    block keeps the game in its shared memory, by default if it fits.
    """

    name = "cuda"
    device = "cuda"
    threads = 1

    def __init__(
        self,
        form: SequenceForm,
        *,
        updates: Updates = Updates.ALTERNATING,
        device: str = "cuda",
        dtype: str = "float32",
        mode: str = "auto",
        blocks: int | None = None,
        block_threads: int | None = None,
        carried: bool | None = None,
    ) -> None:
        if device.partition(":")[0] != "cuda":
            raise InvalidOption("device", device, "must be cuda for the cuda engine")
        trees, terms = terms_of(form)
        self._solve = CudaSequenceSolve(
            trees,
            terms,
            updates=updates,
            device=device,
            dtype=dtype,
            mode=mode,
            blocks=blocks,
            threads=block_threads,
            carried=carried,
        )
        self.form = form.history
        self.updates = updates
        self.tolerance = TOLERANCE[dtype]
        self.iteration = 0

    @property
    def memory_bytes(self) -> int:
        return self._solve.memory_bytes

    @property
    def plan(self) -> str:
        """How the game runs, for benchmarks: mode, blocks, threads, lanes."""
        solve, game = self._solve, self._solve.game
        lanes = "+".join(f"{player.lanes}/{player.row_lanes}" for player in game.players)
        top = "+".join(str(player.layout.top_sets) for player in game.players)
        kept = " carried" if solve.carried else ""
        packed = "" if game.packed else " unpacked"
        return f"{solve.mode} {game.blocks}x{solve.threads} lanes {lanes} top {top}{kept}{packed}"

    def advance(self, schedule: Schedule) -> None:
        self._solve.advance(schedule)
        self.iteration += len(schedule)

    def average_strategy(self) -> FloatArray:
        return np.ravel(self._solve.average_strategy())

    def evaluate(self, strategy: FloatArray | None = None) -> Evaluation:
        values, best = self._solve.evaluate(None if strategy is None else check_strategy(self.form, strategy))
        return Evaluation(values=tuple(values[:, 0].tolist()), best_response_values=tuple(best[:, 0].tolist()))

    def snapshot(self, *, copy: bool = True) -> Snapshot:
        arrays = self._solve.snapshot(self.iteration).arrays
        return Snapshot(self.iteration, {name: np.ravel(array) for name, array in arrays.items()})

    def restore(self, snapshot: Snapshot) -> None:
        self._solve.restore(snapshot)
        self.iteration = snapshot.iteration
