"""Which buckets a spot or a game is solved with, as users type it: `turn=500,river=500`, or a file with tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import cast, get_args

from regretless.errors import InvalidFile, InvalidOption, InvalidText
from regretless.holdem.buckets.plan import MOST_BUCKETS, Method
from regretless.holdem.spots.question import STREETS, StreetName

__all__ = ["LOSSLESS", "BucketChoice"]

LOSSLESS = "lossless"
FILE = ".rgl"  # how the name of a file with tables ends
METHOD = "method"


@dataclass(frozen=True)
class BucketChoice:
    """Buckets per street, found when they are needed or, if `file` is given, by `regretless buckets`.

    On a lossless street, every hand of every runout has its own bucket.

    >>> BucketChoice.parse("turn=500, river=200")
    BucketChoice(counts=(('turn', 500), ('river', 200)), lossless=(), method='kmeans', file='')
    >>> str(BucketChoice.parse("river=50,turn=lossless,method=percentile"))
    'turn=lossless,river=50,method=percentile'
    >>> BucketChoice.parse("tables.rgl, turn=lossless").lossless
    ('turn',)
    >>> BucketChoice.parse("turn=0")
    Traceback (most recent call last):
    regretless.errors.InvalidText: buckets: 'turn=0' at position 6: 0 is neither lossless nor from 1 to 65,535
    """

    counts: tuple[tuple[StreetName, int], ...] = ()
    lossless: tuple[StreetName, ...] = ()
    method: Method = "kmeans"
    file: str = ""

    @classmethod
    def parse(cls, text: str) -> BucketChoice:
        """Read `STREET=NUMBER` or `STREET=lossless`, separated by commas, and optionally `method=percentile`.

        Instead of numbers, the name of a file that ends in `.rgl` may come first.
        """
        file = _file(text)
        given: dict[str, tuple[str, int]] = {}  # name -> value and its position
        for part in re.finditer("[^,]+", text):
            if part.start() < len(file):
                continue
            found = re.fullmatch(r"(\s*)(\w+)\s*=\s*(\w+)\s*", part.group())
            if found is None:
                raise InvalidText("buckets", text, part.start() + 1, "is not like turn=500")
            name, at = found.group(2), part.start() + found.start(2) + 1
            if name in given:
                raise InvalidText("buckets", text, at, f"{name} is given twice")
            if name not in (*STREETS, METHOD):
                raise InvalidText("buckets", text, at, f"{name} is not one of {', '.join((*STREETS, METHOD))}")
            given[name] = found.group(3), part.start() + found.start(3) + 1
        if not (file or given.keys() - {METHOD}):
            raise InvalidText("buckets", text, None, "names no street: give, for example, turn=500,river=500")
        for name, (value, at) in given.items():
            if file and value != LOSSLESS:
                why = f"{name}={value} cannot be combined with a file, which says how many buckets there are"
                raise InvalidText("buckets", text, at, why)
            _check(text, name, value, at)
        streets = [street for street in STREETS if street in given]
        return cls(
            counts=tuple((street, int(given[street][0])) for street in streets if given[street][0] != LOSSLESS),
            lossless=tuple(street for street in streets if given[street][0] == LOSSLESS),
            method=cast(Method, given[METHOD][0]) if METHOD in given else "kmeans",
            file=file,
        )

    def __str__(self) -> str:
        numbers = dict(self.counts)
        named = [street for street in STREETS if street in numbers or street in self.lossless]
        words = [f"{street}={numbers.get(street, LOSSLESS)}" for street in named]
        return ",".join([*filter(None, [self.file]), *words, *([f"method={self.method}"] * (self.method != "kmeans"))])

    def check(self, streets: Iterable[StreetName], in_file: Collection[StreetName] = ()) -> None:
        """Refuse a choice that leaves one of these streets open; `in_file` are those that its file has tables of."""
        known = {*self.lossless, *dict(self.counts), *in_file}
        for street in streets:
            if street not in known and self.file:
                raise InvalidFile(
                    self.file, f"has no buckets for the {street}: add {street}={LOSSLESS} if that is meant"
                )
            if street not in known:
                reason = f"does not say how many buckets the {street} has: add {street}=NUMBER or {street}={LOSSLESS}"
                raise InvalidOption("buckets", str(self), reason)


def _file(text: str) -> str:
    """The name of a file that a text begins with; "" if there is none."""
    found = re.match(rf".*{re.escape(FILE)}(?=\s*(?:,|$))", text)
    return "" if found is None else found.group()


def _check(text: str, name: str, value: str, at: int) -> None:
    """Refuse a value that a street or the method cannot have."""
    if name == METHOD:
        if value not in get_args(Method):
            raise InvalidText("buckets", text, at, f"{value} is not one of {', '.join(get_args(Method))}")
    elif value != LOSSLESS and (re.fullmatch("[0-9]{1,5}", value) is None or not 1 <= int(value) <= MOST_BUCKETS):
        raise InvalidText("buckets", text, at, f"{value} is neither {LOSSLESS} nor from 1 to {MOST_BUCKETS:,}")
