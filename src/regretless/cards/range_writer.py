"""Weights of the 1,326 hands -> the shortest text, near enough, that `range_reader` reads back to them.

For each weight, the classes whose hands all have it are covered by terms:

1. Candidate terms: every single class (`AKs`); every maximal run of pairs, of kickers under one high card and of one
   gap (`22+`, `A5s-A2s`, `76s+`), each for suited, offsuit and both (`AK`); and `100%`. A shorter run costs as much as
   the maximal run that contains it, so no other run can help.
2. Choosing the terms of least total length is a weighted set cover. Greedily take the term with the least length per
   newly covered class until all are covered, then drop redundant terms.
3. Local search: try removing each chosen term, and starting from each run not chosen (step 2 again), until no change
   makes the text shorter. Tests compare the length with the optimum found by integer programming.

Terms never override one another, so their order does not matter. Hands of a class with several weights are written
one by one.

Two more formats are for other programs; `range_reader` reads them back exactly too:

    gto+       [50.0]AA-QQ,AKs[/50.0],T9s     percentages in brackets, runs of pairs and of kickers with a dash
    weights    0 0.5 1 …                      1,326 numbers in PioSOLVER's order (see `range_reader`)

The GTO+ format uses only what GTO+ itself exports: no "+", whose meaning differs between programs, and no runs of
connectors.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import RANKS
from regretless.cards.hands import HAND_CLASS, PIO_ORDER, class_index, hand_text

__all__ = ["write_gto_plus", "write_range", "write_weights"]

EVERY_CELL = (1 << 169) - 1
MAX_LENGTH = 24  # characters of a weight; beyond, it is written with an exponent


class _Term(NamedTuple):
    text: str
    cells: int  # classes it covers: bit i for cell i of the grid


def write_range(weights: NDArray[np.float64]) -> str:
    """Shortest text of these weights; empty when all are 0.

    >>> from regretless.cards.range_reader import read_range
    >>> write_range(read_range("AKs, AKo, 22, 33, 44+, A2s, A3s, A4s, A5s, QJo:0.50", "range"))
    '22+,AK,A5s-A2s,QJo:0.5'
    """
    cells_by_weight: dict[float, int] = {}
    hands_by_weight: dict[float, list[int]] = {}
    for cell in range(169):
        weight = _common_weight(weights, cell)
        if weight is not None:
            cells_by_weight[weight] = cells_by_weight.get(weight, 0) | 1 << cell
        else:
            for hand in _hands_of_cells()[cell][::-1].tolist():
                hands_by_weight.setdefault(float(weights[hand]), []).append(hand)
    texts = []
    for weight in sorted({*cells_by_weight, *hands_by_weight} - {0.0}, reverse=True):
        suffix = "" if weight == 1 else ":" + _weight_text(weight)
        terms = _shortest_cover(cells_by_weight.get(weight, 0), overhead=1 + len(suffix))
        texts += [term.text + suffix for term in sorted(terms, key=_reading_order)]
        texts += [hand_text(hand) + suffix for hand in hands_by_weight.get(weight, [])]
    return ",".join(texts)


def write_weights(weights: NDArray[np.float64]) -> str:
    """All weights in PioSOLVER's order, separated by spaces."""
    return " ".join(_weight_text(weight) for weight in weights[PIO_ORDER].tolist())


def write_gto_plus(weights: NDArray[np.float64]) -> str:
    """The text as GTO+ and Flopzilla write it, largest weights first.

    >>> from regretless.cards.range_reader import read_range
    >>> write_gto_plus(read_range("QQ+, ATs+:0.5, AhKd:0.125", "range"))
    'AA-QQ,[50.0]AKs-ATs[/50.0],[12.5]AhKd[/12.5]'
    """
    lines = [[(rank, rank, "") for rank in range(12, -1, -1)]]
    lines += [[(high, low, end) for low in range(high - 1, -1, -1)] for end in "so" for high in range(12, 0, -1)]
    terms: dict[float, list[str]] = {}
    for line in lines:
        classes = [(RANKS[high] + RANKS[low] + end, class_index(high, low, end == "s")) for high, low, end in line]
        for common, run in groupby(classes, key=lambda named: _common_weight(weights, named[1])):
            names, cells = zip(*run, strict=True)
            if common is not None:
                terms.setdefault(common, []).append(names[0] if len(names) == 1 else f"{names[0]}-{names[-1]}")
                continue
            for hand in (hand for cell in cells for hand in _hands_of_cells()[cell][::-1].tolist()):
                terms.setdefault(float(weights[hand]), []).append(hand_text(hand))
    texts = []
    for weight in sorted(terms.keys() - {0.0}, reverse=True):
        inside = ",".join(terms[weight])
        texts.append(inside if weight == 1 else f"[{_percent(weight)}]{inside}[/{_percent(weight)}]")
    return ",".join(texts)


def _weight_text(weight: float) -> str:
    """A weight as typed; a tiny one is written with an exponent to keep the text short."""
    text = np.format_float_positional(weight, trim="-")
    return text if len(text) <= MAX_LENGTH else repr(float(weight))


def _percent(weight: float) -> str:
    """100 times a weight, by moving the decimal point of its shortest text, so that parsing gives the same number."""
    percent = Decimal(repr(weight)).scaleb(2)
    text = f"{percent:f}"
    if len(text) > MAX_LENGTH:
        return f"{percent:e}"
    if "." not in text:
        return text + ".0"
    whole, digits = text.split(".")
    return f"{whole}.{digits.rstrip('0') or '0'}"


def _common_weight(weights: NDArray[np.float64], cell: int) -> float | None:
    """The weight of all hands of a class; None if they differ."""
    present = set(weights[_hands_of_cells()[cell]].tolist())
    return present.pop() if len(present) == 1 else None


@cache
def _hands_of_cells() -> list[NDArray[np.int64]]:
    return [np.flatnonzero(np.equal(HAND_CLASS, cell)) for cell in range(169)]


def _reading_order(term: _Term) -> tuple[bool, int, int]:
    """Pairs first, then by the higher card of the best class, suited before offsuit."""
    cells = [cell for cell in range(169) if term.cells >> cell & 1]
    return term.text[0] != term.text[1], min(min(divmod(cell, 13)) for cell in cells), cells[0]


def _shortest_cover(cells: int, overhead: int) -> list[_Term]:
    """Steps 2 and 3; `overhead` is the length every term adds to its text (comma and weight)."""
    if not cells:
        return []
    candidates = _terms_within(cells)
    several = [term for term in candidates if term.cells.bit_count() > 1]  # single classes are always available

    def length(terms: list[_Term]) -> int:
        return sum(len(term.text) + overhead for term in terms)

    best = _greedy_cover(cells, candidates, overhead)
    improved = True
    while improved:
        improved = False
        for term in several:
            if term in best:
                other = _greedy_cover(cells, [each for each in candidates if each is not term], overhead)
            elif len(term.text) > 3:  # a run
                other = [term, *_greedy_cover(cells & ~term.cells, candidates, overhead)]
            else:
                continue
            if length(other) < length(best):
                best, improved = other, True
    return best


def _greedy_cover(cells: int, candidates: list[_Term], overhead: int) -> list[_Term]:
    """Step 2: terms that cover the cells, short for what they cover."""
    uncovered = cells
    chosen: list[_Term] = []
    sized = [(term.cells, len(term.text) + overhead) for term in candidates]
    while uncovered:
        gains = [(uncovered & covered).bit_count() / length for covered, length in sized]
        best = candidates[gains.index(max(gains))]
        chosen.append(best)
        uncovered &= ~best.cells
    for term in sorted(chosen, key=lambda term: -len(term.text)):
        others = 0
        for other in chosen:
            others |= other.cells if other is not term else 0
        if cells & term.cells & ~others == 0:
            chosen.remove(term)
    return chosen


def _terms_within(cells: int) -> list[_Term]:
    """Step 1: the terms that cover nothing outside `cells`."""
    terms = [_Term("100%", EVERY_CELL)] if cells == EVERY_CELL else []
    for line, rises in _lines():
        run: list[_Term] = []
        for term in line:
            if term.cells & ~cells:
                terms += _run_term(run, reaches_top=False)
                run = []
            else:
                terms.append(term)
                run.append(term)
        terms += _run_term(run, reaches_top=rises)
    return list(dict.fromkeys(terms))  # a single class appears in its row and in its diagonal


@cache
def _lines() -> list[tuple[list[_Term], bool]]:
    """Lines that runs follow, as single-class terms, lowest first; and whether "+" means the rest of the line."""
    lines = [([_class_term(rank, rank, "") for rank in range(13)], True)]
    for ending in ("", "s", "o"):
        lines += [([_class_term(high, low, ending) for low in range(high)], True) for high in range(1, 13)]
        # Along a gap of two or more, "+" raises the kicker instead.
        lines += [
            ([_class_term(high, high - gap, ending) for high in range(gap, 13)], gap == 1) for gap in range(1, 13)
        ]
    return lines


def _class_term(high: int, low: int, ending: str) -> _Term:
    cells = {class_index(high, low, suited) for suited in (True, False) if ending != ("o" if suited else "s")}
    return _Term(RANKS[high] + RANKS[low] + ending, sum(1 << cell for cell in cells))


def _run_term(run: list[_Term], *, reaches_top: bool) -> list[_Term]:
    """The term of a run of single classes; none for fewer than two."""
    if len(run) < 2:
        return []
    text = run[0].text + "+" if reaches_top else run[-1].text + "-" + run[0].text
    return [_Term(text, sum(term.cells for term in run))]
