"""Which flops a study or a price covers, what each weighs, and what kind of flop it is.

Flops that differ only in the names of the suits are solved once. Where both ranges treat all suits alike, the 22,100
flops fall into 1,755 classes of 4, 12 or 24; a range that names suits (`AhKh`) leaves more classes. A flop stands for
its class and weighs as many flops as the class has, so the weights of all classes sum to 22,100.

    "all"                          every class
    "subset(49)"                   49 classes whose weighted means come close to those of all 1,755
    "paired two-tone"              every class with both properties
    "A-high or K-high rainbow"     `or` between two words joins them before the words around them
    "paired, A-high two-tone"      as in a range, a comma adds more: paired, and A-high two-tone ones too
    ["Qs Jh 2h", "AhKd2c"]         these flops, each standing for its class

`benchmarks/flop_subsets.py` chooses the subsets and measures their error; `subsets.json` has one entry per size: flop
and weight. The weights of a subset sum to 22,100, as those of all flops do. The properties of a flop:

pairing         unpaired, paired, trips
suits           rainbow (three suits), two-tone, monotone
connectedness   connected: three ranks in a row (9-8-7, 3-2-A); gapped: not in a row, but two hole cards can make a
                straight (9-7-5, 5-4-A); disconnected: they cannot, which includes all paired flops
high            the highest rank, an ace being high
broadways       cards from ten to ace
texture         suits of an unpaired flop, pairing and suits of a paired one: "two-tone", "paired rainbow", "trips"
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

import numpy as np

from regretless.cards.deck import RANKS, board_text, parse_board
from regretless.cards.isomorphism import CARD_MAPS, distinct_boards
from regretless.errors import InvalidOption, InvalidText
from regretless.forms.history import IntArray
from regretless.spelling import did_you_mean

__all__ = [
    "ALL_FLOPS", "CONNECTEDNESS", "FLOP_CLASSES", "PAIRINGS", "SUIT_KINDS", "Flop", "FlopFilter", "all_flops",
    "flops_of_field", "read_flops", "subset", "subset_sizes", "texture_of",
]  # fmt: skip

PAIRINGS = ("unpaired", "paired", "trips")
SUIT_KINDS = ("rainbow", "two-tone", "monotone")
CONNECTEDNESS = ("connected", "gapped", "disconnected")

_ACE, _TEN = RANKS.index("A"), RANKS.index("T")
_STRAIGHT = 5  # ranks

ALL_FLOPS = 22_100  # 52 choose 3
FLOP_CLASSES = 1_755  # flops up to the names of suits
_PROPERTIES = (*PAIRINGS, *SUIT_KINDS, *CONNECTEDNESS)
_WORDS = {word.lower(): word for word in (*_PROPERTIES, *(f"{rank}-high" for rank in reversed(RANKS)))}
_SUBSET = re.compile(r"subset\s*\(\s*(\d{1,6})\s*\)")
_CARD = re.compile(r"\s*(10|[2-9TJQKAtjqka])[cdhsCDHS]")  # no property begins like a card


@dataclass(frozen=True)
class Texture:
    """The texture columns of the tables."""

    ranks: str  # "QJ2", high card first
    high: str
    middle: str
    low: str
    pairing: str
    suits: str
    connectedness: str
    broadways: int
    texture: str

    def words(self) -> frozenset[str]:
        """The words by which a filter can ask for this flop."""
        return frozenset((self.pairing, self.suits, self.connectedness, f"{self.high}-high"))


def texture_of(flop: Sequence[int]) -> Texture:
    """The texture of three cards.

    >>> from regretless.cards.deck import parse_board
    >>> texture = texture_of(parse_board("2h Qs Jh"))
    >>> texture.ranks, texture.texture, texture.connectedness, texture.broadways
    ('QJ2', 'two-tone', 'disconnected', 2)
    >>> texture_of(parse_board("Ts Th 4d")).texture, texture_of(parse_board("As 5h 3d")).connectedness
    ('paired rainbow', 'gapped')
    """
    ranks = sorted((card // 4 for card in flop), reverse=True)
    pairing = PAIRINGS[3 - len(set(ranks))]
    suits = SUIT_KINDS[3 - len({card % 4 for card in flop})]
    high, middle, low = (RANKS[rank] for rank in ranks)
    texture = {"unpaired": suits, "paired": f"paired {suits}", "trips": "trips"}[pairing]
    return Texture(
        ranks=high + middle + low,
        high=high,
        middle=middle,
        low=low,
        pairing=pairing,
        suits=suits,
        connectedness=_connectedness(ranks),
        broadways=sum(rank >= _TEN for rank in ranks),
        texture=texture,
    )


def _connectedness(ranks: Sequence[int]) -> str:
    if len(set(ranks)) < 3:
        return "disconnected"
    ace_low = [-1 if rank == _ACE else rank for rank in ranks]
    span = min(max(each) - min(each) for each in (ranks, ace_low))
    return "connected" if span == 2 else "gapped" if span < _STRAIGHT else "disconnected"


@cache
def _subsets() -> Mapping[int, Mapping[str, float]]:
    text = files("regretless.holdem").joinpath("subsets.json").read_text(encoding="utf-8")
    return {int(size): flops for size, flops in json.loads(text).items()}


def subset_sizes() -> tuple[int, ...]:
    """The sizes that ship with the package."""
    return tuple(_subsets())


def subset(size: int) -> Mapping[str, float]:
    """The flops of a subset and their weights.

    >>> flops = subset(25)
    >>> len(flops), round(sum(flops.values()))
    (25, 22100)
    >>> subset(26)
    Traceback (most recent call last):
    regretless.errors.InvalidOption: flops: 'subset(26)' is not one of the subsets: 25, 49, 95, 184
    """
    weights = _subsets().get(size)
    if weights is None:
        raise InvalidOption(
            "flops", f"subset({size})", f"is not one of the subsets: {', '.join(map(str, subset_sizes()))}"
        )
    return weights


@dataclass(frozen=True)
class Flop:
    """A flop that stands for all those that differ only in the names of suits."""

    cards: tuple[int, ...]  # high card first
    multiplicity: int  # how many it stands for, itself included: 1 to 24
    weight: float  # its weight in means: the same number, unless the study is of a subset

    @property
    def text(self) -> str:
        """Its cards without spaces, as files are named.

        >>> Flop((43, 38, 2), 12, 12.0).text
        'QsJh2h'
        """
        return board_text(self.cards).replace(" ", "")


class FlopFilter:
    """Properties that a flop must have: all those between two commas.

    >>> flops = FlopFilter("A-high or K-high two-tone, trips")
    >>> [flops.matches(parse_board(text)) for text in ("As 7s 2d", "Qs 7s 2d", "Kh 7s 2d", "4s 4h 4d")]
    [True, False, False, True]
    >>> FlopFilter("two tone")
    Traceback (most recent call last):
    regretless.errors.InvalidText: flops: 'two tone' at position 1: 'two' is not a property of flops; did you mean ...
    """

    def __init__(self, text: str, field: str = "flops") -> None:
        self.alternatives: list[list[frozenset[str]]] = []  # sets of words: a flop needs one of each set
        start = 0
        for part in text.split(","):
            self.alternatives.append(_read_terms(part, text, start, field))
            start += len(part) + 1

    def matches(self, flop: Sequence[int]) -> bool:
        """Whether a flop has the properties of one of the alternatives."""
        words = texture_of(flop).words()
        return any(all(term & words for term in terms) for terms in self.alternatives)


def _read_terms(part: str, text: str, start: int, field: str) -> list[frozenset[str]]:
    """The words between two commas, those joined by `or` in one set; `start` is where the part begins in `text`."""
    terms: list[frozenset[str]] = []
    after_or = False
    for match in re.finditer(r"\S+", part):
        word = match[0].lower()
        if word == "or" and terms and not after_or:
            after_or = True
            continue
        if word not in _WORDS:
            hint = did_you_mean(word, _WORDS.values(), f"choose from {', '.join(_PROPERTIES)}, A-high …", cutoff=0.5)
            raise InvalidText(field, text, start + match.start() + 1, f"{match[0]!r} is not a property of flops{hint}")
        if after_or:
            terms[-1] |= {_WORDS[word]}
        else:
            terms.append(frozenset({_WORDS[word]}))
        after_or = False
    if not terms or after_or:
        raise InvalidText(field, text, start + 1, "a property is missing here")
    return terms


def all_flops(group: IntArray | None = None) -> list[Flop]:
    """One flop of each class; `group` are the suit permutations that leave ranges and locks unchanged, by default all.

    >>> flops = all_flops()
    >>> len(flops), sum(flop.multiplicity for flop in flops), sorted({flop.multiplicity for flop in flops})
    (1755, 22100, [4, 12, 24])
    """
    boards = distinct_boards(3, dead=(), group=np.arange(len(CARD_MAPS)) if group is None else group)
    counts = boards.multiplicity.tolist()
    return [Flop(tuple(cards), count, float(count)) for cards, count in zip(boards.cards.tolist(), counts, strict=True)]


def flops_of_field(value: object, group: IntArray) -> list[Flop]:
    """The flops that the field `flops` of a study means; errors name the field."""
    if isinstance(value, list | tuple):
        return _listed(value, group)
    if not isinstance(value, str):
        raise InvalidOption("flops", value, 'must be "all", "subset(49)", properties or a list of flops')
    text = value.strip()
    if text.lower() == "all":
        return all_flops(group)
    if (match := _SUBSET.fullmatch(text.lower())) is not None:
        if len(group) < len(CARD_MAPS):
            raise InvalidOption("flops", value, "needs ranges and locks that treat all suits alike: these name suits")
        weights = subset(int(match[1]))
        classes = {flop.text: flop for flop in all_flops()}
        return [replace(classes[name], weight=weight) for name, weight in weights.items()]
    flop_filter = FlopFilter(text)
    flops = [flop for flop in all_flops(group) if flop_filter.matches(flop.cards)]
    if not flops:
        raise InvalidOption("flops", value, "matches no flop")
    return flops


def read_flops(text: str | int | Sequence[str]) -> list[Flop]:
    """The flops of an option `flops`, with weights that sum to 22,100.

    "all", "subset(49)" or 49, properties as in a study ("paired two-tone"), or flops: "Qs Jh 2h, AhKd2c". Flops that
    do not come from a subset are weighted by how many they stand for, scaled up to all.

    >>> [(flop.text, flop.weight) for flop in read_flops("Qs Jh 2h, 7c7d7h")]
    [('QsJh2h', 16575.0), ('7s7h7d', 5525.0)]
    >>> len(read_flops("all")), len(read_flops(25))
    (1755, 25)
    >>> read_flops("26")
    Traceback (most recent call last):
    regretless.errors.InvalidOption: flops: 'subset(26)' is not one of the subsets: 25, 49, 95, 184
    """
    value: object = text
    if isinstance(text, int) or (isinstance(text, str) and text.strip().isdecimal()):
        value = f"subset({int(text)})"
    elif isinstance(text, str) and any(map(_CARD.match, text.split(","))):
        value = [flop.strip() for flop in text.split(",")]
    flops = flops_of_field(value, np.arange(len(CARD_MAPS)))
    factor = ALL_FLOPS / sum(flop.weight for flop in flops)
    if abs(factor - 1) < 1e-9:
        return flops
    return [replace(flop, weight=flop.weight * factor) for flop in flops]


def _listed(texts: Sequence[object], group: IntArray) -> list[Flop]:
    if not texts:
        raise InvalidOption("flops", list(texts), "is empty")
    if len(texts) > ALL_FLOPS:
        raise InvalidOption("flops", f"a list of {len(texts):,}", f"is longer than {ALL_FLOPS:,}")
    classes = {flop.cards: flop for flop in all_flops(group)}
    chosen: dict[tuple[int, ...], Flop] = {}
    for number, text in enumerate(texts):
        field = f"flops[{number}]"
        if not isinstance(text, str):
            raise InvalidOption(field, text, "must be a text in quotes")
        cards = parse_board(text, field)
        if len(cards) != 3:
            raise InvalidText(field, text, None, f"has {len(cards)} cards; a flop has 3")
        flop = classes[_representative(cards, group)]
        if flop.cards in chosen:
            raise InvalidText(field, text, None, f"is in the list already, up to the names of suits, as {flop.text}")
        chosen[flop.cards] = flop
    return list(chosen.values())


def _representative(cards: Sequence[int], group: IntArray) -> tuple[int, ...]:
    """The flop that stands for the class: the largest when written as a number with bit c set for card c."""
    renamed = -np.sort(-CARD_MAPS[group][:, list(cards)].astype(np.int64), axis=1)
    return tuple(max(renamed.tolist()))
