"""The price of a strategy before the flop, continued on every flop by solving that flop.

1. The game given the flop is compiled with the betting before the flop, whose strategy is locked: every line brings its
   own ranges, and all lines are solved at once.
2. It is solved until a best response after the flop gains at most `Resolving.target`.
3. The locks are removed, and values are read where the flop's betting begins, as `flop_pricer` reads those of a
   strategy with buckets. From there on both are priced alike: a best response chooses before the flop, too.

What remains after the flop (`Resolving.target`) counts as a loss of the strategy that is priced.

Safely, each player's strategy comes from a solve of its own in step 2, in which the opponent may leave each line with
what a best response to the whole strategy, which must then cover the flop, gives each hand there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from regretless.cards.hands import HAND_CLASS
from regretless.cards.ranges import Range
from regretless.engines import EvaluationStopped, FormKind, PublicEngine, create, devices, estimate
from regretless.errors import InvalidOption
from regretless.forms.blockers import met
from regretless.forms.history import FloatArray
from regretless.forms.memory import available_bytes
from regretless.forms.public import NodeKind, Payoffs, PublicForm
from regretless.holdem.form.runouts import compile_holdem, holdem_hands
from regretless.holdem.games.big_blinds import MILLI
from regretless.holdem.games.flop_pricer import (
    FLOP_FORM_BYTES,
    FlopPricer,
    FlopTree,
    NodeStrategy,
    PreflopValues,
    values_by_class,
    widest_flop,
)
from regretless.solving.loop import Stop, run
from regretless.solving.resolving import Resolver
from regretless.variants.presets import PRESETS

__all__ = ["Resolving", "ResolvingPricer"]

VARIANT = PRESETS["postflop"]


@dataclass(frozen=True, kw_only=True)
class Resolving:
    """How a flop is solved again with the ranges that arrive there."""

    target: float = 5.0  # mbb/g that a best response may gain after the flop
    iterations: int = 2_000  # at most
    storage: int = 32  # bits per number
    safe: bool = False  # whether the opponent may take the values of the strategy that is priced instead

    def __post_init__(self) -> None:
        if not self.target > 0:
            raise InvalidOption("target", self.target, "must be above 0")


class ResolvingPricer:
    """The strategy before the flop, by node of the whole game's tree and class of hands, ready to be continued.

    `payoffs` are those of the whole game, `big_blind` its unit; `blueprint` is the strategy on every flop, if it is to
    be continued safely.
    """

    def __init__(
        self,
        betting: FlopTree,
        payoffs: Payoffs,
        strategy: NodeStrategy,
        resolving: Resolving,
        *,
        blueprint: FlopPricer | None,
        big_blind: float,
        device: str = "cpu",
        threads: int = 1,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        self.betting = betting
        self.payoffs = betting.payoffs(payoffs)
        self.resolving = resolving
        self.blueprint = blueprint
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
        needed = FLOP_FORM_BYTES + (self.evaluation_bytes if self.device == "cpu" else 0)
        if self.blueprint is None:
            return needed
        averages = widest_flop(self.betting.tree).entries * self.resolving.storage // 8  # kept from solve to solve
        return max(self.blueprint.memory_bytes, needed + averages)

    def free_bytes(self) -> int:
        """What is free on the device."""
        return available_bytes() if self.device == "cpu" else devices.cuda_free_bytes()

    def each(self, flops: Iterable[tuple[int, ...]]) -> Iterator[PreflopValues]:
        """The values of one flop after another."""
        return map(self.values, flops)

    def values(self, flop: tuple[int, ...]) -> PreflopValues:
        """The values of one flop, as if it stood for itself only."""
        everything = Range.parse("100%")
        form = compile_holdem(flop, everything, everything, self.betting.tree, payoffs=self.payoffs)
        form, hands = replace(form, unit=self.big_blind), holdem_hands(flop, everything)
        trunk = {node: table[:, HAND_CLASS[hands]][None] for node, table in self._preflop.items()}
        resolver = Resolver(self._create, self._solve)
        if self.blueprint is None:
            engine = resolver.plainly(form, trunk)
        else:
            engine = resolver.safely(form, trunk, self._alternatives(self.blueprint, flop, form, trunk))
        rows = self.betting.begin_rows
        at_flop = [
            [engine.values_before_last(own, best=best)[0][0][rows] for best in (False, True)] for own in range(2)
        ]
        return values_by_class(np.array(at_flop, dtype=np.float64), hands)

    def _create(self, form: PublicForm) -> PublicEngine:
        threads = self.threads if self.device == "cpu" else None
        return create("auto", form, device=self.device, threads=threads, storage=self.resolving.storage)

    def _solve(self, engine: PublicEngine) -> None:
        stop = Stop(iterations=self.resolving.iterations, target=self.resolving.target / MILLI)
        if run(engine, VARIANT, stop, interrupted=self.interrupted).reason == "interrupted":
            raise EvaluationStopped

    def _alternatives(
        self, blueprint: FlopPricer, flop: tuple[int, ...], form: PublicForm, trunk: Mapping[int, FloatArray]
    ) -> tuple[dict[int, FloatArray], dict[int, FloatArray]]:
        """Per player and line, [1, H] what a hand gains where the flop's betting begins, per opposing hand it faces."""
        best, tree = blueprint.line_values(flop)[:, 1], self.betting.tree
        reached = np.ones((len(tree.kind), 2, len(form.hands[0].weight)))
        for node in range(1, len(tree.kind)):  # parents come first
            parent = int(tree.parent[node])
            reached[node] = reached[parent]
            if parent in trunk:
                reached[node, tree.player[parent]] *= trunk[parent][0, node - int(tree.first_child[parent])]

        def of(player: int) -> dict[int, FloatArray]:
            begins = list(self.betting.begins)
            faced = met(form.hands[player], form.hands[1 - player], reached[begins, 1 - player], form.deck)
            values = np.divide(best[player], faced, out=np.zeros_like(faced), where=faced > 0)
            return dict(zip(begins, values[:, None], strict=True))

        return of(0), of(1)
