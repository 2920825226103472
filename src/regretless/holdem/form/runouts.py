"""From a spot, or a board, two ranges and a betting tree, to the public form: hands, runouts, blockers, strengths.

1. A player's hands are those in the range that the board does not block.
2. The renamings of suits that preserve the board (as a set) and both ranges form a group G. Deals that G maps to one
   another are equivalent: one represents all, and its copies are the renamings that give the others.
3. After a deal, the group shrinks to the renamings that leave the deal unchanged, and the next street uses those.
4. The value of copy π of a runout to hand h is the value of the runout to hand π⁻¹(h).
5. On a runout, hands that its group exchanges are equivalent; the first of them represents all.

Where both players have the same range, they have the same arrays too, so that engines can use one for both.

With n cards in the deck besides the board and both hands, each deal of k cards has probability 1 / C(n, k). If only
some flops are dealt, with weights that sum to W, a flop of weight w has probability w / W · C(52, 3) / C(n, 3), shared
by its copies: over both players' hands, each flop comes as often as its weight says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import DECK, board_text
from regretless.cards.evaluator import evaluate, hand_strengths
from regretless.cards.hands import HAND_CARDS, blocked_by
from regretless.cards.isomorphism import CARD_MAPS, distinct_boards, hand_maps
from regretless.cards.ranges import Range
from regretless.errors import InvalidOption
from regretless.forms.betting import poker_payoffs
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import DEAD, BettingTree, Hands, Payoffs, PublicForm, Street, Symmetry
from regretless.holdem.form.betting import Betting, betting_of
from regretless.holdem.form.suits import distinct_cards, spot_group, suit_group
from regretless.holdem.spots.spot import Spot
from regretless.reprs import brief

__all__ = [
    "SpotParts", "compile_holdem", "compile_spot", "hands_of", "holdem_hands", "parts_of", "runout_boards",
    "spot_hands",
]  # fmt: skip

FLOP = 3  # cards

OfPlayer = TypeVar("OfPlayer")


@dataclass(frozen=True)
class SpotParts:
    """What both the size of a spot and its form are computed from."""

    betting: Betting
    group: IntArray  # `spot_group`
    hand_numbers: tuple[IntArray, IntArray]  # `spot_hands`

    __repr__ = brief


def parts_of(spot: Spot) -> SpotParts:
    """The parts of a spot; a problem finds them once."""
    return SpotParts(betting_of(spot), spot_group(spot), spot_hands(spot))


def compile_spot(spot: Spot, parts: SpotParts | None = None) -> PublicForm:
    """The public form of a spot: betting tree × runouts × hands.

    `parts` are `parts_of(spot)`, if they are known already.
    """
    parts = parts_of(spot) if parts is None else parts
    betting, deals = parts.betting, (1,) * (5 - len(spot.board))
    ranges, name = (spot.ip, spot.oop), spot.name or "spot"
    return _compile(
        spot.board, ranges, parts.hand_numbers, betting.tree, betting.payoffs, deals, parts.group, name=name
    )


def compile_holdem(
    board: Sequence[int],
    ip: Range,
    oop: Range,
    tree: BettingTree,
    *,
    payoffs: Payoffs | None = None,
    deals: Sequence[int] | None = None,
    flops: Mapping[tuple[int, ...], float] | None = None,
    flops_weight: float | None = None,
    group: IntArray | None = None,
    name: str = "",
) -> PublicForm:
    """The public form of a betting tree on a board, from the deal if it is empty; player 0 is `ip`, player 1 `oop`.

    `payoffs` are those of the tree, by default without rake. `deals` says how many cards each street after the first
    adds; None means one card until there are five, as in hold'em. `flops` are those that can come if not all do, each
    standing for its class, with their weights; for a game from the deal. `flops_weight` is the sum of the weights, if
    these are not all flops of the game. `group` has the allowed renamings of suits, rows of `SUIT_PERMUTATIONS`; None
    means all that fit.

    >>> from regretless.cards.deck import parse_board
    >>> from regretless.forms.betting import Branch, flatten
    >>> from regretless.forms.public import NodeKind
    >>> showdown = Branch(NodeKind.SHOWDOWN, (0.0, 0.0))
    >>> river = Branch(NodeKind.CHANCE, (0.0, 0.0), children={"": showdown})
    >>> turn = Branch(NodeKind.CHANCE, (0.0, 0.0), children={"": river})
    >>> form = compile_holdem(parse_board("Qs Jh 2h"), Range.parse("AA"), Range.parse("KK"), flatten(turn))
    >>> [len(street.parent) for street in form.streets], float(form.streets[1].probability[0])
    ([1, 36, 1429], 0.022222222222222223)
    """
    if deals is None:
        deals = (1,) * (5 - len(board))
    if group is None:
        group = suit_group(board, ip, oop)
    if payoffs is None:
        payoffs = poker_payoffs(tree)
    hands, name = _hand_numbers(board, ip, oop), name or f"holdem({board_text(board)})"
    return _compile(
        board, (ip, oop), hands, tree, payoffs, deals, group, name=name, flops=flops, flops_weight=flops_weight
    )


def _compile(
    board: Sequence[int],
    ranges: tuple[Range, Range],
    hands: tuple[IntArray, IntArray],
    tree: BettingTree,
    payoffs: Payoffs,
    deals: Sequence[int],
    group: IntArray,
    name: str,
    flops: Mapping[tuple[int, ...], float] | None = None,
    flops_weight: float | None = None,
) -> PublicForm:
    permutations = _of_both(hands, lambda player: _permutations(group, hands[player]))
    streets, boards, stabilisers = _deal(tuple(board), group, deals, hands, flops, flops_weight)
    strengths, dead = _strengths(boards), streets[-1].dead
    return PublicForm(
        name=name,
        deck=DECK,
        tree=tree,
        streets=streets,
        hands=hands_of(hands, *ranges),
        payoffs=payoffs,
        permutations=permutations,
        symmetry=_symmetry(group, stabilisers, permutations),
        strength=_of_both(hands, lambda player: np.where(dead[player], np.int16(DEAD), strengths[:, hands[player]])),
    )


def _hand_numbers(board: Sequence[int], ip: Range, oop: Range) -> tuple[IntArray, IntArray]:
    """Which of the 1,326 hands each player can hold; one array if the ranges are equal."""
    first = holdem_hands(board, ip)
    return first, first if ip == oop else holdem_hands(board, oop)


def _of_both(hands: tuple[IntArray, IntArray], make: Callable[[int], OfPlayer]) -> tuple[OfPlayer, OfPlayer]:
    """`make(player)` of both players; called once, if `_hand_numbers` returned one array for both."""
    first = make(0)
    return first, first if hands[1] is hands[0] else make(1)


def holdem_hands(board: Sequence[int], hand_range: Range) -> IntArray:
    """Which of the 1,326 hands a player can hold: in the range and not blocked by the board.

    >>> len(holdem_hands((0, 1, 2), Range.parse("22, 33")))
    6
    """
    return np.flatnonzero((hand_range.weights > 0) & ~blocked_by(board))


def spot_hands(spot: Spot) -> tuple[IntArray, IntArray]:
    """Which of the 1,326 hands each player can hold in a spot."""
    return _hand_numbers(spot.board, spot.ip, spot.oop)


def runout_boards(form: PublicForm, board: Sequence[int]) -> list[NDArray[np.uint8]]:
    """[runouts, cards] the whole board of every runout, street by street; `board` is that of the root."""
    boards = [np.array([board], dtype=np.uint8)]
    for street in form.streets[1:]:
        boards.append(np.hstack([boards[-1][street.parent], street.cards.astype(np.uint8)]))
    return boards


def hands_of(hand_numbers: tuple[IntArray, IntArray], ip: Range, oop: Range) -> tuple[Hands, Hands]:
    """The hands of both players, with their weights in the ranges."""

    def of(player: int) -> Hands:
        own, other = hand_numbers[player], hand_numbers[1 - player]
        same = np.arange(len(own), dtype=np.int16)
        if other is not own:
            position = np.full(len(HAND_CARDS), -1, dtype=np.int16)
            position[other] = np.arange(len(other), dtype=np.int16)
            same = position[own]
        cards = HAND_CARDS.take(own, axis=0).astype(np.int16)
        return Hands(weight=(ip, oop)[player].weights[own], cards=cards, same=same)

    return _of_both(hand_numbers, of)


def _permutations(group: IntArray, hand_numbers: IntArray) -> IntArray:
    """[G, H] position of π⁻¹(h) for each renaming π of the group and each hand h."""
    hands = np.arange(len(hand_numbers), dtype=np.int16)
    inverse = np.empty((len(group), len(hand_numbers)), dtype=np.int16)
    inverse[0] = hands  # the identity
    if len(group) == 1:
        return inverse
    position = np.empty(len(HAND_CARDS), dtype=np.int16)
    position[hand_numbers] = hands
    for row, renaming in zip(inverse[1:], group[1:].tolist(), strict=True):
        row[position.take(hand_maps()[renaming].take(hand_numbers))] = hands
    return inverse


def _deal(
    board: tuple[int, ...],
    group: IntArray,
    deals: Sequence[int],
    hands: tuple[IntArray, IntArray],
    flops: Mapping[tuple[int, ...], float] | None,
    flops_weight: float | None,
) -> tuple[tuple[Street, ...], list[tuple[int, ...]], list[tuple[int, ...]]]:
    """The runouts of every street, the full boards of the last, and the sets of rows of `group` that fix a runout."""
    # (cards on the board, rows of `group` that leave them unchanged)
    runouts: list[tuple[tuple[int, ...], IntArray]] = [(board, np.arange(len(group)))]
    numbers: dict[tuple[int, ...], int] = {(0,): 0}  # of the sets of rows, in the order they occur

    def numbered() -> list[int]:
        return [numbers.setdefault(tuple(stabiliser.tolist()), len(numbers)) for _, stabiliser in runouts]

    alive = _of_both(hands, lambda player: np.zeros((1, len(hands[player])), dtype=np.bool_))
    streets = [_street([()], [0], [[0]], np.ones(1), numbered(), alive)]
    left = DECK - len(board) - 4
    flop_weights: FloatArray | None = None
    for count in deals:
        dealt: list[tuple[int, ...]] = []
        parents: list[int] = []
        copies: list[list[int]] = []
        following: list[tuple[tuple[int, ...], IntArray]] = []
        for parent, (table, stabiliser) in enumerate(runouts):
            cards, images = _distinct_deals(count, table, group[stabiliser])
            if flops is not None and count == FLOP:  # the first deal, so it has one parent
                weights = _flop_weights(flops, images)
                rows = np.flatnonzero(weights).tolist()
                cards, images, flop_weights = [cards[row] for row in rows], images[:, rows], weights[rows]
            unmoved = images == images[0]  # row 0 is the identity
            for number, deal in enumerate(cards):
                dealt.append(deal)
                parents.append(parent)
                copies.append(stabiliser[_first_rows(images[:, number])].tolist())
                following.append(((*table, *deal), stabiliser[unmoved[:, number]]))
        runouts = following
        dead = _dead([table for table, _ in runouts], hands)
        probability = np.full(len(dealt), 1.0 / comb(left, count))
        if flop_weights is not None and count == FLOP:
            total = sum(flop_weights) if flops_weight is None else flops_weight
            probability *= flop_weights / list(map(len, copies)) * (comb(DECK, FLOP) / total)
        streets.append(_street(dealt, parents, copies, probability, numbered(), dead))
        left -= count
    return _with_children(streets), [table for table, _ in runouts], list(numbers)


def _distinct_deals(count: int, dead: Sequence[int], group: IntArray) -> tuple[list[tuple[int, ...]], IntArray]:
    """One deal of each class of equivalent ones, and [G, deals] the set of cards that each renaming makes of it."""
    if count == 1:
        cards = distinct_cards(dead, group)
        return [(card,) for card in cards.tolist()], CARD_MAPS[group[:, None], cards].astype(np.int64)
    deals = distinct_boards(count, dead=dead, group=group).cards
    images = np.sort(CARD_MAPS[group][:, deals], axis=2).astype(np.int64)
    return [tuple(cards) for cards in deals.tolist()], images @ DECK ** np.arange(count)


def _flop_weights(flops: Mapping[tuple[int, ...], float], images: IntArray) -> FloatArray:
    """[deals] the weight of each class of flops, of which any may be listed."""
    weights = np.zeros(images.shape[1])
    for flop, weight in flops.items():
        classes = (images == np.sort(flop) @ DECK ** np.arange(FLOP)).any(axis=0)
        if not classes.any():
            raise InvalidOption("flops", board_text(flop), "is not a flop that can be dealt")
        weights[classes] += weight
    return weights


def _first_rows(images: IntArray) -> IntArray:
    """The first row with each value, in rising order."""
    return np.arange(1) if len(images) == 1 else np.sort(np.unique(images, return_index=True)[1])


def _symmetry(group: IntArray, stabilisers: list[tuple[int, ...]], permutations: tuple[IntArray, IntArray]) -> Symmetry:
    """Step 5: the representatives, the lowest card and the first hand that each set of renamings exchanges."""

    def lowest_images(images: NDArray[np.integer]) -> IntArray:
        """[sets, …] the lowest image of each card or hand in each set; `images` [G, …] are those of all renamings."""
        lowest = np.empty((len(stabilisers), images.shape[1]), dtype=np.int16)
        for row, stabiliser in zip(lowest, stabilisers, strict=True):
            row[:] = images[stabiliser[0]] if len(stabiliser) == 1 else images[list(stabiliser)].min(axis=0)
        return lowest

    return Symmetry(
        lowest_images(CARD_MAPS[group]), _of_both(permutations, lambda player: lowest_images(permutations[player]))
    )


def _dead(
    tables: list[tuple[int, ...]], hands: tuple[IntArray, IntArray]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """[tables, H] per player: hands that the cards of each table block."""
    blocked = np.zeros((len(tables), DECK), dtype=np.bool_)
    blocked[np.arange(len(tables))[:, None], np.array(tables, dtype=np.int64)] = True
    cards = HAND_CARDS.T
    return _of_both(hands, lambda player: blocked[:, cards[0, hands[player]]] | blocked[:, cards[1, hands[player]]])


def _street(
    dealt: list[tuple[int, ...]],
    parents: list[int],
    copies: list[list[int]],
    probability: FloatArray,
    symmetry: list[int],
    dead: tuple[NDArray[np.bool_], NDArray[np.bool_]],
) -> Street:
    return Street(
        cards=np.array(dealt, dtype=np.int8).reshape(len(dealt), -1),
        parent=np.array(parents, dtype=np.int32),
        first_child=np.zeros(len(dealt) + 1, dtype=np.int32),
        probability=probability,
        first_copy=np.cumsum([0, *map(len, copies)]).astype(np.int32),
        copies=np.array([row for rows in copies for row in rows], dtype=np.int16),
        symmetry=np.array(symmetry, dtype=np.int32),
        dead=dead,
    )


def _with_children(streets: list[Street]) -> tuple[Street, ...]:
    """The same streets, with links from each runout to its runouts on the next."""
    for street, following in pairwise(streets):
        street.first_child[:] = np.searchsorted(following.parent, np.arange(len(street.first_child)))
    return tuple(streets)


def _strengths(boards: list[tuple[int, ...]]) -> NDArray[np.int16]:
    """[F, 1326] strength of every hand on every final board of five cards, or three (flop hold'em)."""
    table = np.array(boards, dtype=np.uint8)
    if table.shape[1] == 5:
        return hand_strengths(table)
    if table.shape[1] != 3:
        raise InvalidOption("deals", table.shape[1], "cards on the last street; showdown needs three or five")
    strengths = np.full((len(table), len(HAND_CARDS)), DEAD, dtype=np.int16)
    for row, cards in enumerate(table):
        live = ~blocked_by(cards)
        hands = HAND_CARDS[live]
        strengths[row, live] = evaluate(np.hstack([np.broadcast_to(cards, (len(hands), 3)), hands]))
    return strengths
