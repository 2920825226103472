"""The variants by the names a user types.

`postflop`, `turn` and `river` are the defaults for hold'em spots on the flop, turn and river. All three are discounted
CFR with α = 1.3 and γ = 5 and with regrets discounted one iteration late; they differ in β, how long negative regrets
are remembered, and larger trees need a larger β: with β = 0 an abandoned action returns too easily,
against an opponent whose response to it is stale, and the exploitability of a flop may double in the middle of
a solve. They were chosen by the geometric mean of iterations to 0.3 and 0.1 % of the pot over many spots, and tested
on as many fresh ones (benchmarks/holdem_variants.py, docs/performance.md). None needs to know its horizon, so they suit
solves that stop at a target.
"""

from __future__ import annotations

from regretless.errors import InvalidOption
from regretless.variants.discounted import Discounted
from regretless.variants.plus import Plus
from regretless.variants.predictive import PredictiveDiscountedPlus, PredictivePlus
from regretless.variants.vanilla import Vanilla
from regretless.variants.variant import Variant

__all__ = ["PRESETS", "preset"]

PRESETS: dict[str, Variant] = {
    "vanilla": Vanilla(),
    "plus": Plus(),
    "linear": Discounted(alpha=1.0, beta=1.0, gamma=1.0),
    "discounted": Discounted(),
    "predictive-plus": PredictivePlus(),
    "predictive-discounted-plus": PredictiveDiscountedPlus(),
    "postflop": Discounted(alpha=1.3, beta=0.4, gamma=5.0, delay=1),
    "turn": Discounted(alpha=1.3, beta=0.25, gamma=5.0, delay=1),
    "river": Discounted(alpha=1.3, beta=0.0, gamma=5.0, delay=1),
}


def preset(name: str) -> Variant:
    """The rule of that name.

    >>> preset("linear")
    Discounted(alpha=1.0, beta=1.0, gamma=1.0, delay=0)
    """
    try:
        return PRESETS[name]
    except KeyError:
        raise InvalidOption("variant", name, f"is not one of {', '.join(PRESETS)}") from None
