"""The variants by the names a user types.

`postflop` is the default for hold'em spots, chosen by measurement (benchmarks/postflop_rules.py, docs/performance.md):
discounted CFR with α = 1.3, β = 0.5 and γ = 4 in place of 1.5, 0 and 2, and regrets discounted one iteration late. A
memory of negative regrets (β = 0.5) is what large trees need: with β = 0 an action that was given up comes back on the
least occasion, against an opponent whose answer to it is stale, and the exploitability of a flop may double in the
middle of a solve. Small trees pay for it with some 10 % more iterations. It needs no horizon, so it serves solves that
stop at a target.
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
    "postflop": Discounted(alpha=1.3, beta=0.5, gamma=4.0, delay=1),
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
