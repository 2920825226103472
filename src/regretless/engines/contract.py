"""The interface between solvers and engines, for every form.

An engine holds one compiled game on one device, together with what CFR updates: regrets, the sum of strategies and, if
the variant predicts, the next strategy. Each form has a plain reference (`numpy/sequence.py`, `numpy/public.py`,
`numpy/buckets.py`); every other engine must match it within its stated tolerance, and one test runs over all.

| form                          | a strategy to evaluate                                | modules of each backend  |
|-------------------------------|-------------------------------------------------------|--------------------------|
| `HistoryForm`, `SequenceForm` | `[pairs]`, in pair order                              | `sequence`, `sampling`   |
| `PublicForm`                  | `(node, runout) -> [actions, H]`, or `BucketStrategy` | `public`                 |
| `BucketedForm`                | none: see `BucketedEngine`                            | `buckets`                |

`bucket_strategies.py` has `BucketStrategy` and the interface of its evaluators.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from regretless.forms.bucketed import BucketedForm
from regretless.forms.history import AnyArray, FloatArray, HistoryForm
from regretless.forms.public import PublicForm
from regretless.forms.sequence import SequenceForm
from regretless.reprs import brief
from regretless.variants.variant import Schedule

__all__ = [
    "LEARNED",
    "SUM_TOLERANCE",
    "Arriving",
    "BatchMember",
    "BucketedEngine",
    "Engine",
    "EngineBatch",
    "Evaluation",
    "GameEngine",
    "Learner",
    "Mode",
    "PartEngine",
    "PublicEngine",
    "PublicStrategy",
    "Sampling",
    "SharedDevice",
    "Snapshot",
    "StackedStrategy",
    "Updates",
]

LEARNED = ("regret", "average", "strategy")  # arrays that every engine of a general game keeps

FormType = TypeVar("FormType", covariant=True)
StrategyType = TypeVar("StrategyType", contravariant=True)

SUM_TOLERANCE = 1e-3  # of a hand's or bucket's probabilities, which may have been rounded to 16 bits

PublicStrategy = Callable[[int, int], FloatArray]  # [actions, H] at a betting node on a runout of its street


@runtime_checkable
class StackedStrategy(Protocol):
    """A `PublicStrategy` that can also be read for all runouts at once, which saves a call per runout."""

    def __call__(self, node: int, runout: int) -> FloatArray: ...

    def stacked(self, node: int) -> NDArray[np.float32]:
        """[runouts, actions, H] at a betting node; equivalent hands on a runout have equal numbers."""


class Updates(StrEnum):
    """Whether an iteration updates all players against the same strategies, or one after another."""

    ALTERNATING = "alternating"
    SIMULTANEOUS = "simultaneous"


class Sampling(StrEnum):
    """How much of the tree an iteration walks."""

    FULL = "full"  # all of it
    CHANCE = "chance"  # one outcome at every chance node, all actions
    EXTERNAL = "external"  # one outcome, one action of the others, all actions of the updating player
    OUTCOME = "outcome"  # a single line


@dataclass(frozen=True)
class Evaluation:
    """The value of a strategy profile, and the value of each player's best response to it.

    >>> evaluation = Evaluation(values=(-0.1, 0.1), best_response_values=(0.2, 0.3))
    >>> round(evaluation.nash_conv, 6), round(evaluation.exploitability, 6)
    (0.5, 0.25)
    """

    values: tuple[float, ...]  # expected utility of each player if all follow the profile
    best_response_values: tuple[float, ...]  # the same if only that player switches to a best response

    @property
    def nash_conv(self) -> float:
        """Sum over players of what each gains by best-responding; 0 exactly at a Nash equilibrium."""
        return sum(self.best_response_values) - sum(self.values)

    @property
    def exploitability(self) -> float:
        """Mean over players of what each gains by best-responding: NashConv / 2 for two players."""
        return self.nash_conv / len(self.values)


@dataclass(frozen=True)
class Snapshot:
    """The state of a solve: arrays in the layout of the engine's form, under the names used in files.

    General games have "regret", "average" (sum of strategies) and "strategy" (played next), each [pairs] in the pair
    order of the history form, plus a "sampler" if they sample, so any engine can resume another's snapshot.
    Public engines have "regret.P" and "average.P" for each player P, and "matched.P" if the variant predicts.
    """

    iteration: int  # iterations done
    arrays: Mapping[str, AnyArray]
    weight: float = 0.0  # total weight of the average, where averages are stored as shares of it

    @property
    def predicts(self) -> bool:
        """Whether public engines stored predictions."""
        return "matched.0" in self.arrays

    __repr__ = brief


class Learner(Protocol[FormType]):
    """One compiled game on one device, and the arrays that CFR updates there."""

    @property
    def form(self) -> FormType: ...

    @property
    def name(self) -> str:
        """As a user types it: "numba"."""

    @property
    def device(self) -> str:
        """ "cpu", "cuda" or "mps"."""

    @property
    def threads(self) -> int: ...

    @property
    def tolerance(self) -> float:
        """How far its number format may move a result of order 1 from the float64 reference."""

    @property
    def memory_bytes(self) -> int:
        """Memory it uses, including the game."""

    @property
    def iteration(self) -> int:
        """Iterations done."""

    def advance(self, schedule: Schedule) -> None:
        """Run one iteration per row of `schedule`."""

    def snapshot(self, *, copy: bool = True) -> Snapshot:
        """The state of the solve; without `copy`, where possible, the live arrays, which later iterations change."""

    def restore(self, snapshot: Snapshot) -> None:
        """Resume from a snapshot."""


class Engine(Learner[FormType], Protocol[FormType, StrategyType]):
    """A learner that can say how exploitable a strategy is."""

    def evaluate(self, strategy: StrategyType | None = None) -> Evaluation:
        """Values and best responses of a strategy, by default of the engine's own average."""


class GameEngine(Engine[HistoryForm | SequenceForm, FloatArray], Protocol):
    """An engine for general games: strategies are [pairs], in the pair order of the history form."""

    def average_strategy(self) -> FloatArray:
        """The average strategy, normalised, uniform where nothing was accumulated."""


class PublicEngine(Engine[PublicForm, PublicStrategy], Protocol):
    """An engine for the public form: it can be locked, and read row by row."""

    @property
    def storage(self) -> int:
        """Bits of a stored regret or average."""

    @property
    def kept_bytes(self) -> int:
        """Memory that grows with the tree; `memory_bytes` also counts the threads' working buffers."""

    def lock(self, node: int, strategy: FloatArray, runout: int = 0, hands: NDArray[np.bool_] | None = None) -> None:
        """Fix a player's strategy at a betting node on a runout of its street, for all hands or some.

        `strategy` is [actions, H]. The rest of the game is solved around it, and the player's best response follows
        it too.
        """

    def fix(self, player: int, strategy: PublicStrategy) -> None:
        """Fix every decision of a player, who is then never updated and whose best response is this strategy."""

    def unlock(self) -> None:
        """Remove all locks; regrets and averages stay."""

    def kept_strategy(self, node: int, runout: int) -> FloatArray:
        """[actions, H] a locked strategy, exactly as the averages store it."""

    def as_kept(self, strategy: FloatArray) -> FloatArray:
        """A strategy as `kept_strategy` would return it: 16-bit storage rounds probabilities."""

    def strategy(self, node: int, runout: int = 0) -> FloatArray:
        """[actions, H] average strategy at a betting node on a runout of its street."""

    def averages(self, player: int, street: int, runouts: slice = slice(None)) -> AnyArray:
        """[runouts chosen, numbers] sums of a player's strategies on a street, in the layout of `layout.py`.

        They are the live ones where possible, and otherwise copied from the device in one go.
        """

    def root_values(self, player: int) -> FloatArray:
        """[H] each hand's expected value under the average strategies; 0 where no opposing hand is possible."""

    def values_before_last(self, player: int, *, best: bool = False) -> list[NDArray[np.float32]]:
        """For each street before the last, [runouts, nodes of the street, H] values times the opposing reach.

        Both players follow their average strategies or, if `best`, the player best-responds, where not locked. Nodes
        are in tree order.
        """


class Mode(Enum):
    """What a walk computes for the own player."""

    LEARN = auto()  # regrets; both players follow their current strategies
    BEST = auto()  # values of a best response to the opponent's average strategy
    MEAN = auto()  # values of the average strategies of both


@dataclass(frozen=True)
class Arriving:
    """Reach where the lines of the second street begin, in walking order; hands may be padded."""

    opponent: AnyArray  # [lines, hands] times the weight in the range
    own: AnyArray  # [lines, hands]

    __repr__ = brief


class PartEngine(PublicEngine, Protocol):
    """An engine that can also walk street by street, so that a game can be solved in parts (`forms/parts.py`).

    A walk of an own player goes down the trunk, below that in every shard, and up the trunk:

        arriving = trunk.down(own, mode)
        sums = [shard.below(own, mode, arriving) for shard in shards]
        value = trunk.up(own, mode, concatenate(sums))

    An iteration begins with `begin` and ends after the walks of all players that learn. Its numbers are bit for bit
    those of an engine on the whole form.
    """

    def begin(self, schedule: Schedule) -> None:
        """Begin the next iteration, the one row of `schedule`; it counts as done from here on."""

    def down(self, own: int, mode: Mode) -> Arriving:
        """Walk down the trunk."""

    def below(self, own: int, mode: Mode, arriving: Arriving) -> FloatArray:
        """Walk a shard: [blocks, lines, hands] values where the lines begin, summed over the runouts of each block.

        Blocks are what the engine sums by itself before it adds up the whole; a shard has whole blocks
        (`shard_ends`).
        """

    def up(self, own: int, mode: Mode, sums: FloatArray) -> float:
        """Walk up the trunk with the sums of all blocks; returns the value of the game, unless a player learns."""


class BucketedEngine(Learner[BucketedForm], Protocol):
    """An engine for the bucketed form. It cannot evaluate: sampled runouts give no exact exploitability.

    Engines of the public form evaluate its average with every runout and real cards (`priced.py`).
    """

    @property
    def storage(self) -> int:
        """Bits of a stored regret or average."""

    @property
    def kept_bytes(self) -> int:
        """Memory of regrets and averages; `memory_bytes` also counts working buffers."""

    def strategy(self, node: int) -> FloatArray:
        """[actions, buckets] average strategy at a betting node."""


# --- many spots on one device ----------------------------------------------------------------------------------------


class BatchMember(PublicEngine, Protocol):
    """An engine that can be part of a batch."""

    @property
    def predicts(self) -> bool:
        """Whether predictions are stored beside the regrets."""

    def get_ready(self, schedule: Schedule) -> None:
        """Store predictions from now on, if these iterations need them."""

    def park(self) -> None:
        """Free the device's memory: regrets and averages move to the machine's, where they can still be read."""


Member = TypeVar("Member", bound=BatchMember)


class EngineBatch(Protocol):
    """Engines of one kind, numbered from 0. While they are in a batch, only it may advance them.

    Every engine ends up with the same numbers as if it had been advanced alone.
    """

    def retire(self, numbers: Iterable[int]) -> None:
        """Leave these engines as they are from now on."""

    def advance(self, schedules: Sequence[Schedule | None]) -> None:
        """Run one iteration of every engine per row of its schedule; None for a retired engine.

        All schedules have equally many rows. Pass the same object for equal schedules: it is converted only once.
        """

    def evaluate(self, numbers: Sequence[int]) -> Sequence[Evaluation]:
        """Values and best responses of the averages of these engines, none of them retired."""


class SharedDevice(Protocol[Member]):
    """A device on which many engines are advanced together."""

    @property
    def engine(self) -> str:
        """The name of its engines."""

    @property
    def device(self) -> str:
        """The device, as its engines name it."""

    def free_bytes(self) -> int: ...

    def creating(self) -> AbstractContextManager[None]:
        """A context for `create`; at its end, the tables of all engines are uploaded together."""

    def create(self, form: PublicForm, *, storage: int) -> Member: ...

    def kind_of(self, engine: Member) -> Hashable:
        """Equal for engines that can be in one batch; changes when an engine stores predictions."""

    def batch(self, engines: Sequence[Member]) -> EngineBatch:
        """A batch of engines of one kind, all created within the latest `creating` block."""
