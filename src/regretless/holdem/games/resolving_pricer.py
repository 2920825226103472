"""The price of a strategy before the flop, continued on every flop by solving that flop.

1. The game given the flop is compiled with the betting before the flop, whose strategy is locked: every line brings its
   own ranges, and all lines are solved at once.
2. It is solved until a best response after the flop gains at most `Resolving.target`.
3. The locks are removed, and values are read where the flop's betting begins, as `flop_pricer` reads those of a
   strategy with buckets. From there on both are priced alike: a best response chooses before the flop, too.

What remains after the flop (`Resolving.target`) counts as a loss of the strategy that is priced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from regretless.cards.hands import HAND_CLASS
from regretless.engines import (
    BucketStrategy,
    EvaluationStopped,
    FormKind,
    PublicEngine,
    StoredStrategies,
    create,
    devices,
    estimate,
)
from regretless.errors import InvalidOption
from regretless.forms.history import IntArray
from regretless.forms.memory import available_bytes
from regretless.forms.public import NodeKind, Payoffs, PublicForm
from regretless.holdem.games.big_blinds import MILLI
from regretless.holdem.games.flop_pricer import (
    FLOP_FORM_BYTES,
    FlopTree,
    NodeStrategy,
    PreflopValues,
    flop_form,
    lossless_strategy,
    values_by_class,
    widest_flop,
)
from regretless.solving.loop import Stop, run
from regretless.variants.presets import PRESETS

__all__ = ["Resolving", "ResolvingPricer"]

VARIANT = PRESETS["postflop"]


@dataclass(frozen=True, kw_only=True)
class Resolving:
    """How a flop is solved again with the ranges that arrive there."""

    target: float = 5.0  # mbb/g that a best response may gain after the flop
    iterations: int = 2_000  # at most
    storage: int = 32  # bits per number

    def __post_init__(self) -> None:
        if not self.target > 0:
            raise InvalidOption("target", self.target, "must be above 0")


class ResolvingPricer:
    """The strategy before the flop, by node of the whole game's tree and class of hands, ready to be continued.

    `payoffs` are those of the whole game, `big_blind` its unit.
    """

    def __init__(
        self,
        betting: FlopTree,
        payoffs: Payoffs,
        strategy: NodeStrategy,
        resolving: Resolving,
        *,
        big_blind: float,
        device: str = "cpu",
        threads: int = 1,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        self.betting = betting
        self.payoffs = betting.payoffs(payoffs)
        self.resolving = resolving
        self.big_blind = big_blind
        self.device = device
        self.threads = threads
        self.interrupted = interrupted
        tree = betting.tree
        decisions = np.flatnonzero((tree.kind == NodeKind.DECISION) & (tree.street == 0)).tolist()
        before = [node for node in decisions if node not in betting.on_flop]
        self._preflop = {node: strategy(int(betting.node[node])) for node in before}

    @property
    def evaluation_bytes(self) -> int:
        """An upper bound on what solving a flop takes on the device."""
        engine, options = ("cuda", {}) if self.device == "cuda" else ("numba", {"threads": self.threads})
        size, storage = widest_flop(self.betting.tree), self.resolving.storage
        return estimate(engine, FormKind.PUBLIC, size, storage=storage, **options) or 0

    @property
    def memory_bytes(self) -> int:
        """An upper bound on what pricing a flop takes of the machine's memory."""
        return FLOP_FORM_BYTES + (self.evaluation_bytes if self.device == "cpu" else 0)

    def free_bytes(self) -> int:
        """What is free on the device."""
        return available_bytes() if self.device == "cpu" else devices.cuda_free_bytes()

    def each(self, flops: Iterable[tuple[int, ...]]) -> Iterator[PreflopValues]:
        """The values of one flop after another."""
        return map(self.values, flops)

    def values(self, flop: tuple[int, ...]) -> PreflopValues:
        """The values of one flop, as if it stood for itself only."""
        form, hands = flop_form(flop, self.betting.tree, self.payoffs)
        engine = self.solved(form, hands)
        engine.unlock()
        rows = self.betting.begin_rows
        at_flop = [
            [engine.values_before_last(own, best=best)[0][0][rows] for best in (False, True)] for own in range(2)
        ]
        return values_by_class(np.array(at_flop, dtype=np.float64), hands)

    @property
    def probabilities(self) -> int:
        """An upper bound on the numbers in the strategy of a flop."""
        return widest_flop(self.betting.tree).entries

    def played(self, form: PublicForm, flop: tuple[int, ...], hands: IntArray) -> BucketStrategy:
        """What is played on a flop once it is solved: every hand on every runout is a bucket of its own."""
        snapshot = self.solved(form, hands).snapshot(copy=False)
        averages = {name: snapshot.arrays[name] for name in ("average.0", "average.1")}  # regrets are freed
        strategies = StoredStrategies(form, replace(snapshot, arrays=averages))
        return lossless_strategy(form, strategies.stacked)

    def solved(self, form: PublicForm, hands: IntArray) -> PublicEngine:
        """An engine that has solved a flop around the strategy before it, which is locked."""
        form = replace(form, unit=self.big_blind)
        threads = self.threads if self.device == "cpu" else None
        engine = create("auto", form, device=self.device, threads=threads, storage=self.resolving.storage)
        for node, table in self._preflop.items():
            engine.lock(node, table[:, HAND_CLASS[hands]])
        stop = Stop(iterations=self.resolving.iterations, target=self.resolving.target / MILLI)
        if run(engine, VARIANT, stop, interrupted=self.interrupted).reason == "interrupted":
            raise EvaluationStopped
        return engine
