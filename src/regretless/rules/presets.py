"""The variants by the names a user types.

`postflop` is the default for hold'em spots, chosen by measurement (benchmarks/postflop_rules.py, docs/performance.md):
discounted CFR with α = 1.5 and β = 0 as published, but γ = 4 in place of 2, and regrets discounted one iteration late.
On rivers it takes as many iterations as γ = 4 alone, within what the measurement resolves; on turns the delay saves
4 to 20 % of those to 0.3 and 0.1 % of the pot. Why is not known. It needs no horizon, so it serves solves that stop at
a target.
"""

from __future__ import annotations

from regretless.errors import InvalidOption
from regretless.rules.discounted import Discounted
from regretless.rules.plus import Plus
from regretless.rules.predictive import PredictiveDiscountedPlus, PredictivePlus
from regretless.rules.rule import Rule
from regretless.rules.vanilla import Vanilla

__all__ = ["PRESETS", "preset"]

PRESETS: dict[str, Rule] = {
    "vanilla": Vanilla(),
    "plus": Plus(),
    "linear": Discounted(alpha=1.0, beta=1.0, gamma=1.0),
    "discounted": Discounted(),
    "predictive-plus": PredictivePlus(),
    "predictive-discounted-plus": PredictiveDiscountedPlus(),
    "postflop": Discounted(gamma=4.0, delay=1),
}


def preset(name: str) -> Rule:
    """The rule of that name.

    >>> preset("linear")
    Discounted(alpha=1.0, beta=1.0, gamma=1.0, delay=0)
    """
    try:
        return PRESETS[name]
    except KeyError:
        raise InvalidOption("variant", name, f"is not one of {', '.join(PRESETS)}") from None
