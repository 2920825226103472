"""CFR on general games of two players by our own CUDA kernels, launched through CuPy.

`CudaSequenceEngine` is one game as the solving loop uses it, `CudaSequenceSolve` one game or a batch of one shape.
`launch.py` chooses between the two ways to run a schedule: one persistent launch for all of it, or a graph of launches
for one iteration, in which a counter on the device tells which weights to read.

In a batch every game has one or more thread blocks to itself, so a thousand small games fill a device that one alone
would leave idle.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Unpack

import cupy
import numpy as np

from regretless.engines.contract import LEARNED, Evaluation, Snapshot, Updates
from regretless.engines.cuda.sequence.game import FIELDS, LEVELS, SIZES, STATE, TOGETHER, kernel_source
from regretless.engines.cuda.sequence.launch import RESIDENT_THREADS, DeviceLimits, LaunchOptions, plan_launch
from regretless.engines.sequence_layout import Terms, terms_of
from regretless.errors import InvalidOption, WouldNotFit
from regretless.forms.compile import check_strategy
from regretless.forms.history import FloatArray
from regretless.forms.normalise import normalise
from regretless.forms.sequence import SequenceForm, SequenceTree
from regretless.variants.variant import Schedule, Weights

__all__ = ["CudaSequenceEngine", "CudaSequenceSolve"]

KERNELS = {
    "persistent": ("solve", "evaluate"),
    "graph": ("level_rows", "level_up", "level_up_best", "level_down", "level_normalise", "tick"),
}
TOLERANCE = {"float32": 1e-4, "float64": 1e-10}  # of results of order 1, after some tens of iterations
CAPACITY = 4096  # iterations whose weights are on the device at once
RESERVED_SHARED = 8192  # bytes of shared memory that the kernels use themselves


class CudaSequenceSolve:
    """A compiled game and the state of CFR on a CUDA device. State is [games, …] even for a single game."""

    def __init__(
        self,
        trees: tuple[SequenceTree, ...],
        terms: tuple[Terms, ...],
        *,
        updates: Updates,
        device: str = "cuda",
        dtype: str = "float32",
        **launch: Unpack[LaunchOptions],
    ) -> None:
        self._device = cupy.cuda.Device(int(device.partition(":")[2] or 0))
        self._simultaneous = updates is Updates.SIMULTANEOUS
        with self._device:
            attributes = self._device.attributes
            self._limits = DeviceLimits(
                processors=int(attributes["MultiProcessorCount"]),
                shared_bytes=int(attributes["MaxSharedMemoryPerBlockOptin"]) - RESERVED_SHARED,
            )
            self.launch_plan = plan_launch(trees, terms, self._limits, dtype=dtype, **launch)
            self.game = self.launch_plan.game
            self._stream = cupy.cuda.Stream(non_blocking=True)
            self._upload()
            self._compile()
            if self.launch_plan.mode == "graph":
                self._graph = self._record()

    def _upload(self) -> None:
        free, _ = cupy.cuda.runtime.memGetInfo()
        rows, self._arrays, self._state = [], [], []
        self.memory_bytes = 0
        for number, player in enumerate(self.game.players):
            start = self.game.starting_state(number)
            self.memory_bytes += sum(array.nbytes for array in [*player.arrays.values(), *start.values()])
            if self.memory_bytes > free:
                raise WouldNotFit("the game", needed=self.memory_bytes, available=int(free))
            arrays = {name: cupy.asarray(array) for name, array in player.arrays.items()}
            state = {name: cupy.asarray(array) for name, array in start.items()}
            self._arrays.append(arrays)
            self._state.append(state)
            rows.append(
                [arrays[name].data.ptr for name in FIELDS]
                + [state[name].data.ptr for name in STATE]
                + [player.sizes[name] for name in SIZES]
            )
        self._players = cupy.asarray(np.array(rows, dtype=np.uint64))
        self._schedule = cupy.zeros((CAPACITY, len(Weights._fields)), dtype=np.float64)
        self._next = cupy.zeros(1, dtype=np.int32)
        self._arrived = cupy.zeros(self.game.games, dtype=np.uint32)
        cupy.cuda.runtime.deviceSynchronize()  # the uploads run on another stream

    def _compile(self) -> None:
        source = kernel_source(TOGETHER if self.launch_plan.mode == "persistent" else LEVELS)
        options = ("-std=c++17", f"-DTHREADS={self.launch_plan.block_threads}", *self.game.options)
        # Blocks that wait for each other must all be running, which a cooperative launch guarantees.
        together = self.launch_plan.mode == "persistent" and self.game.blocks > 1
        module = cupy.RawModule(code=source, options=options, enable_cooperative_groups=together)
        self._kernels: dict[str, Any] = {name: module.get_function(name) for name in KERNELS[self.launch_plan.mode]}
        self._shared_bytes = dict.fromkeys(self._kernels, self.game.table_bytes)
        if self.launch_plan.carried:
            self._shared_bytes["solve"] += self.game.carried_bytes
        if self.launch_plan.mode == "persistent":
            for kernel in self._kernels.values():  # the maximum: engines of similar games share the function
                kernel.max_dynamic_shared_size_bytes = self._limits.shared_bytes

    # --- iterations ---

    def advance(self, schedule: Schedule) -> None:
        """Run one iteration per row of `schedule`."""
        for begin in range(0, len(schedule), CAPACITY):
            rows = np.ascontiguousarray(schedule[begin : begin + CAPACITY])
            with self._device, self._stream:
                self._schedule[: len(rows)].set(rows.view(np.float64).reshape(len(rows), -1))
                if self.launch_plan.mode == "persistent":
                    self._launch_persistent("solve", self._schedule, len(rows), self._simultaneous)
                else:
                    self._next.fill(0)
                    for _ in range(len(rows)):
                        self._graph.launch(self._stream)
            self._stream.synchronize()

    def _launch_persistent(self, kernel: str, *arguments: Any) -> None:
        """Launch all blocks of all games at once."""
        game = self.game
        self._arrived.fill(0)
        values = [argument if isinstance(argument, cupy.ndarray) else np.int32(argument) for argument in arguments]
        values.append(np.int32(game.blocks))
        if kernel == "solve":
            values.append(np.int32(self.launch_plan.carried))
        self._kernels[kernel](
            (game.blocks * game.games,),
            (self.launch_plan.block_threads,),
            (self._players, *values, self._arrived),
            shared_mem=max(self._shared_bytes[kernel], 16),
        )

    def _launch(self, kernel: str, work: int, *arguments: Any) -> None:
        """One launch over the whole device, a thread per piece of work, up to what the device can hold."""
        threads = self.launch_plan.block_threads
        resident_blocks = self._limits.processors * (RESIDENT_THREADS // threads)
        grid = min(max(-(-work // threads), 1), resident_blocks)
        values = [argument if isinstance(argument, cupy.ndarray) else np.int32(argument) for argument in arguments]
        self._kernels[kernel]((grid,), (threads,), tuple(values))

    def _record(self) -> Any:
        """One iteration as a graph."""
        with self._stream:
            # Run each kernel once beforehand, without effect: loading it must not become part of the recording.
            self._evaluate_by_steps(average=True)
            self._launch("level_up", 1, self._players, 0, 0, 0, self._schedule, self._next)
            self._launch("tick", 1, self._next)
            self._stream.synchronize()
            self._stream.begin_capture()
            for players in [(0, 1)] if self._simultaneous else [(0,), (1,)]:
                for player in players:
                    self._launch_payoffs(player, evaluating=False)
                for player in players:
                    lanes = self.game.players[player].lanes
                    for begin, end in reversed(self._levels(player)):
                        work = (end - begin) * lanes
                        self._launch("level_up", work, self._players, player, begin, end, self._schedule, self._next)
                for player in players:
                    self._down(player, evaluating=False)
            self._launch("tick", 1, self._next)
            return self._stream.end_capture()

    def _levels(self, player: int) -> list[tuple[int, int]]:
        """Slices of sets, root first."""
        bounds = self.game.players[player].layout.level[1]
        return [(int(begin), int(end)) for begin, end in pairwise(bounds) if begin < end]

    def _launch_payoffs(self, player: int, *, evaluating: bool) -> None:
        own = self.game.players[player]
        work = max(len(own.arrays["row"]) * own.row_lanes, 1)
        self._launch("level_rows", work, self._players, player, evaluating)

    def _down(self, player: int, *, evaluating: bool) -> None:
        first = self.game.players[player].layout.first
        for begin, end in self._levels(player):
            low, high = int(first[begin]), int(first[end])
            self._launch("level_down", high - low, self._players, player, low, high, evaluating)

    # --- reading and writing ---

    def evaluate(self, strategy: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """Values and best-response values, both [players, games]."""
        average = strategy is None
        with self._device, self._stream:
            if strategy is not None:
                self._write("other_strategy", np.asarray(strategy, dtype=np.float64).reshape(self.game.games, -1))
            if self.launch_plan.mode == "persistent":
                self._launch_persistent("evaluate", average)
            else:
                self._evaluate_by_steps(average)
            values, best = [], []
            for player, state in zip(self.game.players, self._state):
                sequences = player.layout.sequences
                product = state["product"].astype(np.float64)
                values.append((state["other_plan"][:, :sequences] * product).sum(axis=1))
                roots = cupy.asarray(player.layout.roots)
                best.append(product[:, 0] + state["set_value"].astype(np.float64)[:, roots].sum(axis=1))
            both = cupy.asnumpy(cupy.stack([cupy.stack(values), cupy.stack(best)]))
        return both[0], both[1]

    def _evaluate_by_steps(self, average: bool) -> None:
        for player in range(2):
            sets = self.game.players[player].layout.sets
            self._launch("level_normalise", sets, self._players, player, average)
            self._down(player, evaluating=True)
        for player in range(2):
            lanes = self.game.players[player].lanes
            self._launch_payoffs(player, evaluating=True)
            for begin, end in reversed(self._levels(player)):
                self._launch("level_up_best", (end - begin) * lanes, self._players, player, begin, end)

    def _read(self, name: str) -> FloatArray:
        """An array over sequences as [games, pairs] on the host."""
        pairs = sum(player.layout.sequences - 1 for player in self.game.players)
        array = np.zeros((self.game.games, pairs))
        for player, state in zip(self.game.players, self._state):
            layout = player.layout
            array[:, layout.pair[1:]] = cupy.asnumpy(state[name])[:, 1 : layout.sequences]
        return array

    def _write(self, name: str, array: FloatArray) -> list[FloatArray]:
        """Write [games, pairs] into an array over sequences, including each block's copy of the top sequences."""
        written = []
        for player, state in zip(self.game.players, self._state):
            layout = player.layout
            sequences = np.ones((self.game.games, layout.sequences))
            sequences[:, 1:] = array[:, layout.pair[1:]]
            state[name].set(player.spread(sequences).astype(self.game.dtype))
            written.append(sequences)
        return written

    def average_strategy(self) -> FloatArray:
        """Normalised, [games, pairs]."""
        average = self._read("average")
        for player in self.game.players:
            layout = player.layout
            pairs = layout.pair[1:]
            average[:, pairs] = normalise(average[:, pairs], layout.first - 1)
        return average

    def snapshot(self, iteration: int) -> Snapshot:
        with self._device:
            return Snapshot(iteration, {name: self._read(name) for name in LEARNED})

    def restore(self, snapshot: Snapshot) -> None:
        with self._device:
            games = self.game.games
            written = {name: self._write(name, snapshot.arrays[name].reshape(games, -1)) for name in LEARNED}
            for player, state, strategy in zip(self.game.players, self._state, written["strategy"]):
                state["plan"].set(player.spread(player.realize(strategy)).astype(self.game.dtype))
            cupy.cuda.runtime.deviceSynchronize()


class CudaSequenceEngine:
    """One two-player game on a CUDA device."""

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
        **launch: Unpack[LaunchOptions],
    ) -> None:
        if device.partition(":")[0] != "cuda":
            raise InvalidOption("device", device, "must be cuda for the cuda engine")
        trees, terms = terms_of(form)
        self._solve = CudaSequenceSolve(trees, terms, updates=updates, device=device, dtype=dtype, **launch)
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
        return str(self._solve.launch_plan)

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
