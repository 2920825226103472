"""The variants by the names a user types."""

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
}


def preset(name: str) -> Rule:
    """The rule of that name.

    >>> preset("linear")
    Discounted(alpha=1.0, beta=1.0, gamma=1.0)
    """
    try:
        return PRESETS[name]
    except KeyError:
        raise InvalidOption("variant", name, f"is not one of {', '.join(PRESETS)}") from None
