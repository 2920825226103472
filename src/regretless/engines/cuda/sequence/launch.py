"""How a game runs on a CUDA device, decided from its size before anything is allocated there.

There are two modes:

- *persistent*: one cooperative launch runs a whole schedule. For games that fit in the device's caches.
- *graph*: one launch per step and level, recorded once as a CUDA graph of one iteration and replayed. For games whose
  payoffs stream from memory, or whose trees are too deep for a block's shared memory.

No CUDA library is needed here: `plan_launch` chooses a mode, thread blocks and threads, and lays the game out for them.

Best plans by size of game, from a sweep over 1 to 132 blocks of 256, 512 and 1,024 threads on an H200. Sizes are payoff
entries and sequences of the larger player; times are µs per iteration of alternating CFR+ in float32:

    game            size   best plan        others
    kuhn              43   1 × 256    4.1   1 × 1,024  4.6; 4 to 132 blocks  9 to 10; graph 16
    leduc          6,013   1 × 1,024 13.9   1 × 256   21.0; 4 to 132 blocks 20 to 25; graph 36
    liar's dice  171,991   84 × 1,024 39.0  16 × 1,024 64.7; 132 × 1,024 39.6; 132 × 256 64.6; graph 62
    goofspiel 6  530,647   132 × 1,024 34.4 66 × 1,024 40.2; 132 × 256 51.2; graph 55
    leduc 13     711,933   132 × 1,024 40.1 66 × 1,024 44.1; 132 × 256 51.7; graph 48
    battleship 1,012,180   132 × 1,024 42.9 66 × 1,024 60.2; 132 × 256 90.8; graph 65
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypedDict

from regretless.engines.cuda.sequence.game import MAX_LEVELS, CudaGame, count_games, prepare
from regretless.engines.sequence_layout import Terms
from regretless.errors import InvalidGame, InvalidOption
from regretless.forms.sequence import SequenceTree

__all__ = [
    "MODES", "PERSISTENT_UP_TO", "RESIDENT_THREADS", "DeviceLimits", "LaunchOptions", "LaunchPlan", "plan_launch",
]  # fmt: skip

MODES = ("auto", "persistent", "graph")
DTYPES = ("float32", "float64")
RESIDENT_THREADS = 2048  # that a processor of the device can hold at a time
GRAPH_THREADS = 256  # per block, in the launches of a graph

SMALL_BLOCK, LARGE_BLOCK = 256, 1024  # threads per block
SMALL_BLOCK_UP_TO = 1024  # size; beyond this, the maximum number of threads per block is best
ONE_BLOCK_UP_TO = 8192  # size; a second block adds two barriers, at least 5 µs per iteration
SIZE_OF_A_BLOCK = 2048  # work per block below which another block does not repay its barriers
PERSISTENT_UP_TO = 4_000_000  # entries; beyond, payoffs stream from memory, which hides the launches of a graph


class DeviceLimits(NamedTuple):
    """What a device offers to a launch."""

    processors: int
    shared_bytes: int  # shared memory that a block may use for tables and a carried game


class LaunchOptions(TypedDict, total=False):
    """How a game is to run."""

    mode: str  # "auto", "persistent" or "graph"
    blocks: int | None  # thread blocks per game
    block_threads: int | None  # threads of each
    carried: bool | None  # whether a single block keeps the game in its shared memory


@dataclass(frozen=True)
class LaunchPlan:
    """A game laid out for a number of thread blocks, and how they run."""

    mode: str  # "persistent" or "graph"
    block_threads: int
    carried: bool  # whether a single block keeps the game in its shared memory
    game: CudaGame

    def __str__(self) -> str:
        game = self.game
        lanes = "+".join(f"{player.lanes}/{player.row_lanes}" for player in game.players)
        top = "+".join(str(player.layout.top_sets) for player in game.players)
        carried = " carried" if self.carried else ""
        packed = "" if game.packed else " unpacked"
        return f"{self.mode} {game.blocks}x{self.block_threads} lanes {lanes} top {top}{carried}{packed}"


def plan_launch(
    trees: tuple[SequenceTree, ...],
    terms: tuple[Terms, ...],
    limits: DeviceLimits,
    *,
    dtype: str = "float32",
    mode: str = "auto",
    blocks: int | None = None,
    block_threads: int | None = None,
    carried: bool | None = None,
) -> LaunchPlan:
    """Choose how to run a game, or a batch of games of one shape; the options are those of `LaunchOptions`.

    By default the size of the game decides, and a game is carried if it fits. The other options are for the persistent
    mode, so asking for one chooses it.
    """
    if dtype not in DTYPES:
        raise InvalidOption("dtype", dtype, "must be float32 or float64")
    if mode not in MODES:
        raise InvalidOption("mode", mode, f"must be one of {', '.join(MODES)}")
    games = count_games(terms)
    persistent_options = {"blocks": blocks, "block_threads": block_threads, "carried": carried}
    requested = {name: value for name, value in persistent_options.items() if value is not None}
    if mode == "graph":
        for name, value in requested.items():
            raise InvalidOption(name, value, "is only for the persistent mode")
        if games > 1:
            raise InvalidOption("mode", mode, "runs a single game; a batch needs persistent")
        return _graph_plan(trees, terms, limits, dtype)
    may_use_graph = mode == "auto" and games == 1 and not requested
    if may_use_graph and max(len(term.value) for term in terms) > PERSISTENT_UP_TO:
        return _graph_plan(trees, terms, limits, dtype)

    size = max(len(term.value) + len(tree.pair) for tree, term in zip(trees, terms))
    if blocks is None:
        blocks = _choose_blocks(size, games, limits.processors)
    if block_threads is None:
        block_threads = _choose_threads(size, games, limits.processors)
    game = prepare(trees, terms, blocks=blocks, dtype=dtype, threads=blocks * block_threads)
    if game.deepest > MAX_LEVELS:
        if may_use_graph:
            return _graph_plan(trees, terms, limits, dtype)
        raise InvalidGame(
            f"the game has {game.deepest} levels: batches and the persistent mode take at most {MAX_LEVELS}"
        )
    fits = blocks == 1 and game.table_bytes + game.carried_bytes <= limits.shared_bytes
    if carried and not fits:
        raise InvalidOption("carried", carried, "needs one block and a game that fits in its shared memory")
    return LaunchPlan("persistent", block_threads, fits if carried is None else carried, game)


def _graph_plan(
    trees: tuple[SequenceTree, ...], terms: tuple[Terms, ...], limits: DeviceLimits, dtype: str
) -> LaunchPlan:
    game = prepare(trees, terms, blocks=1, dtype=dtype, threads=limits.processors * RESIDENT_THREADS)
    return LaunchPlan("graph", GRAPH_THREADS, carried=False, game=game)


def _choose_blocks(size: int, games: int, processors: int) -> int:
    if games > 1 or size <= ONE_BLOCK_UP_TO:
        return 1
    return min(processors, -(-size // SIZE_OF_A_BLOCK))


def _choose_threads(size: int, games: int, processors: int) -> int:
    # If a batch outnumbers the processors, several small blocks share each of them.
    return SMALL_BLOCK if games >= 2 * processors or size <= SMALL_BLOCK_UP_TO else LARGE_BLOCK
