"""CFR variants as numbers: what each iteration discounts, floors, weights and predicts."""

from regretless.variants.discounted import Discounted
from regretless.variants.plus import Plus
from regretless.variants.predictive import PredictiveDiscountedPlus, PredictivePlus
from regretless.variants.presets import PRESETS, read_variant, replace_mccfr, variant_text
from regretless.variants.resetting import Resetting
from regretless.variants.scheduled import Scheduled
from regretless.variants.vanilla import Vanilla
from regretless.variants.variant import Schedule, Variant, Weights, schedule

__all__ = [
    "PRESETS", "Discounted", "Plus", "PredictiveDiscountedPlus", "PredictivePlus", "Resetting", "Schedule", "Scheduled",
    "Vanilla", "Variant", "Weights", "read_variant", "replace_mccfr", "schedule", "variant_text",
]  # fmt: skip
