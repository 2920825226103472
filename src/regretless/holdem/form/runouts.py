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

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb
from typing import NamedTuple, TypeVar

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
    "FLOP", "SpotParts", "compile_holdem", "compile_spot", "hands_of", "holdem_hands", "parts_of", "runout_boards",
    "spot_hands",
]  # fmt: skip

FLOP = 3  # cards
HOLE_CARDS = 4  # of both players

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
    betting, name = parts.betting, spot.name or "spot"
    return compile_holdem(
        spot.board, spot.ip, spot.oop, betting.tree, payoffs=betting.payoffs, group=parts.group, name=name
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
    hands = _hand_numbers(board, ip, oop)
    permutations = _of_both(hands, lambda player: _permutations(group, hands[player]))
    flop_weights = None if flops is None else _FlopWeights(flops, flops_weight)
    runouts = _deal_streets(tuple(board), group, deals, flop_weights)
    stabilisers, symmetry = _number_stabilisers(runouts)
    streets = _streets(runouts, symmetry, hands, _probabilities(runouts, flop_weights))
    strengths, dead = _strengths(runouts[-1]), streets[-1].dead
    return PublicForm(
        name=name or f"holdem({board_text(board)})",
        deck=DECK,
        tree=tree,
        streets=streets,
        hands=hands_of(hands, ip, oop),
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

    def hands_of_player(player: int) -> Hands:
        own, other = hand_numbers[player], hand_numbers[1 - player]
        position = np.full(len(HAND_CARDS), -1, dtype=np.int16)  # among the other player's hands
        position[other] = np.arange(len(other), dtype=np.int16)
        cards = HAND_CARDS.take(own, axis=0).astype(np.int16)
        return Hands(weight=(ip, oop)[player].weights[own], cards=cards, same=position[own])

    return _of_both(hand_numbers, hands_of_player)


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


# --- steps 2 to 4: the runouts ---------------------------------------------------------------------------------------


class _FlopWeights(NamedTuple):
    """The flops that can come, if not all do."""

    weight_of: Mapping[tuple[int, ...], float]  # each flop stands for its class
    total: float | None  # the sum of the weights of all flops of the game; None if they are all here


class _SolvedRunout(NamedTuple):
    """A deal that represents all equivalent ones. The root's is the board itself, with no cards dealt."""

    board: tuple[int, ...]  # all cards so far
    stabiliser: IntArray  # rows of the group that leave the board unchanged
    copies: IntArray  # rows of the group that lead to the equivalent deals, the identity first
    cards: tuple[int, ...] = ()  # dealt on this street
    parent: int = 0  # runout of the street before
    weight: float = 1.0  # of the class, if it is a listed flop


def _deal_streets(
    board: tuple[int, ...], group: IntArray, deals: Sequence[int], flop_weights: _FlopWeights | None
) -> list[list[_SolvedRunout]]:
    """The runouts of every street; children of one parent are adjacent."""
    streets = [[_SolvedRunout(board, stabiliser=np.arange(len(group)), copies=np.zeros(1, dtype=np.int64))]]
    for count in deals:
        street: list[_SolvedRunout] = []
        for number, parent in enumerate(streets[-1]):
            street.extend(_deal_after(parent, number, count, group, flop_weights))
        streets.append(street)
    return streets


def _deal_after(
    parent: _SolvedRunout, number: int, count: int, group: IntArray, flop_weights: _FlopWeights | None
) -> Iterator[_SolvedRunout]:
    """The runouts that deal `count` more cards after runout `number` of the street before."""
    deals, images = _distinct_deals(count, parent.board, group[parent.stabiliser])
    weights = np.ones(len(deals))
    if flop_weights is not None and count == FLOP:
        weights = _class_weights(flop_weights.weight_of, images)
    unmoved = images == images[0]  # row 0 is the identity
    for column in np.flatnonzero(weights).tolist():
        yield _SolvedRunout(
            board=(*parent.board, *deals[column]),
            stabiliser=parent.stabiliser[unmoved[:, column]],
            copies=parent.stabiliser[_first_rows(images[:, column])],
            cards=deals[column],
            parent=number,
            weight=float(weights[column]),
        )


def _distinct_deals(count: int, dead: Sequence[int], group: IntArray) -> tuple[list[tuple[int, ...]], IntArray]:
    """One deal of each class of equivalent ones, and [G, deals] the set of cards that each renaming makes of it."""
    if count == 1:
        cards = distinct_cards(dead, group)
        return [(card,) for card in cards.tolist()], CARD_MAPS[group[:, None], cards].astype(np.int64)
    deals = distinct_boards(count, dead=dead, group=group).cards
    images = np.sort(CARD_MAPS[group][:, deals], axis=2).astype(np.int64)
    return [tuple(cards) for cards in deals.tolist()], images @ DECK ** np.arange(count)


def _class_weights(weight_of: Mapping[tuple[int, ...], float], images: IntArray) -> FloatArray:
    """[deals] the weight of each class of flops; any flop of a class may be listed."""
    weights = np.zeros(images.shape[1])
    for flop, weight in weight_of.items():
        classes = (images == np.sort(flop) @ DECK ** np.arange(FLOP)).any(axis=0)
        if not classes.any():
            raise InvalidOption("flops", board_text(flop), "is not a flop that can be dealt")
        weights[classes] += weight
    return weights


def _first_rows(images: IntArray) -> IntArray:
    """The first row with each value, in rising order."""
    return np.arange(1) if len(images) == 1 else np.sort(np.unique(images, return_index=True)[1])


def _probabilities(runouts: list[list[_SolvedRunout]], flop_weights: _FlopWeights | None) -> list[FloatArray]:
    """[R] per street: the probability of a single deal, given hands that it does not block."""
    probabilities = [np.ones(1)]
    for previous, street in pairwise(runouts):
        unseen, count = DECK - len(previous[0].board) - HOLE_CARDS, len(street[0].cards)
        probability = np.full(len(street), 1.0 / comb(unseen, count))
        if flop_weights is not None and count == FLOP:
            weights = np.array([runout.weight for runout in street])
            copies = np.array([len(runout.copies) for runout in street])
            total = sum(weights) if flop_weights.total is None else flop_weights.total
            probability *= weights / copies * (comb(DECK, FLOP) / total)
        probabilities.append(probability)
    return probabilities


def _streets(
    runouts: list[list[_SolvedRunout]],
    symmetry: list[IntArray],
    hands: tuple[IntArray, IntArray],
    probabilities: list[FloatArray],
) -> tuple[Street, ...]:
    """The arrays of every street."""
    parents = [np.array([runout.parent for runout in street], dtype=np.int32) for street in runouts]
    next_parents = [*parents[1:], np.zeros(0, dtype=np.int32)]
    streets = []
    for number, street in enumerate(runouts):
        copies = [runout.copies for runout in street]
        first_child = np.searchsorted(next_parents[number], np.arange(len(street) + 1))
        streets.append(
            Street(
                cards=np.array([runout.cards for runout in street], dtype=np.int8),
                parent=parents[number],
                first_child=first_child.astype(np.int32),
                probability=probabilities[number],
                first_copy=np.cumsum([0, *map(len, copies)]).astype(np.int32),
                copies=np.concatenate(copies).astype(np.int16),
                symmetry=symmetry[number],
                dead=_dead(street, hands),
            )
        )
    return tuple(streets)


def _dead(street: list[_SolvedRunout], hands: tuple[IntArray, IntArray]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """[R, H] per player: hands that the cards of each runout block."""
    blocked = np.zeros((len(street), DECK), dtype=np.bool_)
    boards = np.array([runout.board for runout in street], dtype=np.int64)
    blocked[np.arange(len(street))[:, None], boards] = True
    cards = HAND_CARDS.T
    return _of_both(hands, lambda player: blocked[:, cards[0, hands[player]]] | blocked[:, cards[1, hands[player]]])


# --- step 5: equivalent hands on a runout ----------------------------------------------------------------------------


def _number_stabilisers(runouts: list[list[_SolvedRunout]]) -> tuple[list[tuple[int, ...]], list[IntArray]]:
    """The different stabilisers, the identity alone first; and per street, [R] the number of each runout's."""
    number_of: dict[tuple[int, ...], int] = {(0,): 0}
    numbers = []
    for street in runouts:
        stabilisers = [tuple(runout.stabiliser.tolist()) for runout in street]
        for stabiliser in stabilisers:
            number_of.setdefault(stabiliser, len(number_of))
        numbers.append(np.array([number_of[stabiliser] for stabiliser in stabilisers], dtype=np.int32))
    return list(number_of), numbers


def _symmetry(group: IntArray, stabilisers: list[tuple[int, ...]], permutations: tuple[IntArray, IntArray]) -> Symmetry:
    """The representatives: the lowest card and the first hand among those that each stabiliser exchanges."""
    return Symmetry(
        _lowest_images(CARD_MAPS[group], stabilisers),
        _of_both(permutations, lambda player: _lowest_images(permutations[player], stabilisers)),
    )


def _lowest_images(images: NDArray[np.integer], stabilisers: list[tuple[int, ...]]) -> IntArray:
    """[stabilisers, …] the lowest image of each card or hand; `images` [G, …] are those under all renamings."""
    lowest = np.empty((len(stabilisers), images.shape[1]), dtype=np.int16)
    for row, stabiliser in zip(lowest, stabilisers, strict=True):
        row[:] = images[stabiliser[0]] if len(stabiliser) == 1 else images[list(stabiliser)].min(axis=0)
    return lowest


# --- the showdown ----------------------------------------------------------------------------------------------------


def _strengths(last_street: list[_SolvedRunout]) -> NDArray[np.int16]:
    """[R, 1326] strength of every hand on every final board of five cards, or three (flop hold'em)."""
    boards = np.array([runout.board for runout in last_street], dtype=np.uint8)
    if boards.shape[1] == 5:
        return hand_strengths(boards)
    if boards.shape[1] != 3:
        raise InvalidOption("deals", boards.shape[1], "cards on the last street; showdown needs three or five")
    strengths = np.full((len(boards), len(HAND_CARDS)), DEAD, dtype=np.int16)
    for row, cards in enumerate(boards):
        live = ~blocked_by(cards)
        hands = HAND_CARDS[live]
        strengths[row, live] = evaluate(np.hstack([np.broadcast_to(cards, (len(hands), 3)), hands]))
    return strengths
