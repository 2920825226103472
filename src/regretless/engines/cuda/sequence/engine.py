"""CFR on general games of two players by our own CUDA kernels, launched through CuPy.

`CudaSequenceEngine` is one game as the solving loop uses it, `CudaSequenceSolve` one game or a batch of one shape.

Two ways to run a schedule:

- *persistent*: one cooperative launch runs all of it. For games that fit in the device's caches.
- *graph*: one launch per step and level, recorded once as a CUDA graph of one iteration and replayed; a counter on the
  device tells which weights to read. For games whose payoffs stream from memory, or whose trees are too deep.

In a batch every game has one or more thread blocks to itself, so a thousand small games fill a device that one alone
would leave idle.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import cupy
import numpy as np

from regretless.engines.contract import LEARNED, Evaluation, Snapshot, Updates
from regretless.engines.cuda.sequence.game import (
    FIELDS,
    LEVELS,
    MAX_LEVELS,
    SIZES,
    STATE,
    TOGETHER,
    kernel_source,
    prepare,
)
from regretless.engines.numpy.sequence import MIN_NORMAL
from regretless.engines.sequence_layout import Terms, terms_of
from regretless.errors import InvalidOption, WouldNotFit
from regretless.forms.compile import check_strategy
from regretless.forms.history import FloatArray
from regretless.forms.sequence import SequenceForm, SequenceTree
from regretless.variants.variant import Schedule, Weights

__all__ = ["MODES", "CudaSequenceEngine", "CudaSequenceSolve"]

MODES = ("auto", "persistent", "graph")
KERNELS = {
    "persistent": ("solve", "evaluate"),
    "graph": ("level_rows", "level_up", "level_up_best", "level_down", "level_normalise", "tick"),
}
TOLERANCE = {"float32": 1e-4, "float64": 1e-10}  # of results of order 1, after some tens of iterations
CAPACITY = 4096  # iterations whose weights are on the device at once
STEP_THREADS = 256  # threads of a block in the graph's launches
RESERVED_SHARED = 8192  # bytes of shared memory that the kernels use themselves

# The best plan by size of game, from a sweep over 1 to 132 blocks of 256, 512 and 1,024 threads on an H200. Sizes are
# payoff entries and sequences of the larger player; times are µs per iteration of alternating CFR+ in float32.
#
#   game            size   best plan        others
#   kuhn              43   1 × 256    4.1   1 × 1,024  4.6; 4 to 132 blocks  9 to 10; graph 16
#   leduc          6,013   1 × 1,024 13.9   1 × 256   21.0; 4 to 132 blocks 20 to 25; graph 36
#   liar's dice  171,991   84 × 1,024 39.0  16 × 1,024 64.7; 132 × 1,024 39.6; 132 × 256 64.6; graph 62
#   goofspiel 6  530,647   132 × 1,024 34.4 66 × 1,024 40.2; 132 × 256 51.2; graph 55
#   leduc 13     711,933   132 × 1,024 40.1 66 × 1,024 44.1; 132 × 256 51.7; graph 48
#   battleship 1,012,180   132 × 1,024 42.9 66 × 1,024 60.2; 132 × 256 90.8; graph 65
FEW_THREADS_UP_TO = 1024  # size; beyond this, the maximum number of threads per block is best
ONE_BLOCK_UP_TO = 8192  # size; a second block adds two barriers, at least 5 µs per iteration
SIZE_OF_A_BLOCK = 2048  # work per block below which another block does not repay its barriers
PERSISTENT_UP_TO = 4_000_000  # entries; beyond, payoffs stream from memory, which hides the launches of a graph


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
        mode: str = "auto",
        blocks: int | None = None,
        threads: int | None = None,
        carried: bool | None = None,
    ) -> None:
        if dtype not in ("float32", "float64"):
            raise InvalidOption("dtype", dtype, "must be float32 or float64")
        if mode not in MODES:
            raise InvalidOption("mode", mode, f"must be one of {', '.join(MODES)}")
        self._device = cupy.cuda.Device(int(device.partition(":")[2] or 0))
        self._simultaneous = updates is Updates.SIMULTANEOUS
        with self._device:
            attributes = self._device.attributes
            self._processors = processors = int(attributes["MultiProcessorCount"])
            self._shared = int(attributes["MaxSharedMemoryPerBlockOptin"]) - RESERVED_SHARED
            self._stream = cupy.cuda.Stream(non_blocking=True)
            games = terms[0].value.shape[1] if terms[0].value.ndim == 2 else 1
            self.mode = self._choose_mode(mode, terms, games)
            if self.mode == "graph":
                blocks = 1
            elif blocks is None:
                blocks = _choose_blocks(trees, terms, games, processors)
            self.threads = threads or _choose_threads(trees, terms, games, processors)
            busy = processors * 2048 if self.mode == "graph" else blocks * self.threads
            game = prepare(trees, terms, blocks=blocks, dtype=dtype, threads=busy)
            if self.mode == "persistent" and game.deepest > MAX_LEVELS:
                if mode == "persistent":
                    raise InvalidOption("mode", mode, f"needs trees of at most {MAX_LEVELS} levels")
                self.mode = "graph"
                game = prepare(trees, terms, blocks=1, dtype=dtype, threads=processors * 2048)
            self.game = game
            fits = blocks == 1 and game.table_bytes + game.carried_bytes <= self._shared
            if carried and not fits:
                raise InvalidOption("carried", carried, "needs one block and a game that fits in its shared memory")
            self.carried = self.mode == "persistent" and (fits if carried is None else carried)
            self._upload()
            self._compile()
            if self.mode == "graph":
                self._graph = self._record()

    def _choose_mode(self, mode: str, terms: tuple[Terms, ...], games: int) -> str:
        if mode != "auto":
            if mode == "graph" and games > 1:
                raise InvalidOption("mode", mode, "runs a single game; a batch needs persistent")
            return mode
        return "graph" if games == 1 and max(len(term.value) for term in terms) > PERSISTENT_UP_TO else "persistent"

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
        source = kernel_source(TOGETHER if self.mode == "persistent" else LEVELS)
        options = ("-std=c++17", f"-DTHREADS={self.threads}", *self.game.options)
        # Blocks that wait for each other must all be running, which a cooperative launch guarantees.
        together = self.mode == "persistent" and self.game.blocks > 1
        module = cupy.RawModule(code=source, options=options, enable_cooperative_groups=together)
        self._kernels: dict[str, Any] = {name: module.get_function(name) for name in KERNELS[self.mode]}
        self._shared_bytes = dict.fromkeys(self._kernels, self.game.table_bytes)
        if self.carried:
            self._shared_bytes["solve"] += self.game.carried_bytes
        if self.mode == "persistent":
            for kernel in self._kernels.values():  # the maximum: engines of similar games share the function
                kernel.max_dynamic_shared_size_bytes = self._shared

    # --- iterations ---

    def advance(self, schedule: Schedule) -> None:
        """Run one iteration per row of `schedule`."""
        for begin in range(0, len(schedule), CAPACITY):
            rows = np.ascontiguousarray(schedule[begin : begin + CAPACITY])
            with self._device, self._stream:
                self._schedule[: len(rows)].set(rows.view(np.float64).reshape(len(rows), -1))
                if self.mode == "persistent":
                    self._launch_together("solve", self._schedule, len(rows), self._simultaneous, carried=True)
                else:
                    self._next.fill(0)
                    for _ in range(len(rows)):
                        self._graph.launch(self._stream)
            self._stream.synchronize()

    def _launch_together(self, kernel: str, *arguments: Any, carried: bool = False) -> None:
        """Launch all blocks of all games at once."""
        game = self.game
        self._arrived.fill(0)
        values = [argument if isinstance(argument, cupy.ndarray) else np.int32(argument) for argument in arguments]
        values.append(np.int32(game.blocks))
        if carried:
            values.append(np.int32(self.carried))
        self._kernels[kernel](
            (game.blocks * game.games,),
            (self.threads,),
            (self._players, *values, self._arrived),
            shared_mem=max(self._shared_bytes[kernel], 16),
        )

    def _launch(self, kernel: str, work: int, *arguments: Any) -> None:
        """One launch over the whole device, a thread per piece of work, up to what the device can hold."""
        resident = self._processors * (2048 // STEP_THREADS)  # blocks
        grid = min(max(-(-work // STEP_THREADS), 1), resident)
        values = [argument if isinstance(argument, cupy.ndarray) else np.int32(argument) for argument in arguments]
        self._kernels[kernel]((grid,), (STEP_THREADS,), tuple(values))

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
                    self._rows(player, evaluating=False)
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

    def _rows(self, player: int, *, evaluating: bool) -> None:
        me = self.game.players[player]
        work = max(len(me.arrays["row"]) * me.row_lanes, 1)
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
            if self.mode == "persistent":
                self._launch_together("evaluate", average)
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
            self._rows(player, evaluating=True)
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
        """Write [games, pairs] into an array over sequences, copies of the top included."""
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
            if layout.sets:
                pairs = layout.pair[1:]
                total = np.add.reduceat(average[:, pairs], layout.first[:-1] - 1, axis=1)[:, layout.set_of[1:]]
                uniform = (1.0 / np.diff(layout.first))[layout.set_of[1:]]
                share = np.divide(average[:, pairs], total, out=np.zeros_like(total), where=total >= MIN_NORMAL)
                average[:, pairs] = np.where(total >= MIN_NORMAL, share, uniform)
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


def _size(trees: tuple[SequenceTree, ...], terms: tuple[Terms, ...]) -> int:
    """Payoff entries and sequences of the larger player."""
    return max(len(term.value) + len(tree.pair) for tree, term in zip(trees, terms))


def _choose_blocks(trees: tuple[SequenceTree, ...], terms: tuple[Terms, ...], games: int, processors: int) -> int:
    size = _size(trees, terms)
    if games > 1 or size <= ONE_BLOCK_UP_TO:
        return 1
    return int(min(processors, -(-size // SIZE_OF_A_BLOCK)))


def _choose_threads(trees: tuple[SequenceTree, ...], terms: tuple[Terms, ...], games: int, processors: int) -> int:
    # If a batch outnumbers the processors, several small blocks share each of them.
    return 256 if games >= 2 * processors or _size(trees, terms) <= FEW_THREADS_UP_TO else 1024


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
        carried = " carried" if solve.carried else ""
        packed = "" if game.packed else " unpacked"
        return f"{solve.mode} {game.blocks}x{solve.threads} lanes {lanes} top {top}{carried}{packed}"

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
