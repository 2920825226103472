"""Which buckets a spot or a game is solved with, as users type it: `turn=500,river=500`, or a file with tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import cast, get_args

from regretless.errors import InvalidText
from regretless.holdem.buckets.plan import MOST_BUCKETS, Method
from regretless.holdem.spots.question import STREETS, StreetName

__all__ = ["LOSSLESS", "BucketChoice"]

LOSSLESS = "lossless"
FILE = ".rgl"  # how the name of a file with tables ends


@dataclass(frozen=True)
class BucketChoice:
    """Buckets per street, found when they are needed or, if `file` is given, by `regretless buckets`.

    A street without buckets is lossless: every hand of every runout has its own.

    >>> BucketChoice.parse("turn=500, river=200")
    BucketChoice(counts=(('turn', 500), ('river', 200)), method='kmeans', file='')
    >>> str(BucketChoice.parse("river=50,turn=lossless,method=percentile"))
    'river=50,method=percentile'
    >>> BucketChoice.parse("turn=0")
    Traceback (most recent call last):
    regretless.errors.InvalidText: buckets: 'turn=0' at position 6: 0 is neither lossless nor from 1 to 65,535
    """

    counts: tuple[tuple[StreetName, int], ...] = ()
    method: Method = "kmeans"
    file: str = ""

    @classmethod
    def parse(cls, text: str) -> BucketChoice:
        """Read `STREET=NUMBER` or `STREET=lossless`, separated by commas, and optionally `method=percentile`.

        Text that ends in `.rgl` is the name of a file.
        """
        if text.endswith(FILE):
            return cls(file=text)
        counts: dict[StreetName, int] = {}
        seen: set[str] = set()
        method: Method = "kmeans"
        for part in re.finditer("[^,]+", text):
            found = re.fullmatch(r"(\s*)(\w+)\s*=\s*(\w+)\s*", part.group())
            if found is None:
                raise InvalidText("buckets", text, part.start() + 1, "is not like turn=500")
            name, value = found.group(2), found.group(3)
            at = part.start() + found.start(3) + 1
            if name in seen:
                raise InvalidText("buckets", text, part.start() + found.start(2) + 1, f"{name} is given twice")
            seen.add(name)
            if name == "method":
                if value not in get_args(Method):
                    raise InvalidText("buckets", text, at, f"{value} is not one of {', '.join(get_args(Method))}")
                method = cast(Method, value)
            elif name not in STREETS:
                known = ", ".join((*STREETS, "method"))
                raise InvalidText("buckets", text, part.start() + found.start(2) + 1, f"{name} is not one of {known}")
            elif value != LOSSLESS:
                if re.fullmatch("[0-9]{1,5}", value) is None or not 1 <= int(value) <= MOST_BUCKETS:
                    why = f"{value} is neither {LOSSLESS} nor from 1 to {MOST_BUCKETS:,}"
                    raise InvalidText("buckets", text, at, why)
                counts[cast(StreetName, name)] = int(value)
        if not seen - {"method"}:
            raise InvalidText("buckets", text, None, "names no street: give, for example, turn=500,river=500")
        return cls(tuple((street, counts[street]) for street in STREETS if street in counts), method)

    def __str__(self) -> str:
        if self.file:
            return self.file
        words = [f"{street}={count}" for street, count in self.counts]
        words = words or [f"river={LOSSLESS}"]
        return ",".join([*words, *([] if self.method == "kmeans" else [f"method={self.method}"])])

    def count(self, street: StreetName) -> int | None:
        """Buckets of a street; None if it is lossless."""
        return dict(self.counts).get(street)
