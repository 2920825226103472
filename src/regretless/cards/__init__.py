"""Cards, hand strength, ranges, suit isomorphism and equity.

    deck          cards and boards as numbers and text
    hands         the 1,326 hands and their 169 classes
    evaluator     the strength of 5, 6 or 7 cards         (strength_tables: the lookup tables)
    ranges        weights of hands, from and to text      (range_reader: the grammar; range_writer: shortest text)
    isomorphism   boards that differ only in the names of the suits
    situations    hands on boards, up to the names of the suits, as numbers without gaps
    features      what tells hands of a street apart: the input of card abstraction
    equity        the share of the pot one range wins against another

Nothing here loads numba until strengths are first needed.
"""

from regretless.cards.deck import board_text, card_text, parse_board, parse_card
from regretless.cards.equity import Equity, equity, hand_equities
from regretless.cards.evaluator import category, evaluate, hand_strengths
from regretless.cards.hands import HAND_CARDS, HAND_CLASS, HAND_COUNT, hand_class, hand_index, hand_text
from regretless.cards.isomorphism import canonical_boards, canonical_situation, flop_index
from regretless.cards.ranges import Range

__all__ = [
    "HAND_CARDS", "HAND_CLASS", "HAND_COUNT", "Equity", "Range", "board_text", "canonical_boards",
    "canonical_situation", "card_text", "category", "equity", "evaluate", "flop_index", "hand_class", "hand_equities",
    "hand_index", "hand_strengths", "hand_text", "parse_board", "parse_card",
]  # fmt: skip
