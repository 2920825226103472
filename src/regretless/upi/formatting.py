"""Text of UPI answers: rows of 1,326 numbers in the protocol's order, nodes, results, tables and errors."""

from __future__ import annotations

from collections.abc import Sequence
from traceback import print_exception

import numpy as np

from regretless.cards.deck import card_text
from regretless.cards.hands import HAND_COUNT, PIO_ORDER, hand_text
from regretless.engines import Evaluation
from regretless.errors import RegretlessError
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import NodeKind
from regretless.holdem.spots.sizes import exact, number_text
from regretless.holdem.spots.spot import Spot
from regretless.holdem.spots.spot_fields import IP, OOP, PLAYERS
from regretless.upi.node_ids import TreeNode

__all__ = [
    "HAND_ORDER", "chips", "error_text", "from_row", "node_text", "number", "results_text", "row_text",
    "spread_to_all_hands", "table_text", "tree_info",
]  # fmt: skip

HAND_ORDER = " ".join(hand_text(int(hand)) for hand in PIO_ORDER)
KINDS = {NodeKind.CHANCE: "SPLIT_NODE", NodeKind.FOLD: "END_NODE", NodeKind.SHOWDOWN: "END_NODE"}


def chips(amount: float) -> str:
    return number_text(exact(float(amount)))


def number(value: float) -> str:
    """A number with enough digits to read it back as a 32-bit one.

    >>> number(0.5), number(1 / 3), number(float("nan")), number(-0.0)
    ('0.5', '0.333333333', 'nan', '0')
    """
    return f"{value + 0.0:.9g}"


def row_text(values: FloatArray) -> str:
    """A number for each of our 1,326 hands, in the protocol's order."""
    return " ".join(map(number, values[PIO_ORDER].tolist()))


def from_row(values: Sequence[float]) -> FloatArray:
    """The numbers of our 1,326 hands, from the protocol's order."""
    ours = np.empty(HAND_COUNT)
    ours[PIO_ORDER] = values
    return ours


def spread_to_all_hands(hands: IntArray, values: FloatArray, missing: float = 0.0) -> FloatArray:
    """Values of some hands as those of all 1,326."""
    row = np.full(HAND_COUNT, missing)
    row[hands] = values
    return row


def node_text(node: TreeNode, spot: Spot, *, locked: bool, root: bool = False) -> str:
    """The six lines of a node; `root`: describe the artificial root node above the first decision."""
    paid = node.tree.paid[node.index]
    kind = "ROOT" if root else KINDS.get(node.kind) or f"{PLAYERS[node.player].upper()}_DEC"
    children = 1 if root else len(node.children(spot.board))
    return "\n".join(
        [
            "r" if root else node.name,
            kind,
            " ".join(map(card_text, (*spot.board, *node.cards))),
            f"{chips(paid[OOP])} {chips(paid[IP])} {chips(spot.pot)}",
            "1 child" if children == 1 else f"{children} children",
            "flags: LOCKED" if locked else "flags:",
        ]
    )


def results_text(seconds: float, evaluation: Evaluation) -> str:
    """Values, values of the best responses ("maximally exploitative strategies"), and exploitability, in chips."""
    rows = {
        "running time": seconds,
        "EV OOP": evaluation.values[OOP],
        "EV IP": evaluation.values[IP],
        "OOP's MES": evaluation.best_response_values[OOP],
        "IP's MES": evaluation.best_response_values[IP],
        "Exploitable for": evaluation.exploitability,
    }
    return "\n".join(f"{name}: {value:.6f}" for name, value in rows.items())


def table_text(hands: IntArray, columns: Sequence[FloatArray], order: FloatArray) -> str:
    """A line per hand, those with the largest `order` first."""
    rows = np.argsort(-np.nan_to_num(order, nan=-np.inf), kind="stable")
    return "\n".join(
        f"{hand_text(int(hands[row]))}: {' '.join(number(float(column[row])) for column in columns)}" for row in rows
    )


def tree_info(spot: Spot) -> list[str]:
    """The lines that PioViewer would store with a tree; used for trees loaded without any."""
    fields = {
        "Type": "NoLimit",
        "Range0": str(spot.oop).replace(" ", ""),
        "Range1": str(spot.ip).replace(" ", ""),
        "Board": " ".join(map(card_text, spot.board)),
        "Pot": chips(spot.pot),
        "EffectiveStacks": chips(spot.stack),
    }
    return [f"#{name}#{value}" for name, value in fields.items()]


def error_text(error: Exception) -> str:
    """An error on one line; the traceback of an unexpected one goes to stderr.

    >>> error_text(MemoryError()), error_text(RegretlessError("there is no tree"))
    ('not enough memory', 'there is no tree')
    """
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return text or "not enough memory"
    if isinstance(error, RegretlessError | OSError | UnicodeError):
        return text
    print_exception(error)
    return f"unexpected {type(error).__name__}: {text}".removesuffix(": ")
