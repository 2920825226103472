"""Which flops a study has, and what each weighs.

Flops that differ only in the names of the suits are solved once. Where both ranges treat all suits alike, the 22,100
flops fall into 1,755 classes of 4, 12 or 24; a range that names suits (`AhKh`) leaves more classes. A flop stands for
its class and weighs as many flops as the class has, so the weights of all classes sum to 22,100.

    "all"                          every class
    "subset(49)"                   49 classes whose weighted means come close to those of all 1,755: `subsets`
    "paired, two-tone"             every class with all of these properties
    "A-high or K-high, rainbow"    `or` between properties, before the commas
    ["Qs Jh 2h", "AhKd2c"]         these flops, each standing for its class
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from regretless.cards.deck import RANKS, board_text, parse_board
from regretless.cards.isomorphism import CARD_MAPS, distinct_boards
from regretless.errors import InvalidOption, InvalidText
from regretless.forms.history import IntArray
from regretless.holdem.studies.subsets import subset
from regretless.holdem.studies.textures import CONNECTEDNESS, PAIRINGS, SUIT_KINDS, texture_of

__all__ = ["ALL_FLOPS", "MOST_FLOPS", "Flop", "FlopFilter", "all_flops", "choose_flops"]

ALL_FLOPS = 22_100  # 52 choose 3
MOST_FLOPS = 22_100  # entries of a list

_WORDS = (*PAIRINGS, *SUIT_KINDS, *CONNECTEDNESS, *(f"{rank}-high" for rank in reversed(RANKS)))
_SUBSET = re.compile(r"subset\s*\(\s*(\d{1,6})\s*\)")


@dataclass(frozen=True)
class Flop:
    """A flop that stands for all those that differ only in the names of suits."""

    cards: tuple[int, ...]  # high card first
    flops: int  # how many it stands for, itself included: 1 to 24
    weight: float  # its weight in means: the same number, unless the study is of a subset

    @property
    def text(self) -> str:
        """Its cards without spaces, as files are named.

        >>> Flop((43, 38, 2), 12, 12.0).text
        'QsJh2h'
        """
        return board_text(self.cards).replace(" ", "")


class FlopFilter:
    """Properties that a flop must have.

    >>> wanted = FlopFilter("A-high or K-high, two-tone")
    >>> [wanted.takes(parse_board(text)) for text in ("As 7s 2d", "Qs 7s 2d", "Kh 7s 2d")]
    [True, False, False]
    >>> FlopFilter("two tone")
    Traceback (most recent call last):
    regretless.errors.InvalidText: flops: 'two tone' at position 1: 'two tone' is not a property of flops; did you ...
    """

    def __init__(self, text: str, field: str = "flops") -> None:
        self.terms: list[frozenset[str]] = []  # a flop must have a property of each
        start = 0
        for term in text.split(","):
            alternatives = set()
            for each in re.finditer(r"\S(?:(?!\s+or\s).)*", term):
                word = re.sub(r"^or\s+", "", each[0].strip())
                known = {name.lower(): name for name in _WORDS}.get(word.lower())
                if known is None:
                    raise _unknown(text, start + each.start() + 1, word, field)
                alternatives.add(known)
            if not alternatives:
                raise InvalidText(field, text, start + 1, "a property is missing here")
            self.terms.append(frozenset(alternatives))
            start += len(term) + 1

    def takes(self, flop: Sequence[int]) -> bool:
        """Whether a flop has all the properties."""
        words = texture_of(flop).words()
        return all(term & words for term in self.terms)


def _unknown(text: str, position: int, word: str, field: str) -> InvalidText:
    close = get_close_matches(word, _WORDS, n=1, cutoff=0.5)
    meant = f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(_WORDS[:9])}, A-high …"
    return InvalidText(field, text, position, f"{word!r} is not a property of flops; {meant}")


def all_flops(group: IntArray | None = None) -> list[Flop]:
    """One flop of each class; `group` are the renamings of suits that change nothing, by default all.

    >>> flops = all_flops()
    >>> len(flops), sum(flop.flops for flop in flops), sorted({flop.flops for flop in flops})
    (1755, 22100, [4, 12, 24])
    """
    found = distinct_boards(3, dead=(), group=np.arange(len(CARD_MAPS)) if group is None else group)
    counts = found.multiplicity.tolist()
    return [Flop(tuple(cards), count, float(count)) for cards, count in zip(found.cards.tolist(), counts, strict=True)]


def choose_flops(given: object, group: IntArray) -> list[Flop]:
    """The flops that the field `flops` of a study means; errors name the field."""
    if isinstance(given, list | tuple):
        return _listed(given, group)
    if not isinstance(given, str):
        raise InvalidOption("flops", given, 'must be "all", "subset(49)", properties or a list of flops')
    text = given.strip()
    if text.lower() == "all":
        return all_flops(group)
    if (match := _SUBSET.fullmatch(text.lower())) is not None:
        if len(group) < len(CARD_MAPS):
            raise InvalidOption("flops", given, "needs ranges and locks that treat all suits alike: these name suits")
        weights = subset(int(match[1]))
        classes = {flop.text: flop for flop in all_flops()}
        return [Flop(classes[name].cards, classes[name].flops, weight) for name, weight in weights.items()]
    wanted = FlopFilter(text)
    found = [flop for flop in all_flops(group) if wanted.takes(flop.cards)]
    if not found:
        raise InvalidOption("flops", given, "matches no flop")
    return found


def _listed(given: Sequence[object], group: IntArray) -> list[Flop]:
    if not given:
        raise InvalidOption("flops", list(given), "is empty")
    if len(given) > MOST_FLOPS:
        raise InvalidOption("flops", f"a list of {len(given):,}", f"is longer than {MOST_FLOPS:,}")
    classes = {flop.cards: flop for flop in all_flops(group)}
    found: dict[tuple[int, ...], Flop] = {}
    for place, text in enumerate(given):
        field = f"flops[{place}]"
        if not isinstance(text, str):
            raise InvalidOption(field, text, "must be a text in quotes")
        cards = parse_board(text, field)
        if len(cards) != 3:
            raise InvalidText(field, text, None, f"has {len(cards)} cards; a flop has 3")
        flop = classes[_representative(cards, group)]
        if flop.cards in found:
            raise InvalidText(field, text, None, f"is in the list already, up to the names of suits, as {flop.text}")
        found[flop.cards] = flop
    return list(found.values())


def _representative(cards: Sequence[int], group: IntArray) -> tuple[int, ...]:
    """The flop that stands for the class: the largest when written as a number with bit c set for card c."""
    renamed = -np.sort(-CARD_MAPS[group][:, list(cards)].astype(np.int64), axis=1)
    return tuple(max(renamed.tolist()))
