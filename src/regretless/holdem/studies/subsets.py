"""Subsets of flops with weights, whose weighted means come close to those of all 1,755 classes.

`benchmarks/flop_subsets.py` chooses them and measures their error; `subsets.json` has one entry per size: flop and
weight. The weights of a subset sum to 22,100, as those of all flops do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from regretless.errors import InvalidOption

__all__ = ["subset", "subset_sizes"]


@cache
def _subsets() -> Mapping[int, Mapping[str, float]]:
    text = files("regretless.holdem.studies").joinpath("subsets.json").read_text(encoding="utf-8")
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
    found = _subsets().get(size)
    if found is None:
        raise InvalidOption(
            "flops", f"subset({size})", f"is not one of the subsets: {', '.join(map(str, subset_sizes()))}"
        )
    return found
