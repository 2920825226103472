"""CFR variants as numbers: what each iteration discounts, floors, weighs and predicts."""

from regretless.rules.discounted import Discounted
from regretless.rules.plus import Plus
from regretless.rules.predictive import PredictiveDiscountedPlus, PredictivePlus
from regretless.rules.presets import PRESETS, preset
from regretless.rules.resetting import Resetting
from regretless.rules.rule import Rule, Schedule, Weights, schedule
from regretless.rules.scheduled import Scheduled
from regretless.rules.vanilla import Vanilla

__all__ = [
    "PRESETS",
    "Discounted",
    "Plus",
    "PredictiveDiscountedPlus",
    "PredictivePlus",
    "Resetting",
    "Rule",
    "Schedule",
    "Scheduled",
    "Vanilla",
    "Weights",
    "preset",
    "schedule",
]
