"""How large a game from the deal is: betting nodes, action slots of each street, and memory for buckets of hands.

An *action slot* is an action at a decision of the betting tree. A solve keeps a regret and an average for every slot
and every bucket of hands on its street. Without buckets (lossless), a bucket is a situation, a hand on a board up to
the names of the suits: 169 before the flop, 123,156,254 on the river.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from regretless.cards.situation_tables import SITUATION_COUNTS
from regretless.forms.public import NodeKind
from regretless.holdem.buckets.plan import BucketChoice
from regretless.holdem.buckets.table import Buckets
from regretless.holdem.form.betting import betting_of
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.spots.spot_fields import STREETS, StreetName

__all__ = ["BUCKETS", "LOSSLESS", "GameEstimate", "estimate_game"]

BUCKETS = 200  # on each street from the flop on, unless a choice is given
NUMBERS = 2  # per slot and bucket: a regret and an average
STORAGE = 32  # bits per number: games are solved in no other format

# situations on each street: only hands that differ in the names of suits are merged
LOSSLESS: Mapping[str, int] = dict(
    zip(("preflop", *STREETS), (SITUATION_COUNTS[cards] for cards in (0, 3, 4, 5)), strict=True)
)


@dataclass(frozen=True)
class GameEstimate:
    """The size of a game."""

    betting_nodes: int  # of the betting tree, without cards
    node_kinds: dict[str, int]  # "action", "chance", "fold", "showdown"
    decisions: dict[str, int]  # by street
    action_slots: dict[str, int]  # by street: actions over all decisions
    buckets: dict[str, int]  # by street
    entries: int  # slots × buckets
    memory_bytes: dict[int, int]  # by bits of storage: regrets and averages with these buckets
    lossless_buckets: dict[str, int]  # by street: situations
    lossless_entries: int
    lossless_bytes: dict[int, int]

    def as_json(self) -> dict[str, object]:
        """What `regretless estimate --json` prints."""
        fields = asdict(self)
        for name in ("memory_bytes", "lossless_bytes"):
            fields[name] = {str(bits): size for bits, size in fields[name].items()}
        return fields


def estimate_game(game: HoldemGame, choice: BucketChoice | None = None) -> GameEstimate:
    """Nodes, slots and bytes of a game with a choice of buckets, by default `BUCKETS` on each street.

    >>> game = HoldemGame.from_mapping(
    ...     {"stack": 10, "small_blind": 0.5, "big_blind": 1, "preflop": {"limp": False, "open": "a"}}
    ... )
    >>> estimate = estimate_game(game)
    >>> estimate.betting_nodes, estimate.action_slots, estimate.entries
    (8, {'preflop': 4, 'flop': 0, 'turn': 0, 'river': 0}, 676)
    """
    size = betting_of(game).size
    slots: dict[str, int] = dict(zip(game.streets, map(int, size.actions.sum(axis=1)), strict=True))
    acting = [street for street in STREETS if slots[street]]
    chosen = dict(LOSSLESS) | (dict.fromkeys(STREETS, BUCKETS) if choice is None else _counts(choice, acting))
    entries = sum(slots[street] * chosen[street] for street in game.streets)
    lossless = sum(slots[street] * LOSSLESS[street] for street in game.streets)
    return GameEstimate(
        betting_nodes=int(size.nodes.sum()),
        node_kinds={
            name: int(size.nodes[:, kind].sum())
            for name, kind in zip(("action", "chance", "fold", "showdown"), NodeKind, strict=True)
        },
        decisions=dict(zip(game.streets, map(int, size.decisions.sum(axis=1)), strict=True)),
        action_slots=slots,
        buckets=chosen,
        entries=entries,
        memory_bytes={STORAGE: NUMBERS * entries * STORAGE // 8},
        lossless_buckets=dict(LOSSLESS),
        lossless_entries=lossless,
        lossless_bytes={STORAGE: NUMBERS * lossless * STORAGE // 8},
    )


def _counts(choice: BucketChoice, acting: Sequence[StreetName]) -> dict[str, int]:
    """Buckets of the streets that are not lossless; refuses a choice that leaves a street open on which players act."""
    plan = Buckets.load(choice.file).plan if choice.file else None
    choice.check(acting, () if plan is None else plan.streets)
    if plan is None:
        return dict(choice.counts)
    return {street: plan.count(street) for street in plan.streets if street not in choice.lossless}
