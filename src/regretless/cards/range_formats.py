"""Weights of the 1,326 hands -> text for other programs; `range_reader` reads both formats back exactly.

    gto+       [50.0]AA-QQ,AKs[/50.0],T9s     percentages in brackets, runs of pairs and of kickers with a dash
    weights    0 0.5 1 …                      1,326 numbers in PioSOLVER's order (see `range_reader`)

The GTO+ format uses only what GTO+ itself exports: no "+", whose meaning differs between programs, and no runs of
connectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import RANKS
from regretless.cards.hands import HAND_CLASS, PIO_ORDER, class_index, hand_text
from regretless.cards.range_writer import weight_text

__all__ = ["write_gto_plus", "write_weights"]


def write_weights(weights: NDArray[np.float64]) -> str:
    """All weights in PioSOLVER's order, separated by spaces.

    >>> from regretless.cards.range_reader import read_range
    >>> write_weights(read_range("2d2c:0.5, 2h2d", "range"))[:11]
    '0.5 0 1 0 0'
    """
    return " ".join(weight_text(weight) for weight in weights[PIO_ORDER].tolist())


def write_gto_plus(weights: NDArray[np.float64]) -> str:
    """The text as GTO+ and Flopzilla write it, largest weights first.

    >>> from regretless.cards.range_reader import read_range
    >>> write_gto_plus(read_range("QQ+, ATs+:0.5, AhKd:0.125", "range"))
    'AA-QQ,[50.0]AKs-ATs[/50.0],[12.5]AhKd[/12.5]'
    """
    terms: dict[float, list[str]] = {}
    for line in _lines():
        run: list[str] = []
        previous = 0.0
        for name, cell in line:
            hands = np.flatnonzero(np.equal(HAND_CLASS, cell))
            weight = float(weights[hands[0]])
            whole = bool((weights[hands] == weight).all())
            if run and not (whole and weight == previous):
                terms.setdefault(previous, []).append(_joined(run))
                run = []
            if whole:
                run, previous = [*run, name], weight
            else:
                for hand in hands[::-1]:
                    terms.setdefault(float(weights[hand]), []).append(hand_text(int(hand)))
        if run:
            terms.setdefault(previous, []).append(_joined(run))
    texts = []
    for weight in sorted(terms.keys() - {0.0}, reverse=True):
        inside = ",".join(terms[weight])
        texts.append(inside if weight == 1 else f"[{_percent(weight)}]{inside}[/{_percent(weight)}]")
    return ",".join(texts)


def _lines() -> Iterator[list[tuple[str, int]]]:
    """Lines of classes that a dash can join, best first, as name and cell: pairs, then kickers of each high card."""
    yield [(RANKS[rank] * 2, class_index(rank, rank, suited=False)) for rank in range(12, -1, -1)]
    for ending in ("s", "o"):
        for high in range(12, 0, -1):
            yield [
                (RANKS[high] + RANKS[low] + ending, class_index(high, low, suited=ending == "s"))
                for low in range(high - 1, -1, -1)
            ]


def _joined(run: list[str]) -> str:
    return run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}"


def _percent(weight: float) -> str:
    """100 times a weight, by moving the decimal point of its shortest text, so that parsing gives the same number."""
    percent = Decimal(repr(weight)).scaleb(2)
    text = f"{percent:f}"
    if len(text) > 24:  # as in `weight_text`
        return f"{percent:e}"
    if "." not in text:
        return text + ".0"
    whole, digits = text.split(".")
    return f"{whole}.{digits.rstrip('0') or '0'}"
