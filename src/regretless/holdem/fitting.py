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

__all__ = ["AppliedCut", "Shrunk", "check_fits", "shrink"]

TYPICAL = {"flop": 0.4, "turn": 0.7, "river": 0.7}  # share of the pot


@dataclass(frozen=True)
class AppliedCut:
    """A cut of a tree."""

    text: str  # "no donk bets"
    saves: int | None  # bytes; None: the tree before it is too large to count


@dataclass(frozen=True)
class Shrunk:
    """A spot with cuts that make it fit, or all cuts that there are."""

    spot: Spot
    cuts: tuple[AppliedCut, ...]
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

    cuts = _sufficient(spot, needed, limit)
    smallest = needed(_apply_all(spot.bets, cuts))
    if smallest is not None:  # if nothing makes it fit, keep only cuts needed for the smallest tree
        cuts = _necessary(spot, cuts, needed, max(limit, smallest))
    applied = []
    bets = spot.bets
    before = needed(bets)
    for cut in cuts:
        bets = cut.apply(bets)
        after = needed(bets)
        applied.append(AppliedCut(cut.text, None if before is None or after is None else before - after))
        before = after
    return Shrunk(replace(spot, bets=bets), tuple(applied), before, before is not None and before <= limit)


def _sufficient(spot: Spot, needed: Callable[[Bets], int | None], limit: int) -> list[_Cut]:
    """The first cuts that make the spot fit, or all that change anything."""
    cuts: list[_Cut] = []
    bets = spot.bets
    candidates = _candidate_cuts(spot)
    memory = needed(bets)
    while memory is None or memory > limit:
        cut = next(candidates, None)
        if cut is None:
            break
        smaller = cut.apply(bets)
        if smaller != bets:
            cuts.append(cut)
            bets = smaller
            memory = needed(bets)
    return cuts


def _necessary(spot: Spot, cuts: list[_Cut], needed: Callable[[Bets], int | None], limit: int) -> list[_Cut]:
    """These cuts without those that are not needed to stay within the limit; the last are examined first."""
    for cut in reversed(cuts):
        without = [each for each in cuts if each is not cut]
        memory = needed(_apply_all(spot.bets, without))
        if memory is not None and memory <= limit:
            cuts = without
    return cuts


def _hint(shrunk: Shrunk) -> str:
    if not shrunk.fits or shrunk.memory_bytes is None:
        return "start on a later street or with narrower ranges"
    cuts = listed([cut.text for cut in shrunk.cuts])
    return f"it fits with {cuts}, in {bytes_text(shrunk.memory_bytes)}"


# --- the cuts ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Cut:
    """A cut that may be tried."""

    text: str
    streets: tuple[StreetName, ...]
    on_street: Callable[[StreetSizes], StreetSizes]

    def apply(self, bets: Bets) -> Bets:
        return replace(bets, **{street: self.on_street(bets.of_street(street)) for street in self.streets})


def _apply_all(bets: Bets, cuts: list[_Cut]) -> Bets:
    """The bets after these cuts."""
    for cut in cuts:
        bets = cut.apply(bets)
    return bets


def _candidate_cuts(spot: Spot) -> Iterator[_Cut]:
    streets = tuple(reversed(spot.streets))
    yield _Cut("no donk bets", streets, _without_donks)
    yield _Cut("at most 2 raises per street", streets, _capped(2))
    yield _Cut("one raise size", streets, _with_one_raise)
    for street in streets:
        yield from _fewer_bets(spot, street, maximum=2)
    yield _Cut("at most 1 raise per street", streets, _capped(1))
    for street in streets:
        yield from _fewer_bets(spot, street, maximum=1)
    for street in streets:
        yield _Cut(f"no raises on the {street}", (street,), _capped(0))


def _fewer_bets(spot: Spot, street: StreetName, *, maximum: int) -> Iterator[_Cut]:
    """Cuts that remove bet sizes from a street, the least typical first, until no player has more than `maximum`."""
    sizes = {player: list(spot.bets.of(street, player).bet) for player in PLAYERS}
    decision = Decision(spot.pot, 0, spot.stack, 0, len(spot.streets) - spot.streets.index(street))

    def distance(size: Size) -> float:
        return abs(math.log(min(size.amount(decision), spot.stack) / spot.pot / TYPICAL[street]))

    while len(longest := max(sizes.values(), key=len)) > maximum:
        size = max(longest, key=distance)
        owners = [player for player in PLAYERS if size in sizes[player]]
        losers = [player for player in owners if len(sizes[player]) > 1]
        for player in losers:
            sizes[player].remove(size)
        loser = "" if losers == owners else f" by {losers[0]}"
        yield _Cut(f"no bet of {size} on the {street}{loser}", (street,), _without_bet(size, losers))


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
