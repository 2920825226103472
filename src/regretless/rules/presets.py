"""The variants by the names a user types.

`river` and `postflop` are the defaults for hold'em spots, on the river and before it, chosen by measurement
(benchmarks/postflop_rules.py, docs/performance.md). Both are discounted CFR with γ = 4 in place of 2, and regrets
discounted one iteration late. `river` keeps α = 1.5 and β = 0 as published; `postflop` has α = 1.3 and β = 0.5. Large
trees need a memory of negative regrets (β > 0): with β = 0 an action that was given up comes back on the least
occasion, against an opponent whose answer to it is stale, and the exploitability of a flop may double in the middle of
a solve. Rivers would pay for it with some 15 % more iterations. Neither needs a horizon, so they serve solves that stop
at a target; they were chosen for targets of 0.1 % of the pot and above, and below 0.03 % `discounted` may be the surer.
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
    "river": Discounted(gamma=4.0, delay=1),
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
