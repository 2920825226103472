"""Many games of one shape solved at once: every array has one more axis.

Games have one shape when their trees are equal, node by node, and only payoffs or chance probabilities differ: a
thousand Leduc games with a thousand antes, a game under a thousand rake structures. Trees and indices are stored once;
payoffs, regrets, averages and strategies have an entry per game. In PyTorch the games are the last axis of every
tensor; with CuPy on a CUDA device each game has a thread block to itself and all iterations run in one launch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from regretless.engines.contract import Evaluation, Snapshot, Updates
from regretless.engines.devices import require_cuda
from regretless.engines.registry import engine_name, is_installed, require
from regretless.engines.sequence_layout import Terms, slices
from regretless.errors import InvalidGame, InvalidOption
from regretless.forms.compile import check_strategy
from regretless.forms.history import FloatArray, HistoryForm
from regretless.forms.sequence import SequenceTree, sequence_tree, terminal_reach, terminal_sequences
from regretless.reprs import brief
from regretless.variants.variant import Schedule

__all__ = ["BatchedEngine", "BatchedEvaluation", "batched_terms", "check_one_shape", "replace_payoffs"]

SHAPE = ("parent", "player", "information_set", "pair", "first_child", "level", "terminal", "first_pair")


@dataclass(frozen=True)
class BatchedEvaluation:
    """`Evaluation` for every game of a batch."""

    values: FloatArray  # [games, players]
    best_response_values: FloatArray  # [games, players]

    __repr__ = brief

    @property
    def nash_conv(self) -> FloatArray:
        """[games] sum over players of what each gains by best-responding."""
        gains: FloatArray = self.best_response_values.sum(axis=1) - self.values.sum(axis=1)
        return gains

    @property
    def exploitability(self) -> FloatArray:
        """[games] mean over players of what each gains by best-responding."""
        mean: FloatArray = self.nash_conv / self.values.shape[1]
        return mean

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, game: int) -> Evaluation:
        return Evaluation(tuple(self.values[game].tolist()), tuple(self.best_response_values[game].tolist()))


class _BatchedSolve(Protocol):
    """What `TorchSequenceSolve` and `CudaSequenceSolve` have in common."""

    def advance(self, schedule: Schedule) -> None: ...
    def average_strategy(self) -> FloatArray: ...
    def evaluate(self, strategy: FloatArray | None) -> tuple[FloatArray, FloatArray]: ...
    def snapshot(self, iteration: int) -> Snapshot: ...
    def restore(self, snapshot: Snapshot) -> None: ...


def check_one_shape(games: Sequence[HistoryForm]) -> None:
    """Refuse games whose trees differ."""
    if not games:
        raise InvalidOption("games", [], "must contain at least one game")
    for number, game in enumerate(games):
        if not all(np.array_equal(getattr(game, name), getattr(games[0], name)) for name in SHAPE):
            raise InvalidGame(
                f"game {number} of the batch, {game.name}, differs from the first, {games[0].name}, "
                "in more than payoffs and chance probabilities"
            )


def batched_terms(games: Sequence[HistoryForm]) -> tuple[tuple[SequenceTree, ...], tuple[Terms, ...]]:
    """Trees of the shape that the games share, and payoff terms with a column per game.

    Terminals that end the same sequences are summed; none is dropped because its payoff is 0 in one game, since it may
    not be in another.
    """
    check_one_shape(games)
    shape = games[0]
    trees = tuple(sequence_tree(shape, player) for player in range(shape.players))
    ends = [terminal_sequences(shape, player, tree).astype(np.int64) for player, tree in enumerate(trees)]
    reaches = [terminal_reach(game) for game in games]
    terms = []
    for player, tree in enumerate(trees):
        others = [other for other in range(shape.players) if other != player]
        order = np.lexsort([ends[other] for other in reversed(others)] + [ends[player]])
        keys = np.stack([ends[player][order], *(ends[other][order] for other in others)])
        new = np.any(np.diff(keys, axis=1, prepend=-1) != 0, axis=0)
        first = np.flatnonzero(new)
        value = np.empty((len(first), len(games)))
        for number, (game, reach) in enumerate(zip(games, reaches)):
            weighted = (reach * game.payoff[:, player])[order]
            value[:, number] = np.add.reduceat(weighted, first) if len(first) else 0.0
        start = slices(np.bincount(keys[0, first], minlength=len(tree.pair)))
        terms.append(Terms(start, tuple(keys[1:, first]), value))
    return trees, tuple(terms)


class BatchedEngine:
    """CFR on many games of one shape.

    `engine` is "torch", "cuda" or "auto": CUDA kernels for two-player games on CUDA if CuPy is installed, else PyTorch.
    """

    def __init__(
        self,
        games: Sequence[HistoryForm],
        *,
        updates: Updates = Updates.ALTERNATING,
        device: str = "cpu",
        dtype: str = "float32",
        engine: str = "auto",
    ) -> None:
        if (engine := engine_name(engine)) not in ("auto", "torch", "cuda"):
            raise InvalidOption("engine", engine, "must be auto, torch or cuda")
        trees, terms = batched_terms(games)
        on_cuda = device.partition(":")[0] == "cuda"
        if engine == "auto":
            engine = "cuda" if on_cuda and len(trees) == 2 and is_installed("cuda") else "torch"
        require(engine)
        if engine == "cuda" and (not on_cuda or len(trees) != 2):
            raise InvalidOption("engine", engine, "solves two-player games on a CUDA device")
        if on_cuda:
            require_cuda(device)
        self.name = engine
        self.device = device
        self.games = len(games)
        self._form = games[0]  # information sets and actions are the same in all
        self.iteration = 0
        self._solve = _build(engine, trees, terms, updates, device, dtype)

    def advance(self, schedule: Schedule) -> None:
        """Run one iteration per row of `schedule` on every game."""
        self._solve.advance(schedule)
        self.iteration += len(schedule)

    def average_strategy(self) -> FloatArray:
        """Average strategies, [games, pairs]."""
        return self._solve.average_strategy()

    def evaluate(self, strategy: FloatArray | None = None) -> BatchedEvaluation:
        """Values and best responses of strategies [games, pairs], by default of the average strategies."""
        if strategy is not None:
            strategy = np.stack([check_strategy(self._form, each) for each in strategy])
        values, best = self._solve.evaluate(strategy)
        return BatchedEvaluation(np.ascontiguousarray(values.T), np.ascontiguousarray(best.T))

    def snapshot(self, *, copy: bool = True) -> Snapshot:
        """The state of the solve, in arrays [games, pairs]."""
        return self._solve.snapshot(self.iteration)

    def restore(self, snapshot: Snapshot) -> None:
        """Resume from a snapshot."""
        self._solve.restore(snapshot)
        self.iteration = snapshot.iteration


def replace_payoffs(game: HistoryForm, payoff: FloatArray) -> HistoryForm:
    """The same game with other payoffs, [terminals, players]."""
    payoff = np.asarray(payoff, dtype=np.float64)
    if payoff.shape != game.payoff.shape or not np.isfinite(payoff).all():
        raise InvalidOption("payoff", payoff.shape, f"must be finite numbers of shape {game.payoff.shape}")
    zero_sum = bool(np.allclose(payoff.sum(axis=1), 0.0))
    return replace(game, payoff=payoff, zero_sum=zero_sum)


def _build(
    engine: str, trees: tuple[SequenceTree, ...], terms: tuple[Terms, ...], updates: Updates, device: str, dtype: str
) -> _BatchedSolve:
    # Heavy libraries are imported when first needed.
    if engine == "cuda":
        from regretless.engines.cuda.sequence.engine import CudaSequenceSolve

        return CudaSequenceSolve(trees, terms, updates=updates, device=device, dtype=dtype)
    from regretless.engines.torch.sequence import DTYPES, TorchSequenceSolve, torch_device

    on_device = torch_device(device, dtype)
    return TorchSequenceSolve(trees, terms, updates=updates, device=on_device, dtype=DTYPES[dtype], graph=True)
