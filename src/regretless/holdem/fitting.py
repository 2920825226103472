"""Whether a spot fits in memory, and what to cut from its tree if it does not.

Cuts are tried in this order, the ones that cost players least first, until the spot fits:

1. donk bets
2. raises after the second on a street
3. all raise sizes but one: the first multiple of the bet faced, or the first size
4. bet sizes, on the river, then the turn, then the flop, until a player has two on a street
5. raises after the first on a street
6. bet sizes until a player has one on a street
7. raises on the river, the turn and the flop

The size furthest from the most common one goes first: 40 % of the pot on the flop, 70 % later. A player keeps the last
size. Cuts that turn out not to be needed, or to save nothing, are then undone, the last first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from regretless.errors import Advice, InvalidOption, RegretlessError, WouldNotFit, bytes_text
from regretless.forms.memory import available_bytes
from regretless.forms.public_size import PublicSize
from regretless.holdem.estimate import STORAGES, Estimate, estimate_spot
from regretless.holdem.spots.sizes import Decision, LastBetMultiple, Size
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import PLAYERS, Bets, PlayerName, PlayerSizes, StreetName, StreetSizes
from regretless.spelling import listed

__all__ = ["Shrunk", "TreeCut", "check_fits", "shrink"]

TYPICAL = {"flop": 0.4, "turn": 0.7, "river": 0.7}  # share of the pot


@dataclass(frozen=True)
class TreeCut:
    """A cut of a tree."""

    text: str  # "no donk bets"
    saves: int | None  # bytes; None: the tree before it is too large to count


@dataclass(frozen=True)
class Shrunk:
    """A spot with cuts that make it fit, or all cuts that there are."""

    spot: Spot
    cuts: tuple[TreeCut, ...]
    memory_bytes: int | None  # None: the tree is too large to count
    fits: bool


def check_fits(
    spot: Spot,
    *,
    storage: int = 32,
    threads: int = 1,
    predicts: bool = False,
    available: int | None = None,
    size: PublicSize | None = None,
    can_shrink: bool = True,
) -> Estimate:
    """The estimate; raises `WouldNotFit` if it is more than the machine has free.

    `can_shrink`: whether the error may propose a smaller tree.
    """
    if storage not in STORAGES:
        raise InvalidOption("storage", storage, f"is not one of {', '.join(map(str, STORAGES))} bits")
    estimate = estimate_spot(spot, threads=threads, predicts=predicts, size=size)
    free = available_bytes() if available is None else available
    if estimate.memory_bytes[storage] > free:
        advice = []
        if storage != 16 and estimate.memory_bytes[16] <= free:
            advice.append(Advice("storage", 16, f"needs {bytes_text(estimate.memory_bytes[16])}, which fits"))
        hint = ""
        if can_shrink:
            hint = _hint(shrink(spot, storage=storage, threads=threads, predicts=predicts, available=free))
        raise WouldNotFit(
            f"{spot.name or 'the spot'} in {storage} bits",
            needed=estimate.memory_bytes[storage],
            available=free,
            hint=hint,
            advice=advice,
        )
    return estimate


def shrink(
    spot: Spot, *, storage: int = 32, threads: int = 1, predicts: bool = False, available: int | None = None
) -> Shrunk:
    """The cuts that make a spot fit into the available bytes, by default those of the machine.

    >>> spot = Spot(board="Qs Jh 2h", pot=10, stack=100, oop="22+", ip="22+", bets={"bet": "33, 75", "raise": "3x"})
    >>> [cut.text for cut in shrink(spot, available=6 * 10**8).cuts]
    ['no donk bets', 'no bet of 33% on the river', 'no bet of 33% on the turn']
    """
    limit = available_bytes() if available is None else available

    def needed(bets: Bets) -> int | None:
        try:
            estimate = estimate_spot(replace(spot, bets=bets), threads=threads, predicts=predicts)
        except RegretlessError:  # too large even to count
            return None
        return estimate.memory_bytes[storage]

    steps = _sufficient_steps(spot, needed, limit)
    smallest = needed(_cut(spot.bets, steps))
    if smallest is not None:
        steps = _necessary_steps(spot, steps, needed, max(limit, smallest))
    cuts, bets, before = [], spot.bets, needed(spot.bets)
    for step in steps:
        bets = step.change(bets)
        after = needed(bets)
        cuts.append(TreeCut(step.text, None if before is None or after is None else before - after))
        before = after
    return Shrunk(replace(spot, bets=bets), tuple(cuts), before, before is not None and before <= limit)


def _sufficient_steps(spot: Spot, needed: Callable[[Bets], int | None], limit: int) -> list[_Step]:
    """The first cuts that make the spot fit, or all that change anything."""
    steps: list[_Step] = []
    bets = spot.bets
    candidates = _steps(spot)
    memory = needed(bets)
    while memory is None or memory > limit:
        step = next(candidates, None)
        if step is None:
            break
        smaller = step.change(bets)
        if smaller != bets:
            steps.append(step)
            bets = smaller
            memory = needed(bets)
    return steps


def _necessary_steps(spot: Spot, steps: list[_Step], needed: Callable[[Bets], int | None], limit: int) -> list[_Step]:
    """These cuts without those that are not needed to stay within the limit; the last are examined first."""
    for step in reversed(steps):
        without = [each for each in steps if each is not step]
        memory = needed(_cut(spot.bets, without))
        if memory is not None and memory <= limit:
            steps = without
    return steps


def _hint(shrunk: Shrunk) -> str:
    if not shrunk.fits or shrunk.memory_bytes is None:
        return "start on a later street or with narrower ranges"
    cuts = listed([cut.text for cut in shrunk.cuts])
    return f"it fits with {cuts}, in {bytes_text(shrunk.memory_bytes)}"


# --- the cuts ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Step:
    """A cut that may be tried."""

    text: str
    streets: tuple[StreetName, ...]
    on_street: Callable[[StreetSizes], StreetSizes]

    def change(self, bets: Bets) -> Bets:
        return replace(bets, **{street: self.on_street(bets.of_street(street)) for street in self.streets})


def _cut(bets: Bets, steps: list[_Step]) -> Bets:
    """The bets after these cuts."""
    for step in steps:
        bets = step.change(bets)
    return bets


def _steps(spot: Spot) -> Iterator[_Step]:
    streets = tuple(reversed(spot.streets))
    yield _Step("no donk bets", streets, _without_donks)
    yield _Step("at most 2 raises per street", streets, _capped(2))
    yield _Step("one raise size", streets, _with_one_raise)
    for street in streets:
        yield from _fewer_bets(spot, street, maximum=2)
    yield _Step("at most 1 raise per street", streets, _capped(1))
    for street in streets:
        yield from _fewer_bets(spot, street, maximum=1)
    for street in streets:
        yield _Step(f"no raises on the {street}", (street,), _capped(0))


def _fewer_bets(spot: Spot, street: StreetName, *, maximum: int) -> Iterator[_Step]:
    """Sizes that go on a street, one by one, until no player has more than the maximum."""
    sizes = [list(spot.bets.of(street, player).bet) for player in PLAYERS]
    decision = Decision(spot.pot, 0, spot.stack, 0, len(spot.streets) - spot.streets.index(street))

    def distance(size: Size) -> float:
        return abs(math.log(min(size.amount(decision), spot.stack) / spot.pot / TYPICAL[street]))

    while max(map(len, sizes)) > maximum:
        longest = max(sizes, key=len)
        size = max(longest, key=distance)
        betting = [player for player, each in zip(PLAYERS, sizes, strict=True) if size in each]
        players = [player for player in betting if len(sizes[PLAYERS.index(player)]) > 1]
        for player in players:
            sizes[PLAYERS.index(player)].remove(size)
        bettor = "" if players == betting else f" by {players[0]}"
        yield _Step(f"no bet of {size} on the {street}{bettor}", (street,), _without_bet(size, players))


def _without_donks(sizes: StreetSizes) -> StreetSizes:
    return replace(sizes, oop=replace(sizes.oop, donk=()))


def _capped(raises: int) -> Callable[[StreetSizes], StreetSizes]:
    def capped(sizes: StreetSizes) -> StreetSizes:
        return replace(sizes, max_raises=raises if sizes.max_raises is None else min(raises, sizes.max_raises))

    return capped


def _with_one_raise(sizes: StreetSizes) -> StreetSizes:
    def one_size(sizes: tuple[Size, ...]) -> tuple[Size, ...]:
        multiples = tuple(size for size in sizes if isinstance(size, LastBetMultiple))
        return (multiples or sizes)[:1]

    def of_player(sizes: PlayerSizes) -> PlayerSizes:
        return replace(sizes, raise_=one_size(sizes.raise_), reraise=tuple(map(one_size, sizes.reraise)))

    return replace(sizes, oop=of_player(sizes.oop), ip=of_player(sizes.ip))


def _without_bet(size: Size, players: Sequence[PlayerName]) -> Callable[[StreetSizes], StreetSizes]:
    """Without that size for these players, who keep it if there is no other."""

    def of_player(sizes: PlayerSizes, player: PlayerName) -> PlayerSizes:
        others = tuple(each for each in sizes.bet if each != size) or sizes.bet
        return replace(sizes, bet=others) if player in players else sizes

    return lambda sizes: replace(sizes, oop=of_player(sizes.oop, "oop"), ip=of_player(sizes.ip, "ip"))
