"""Variants as text: read, written back, and refused with a sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest

from regretless.errors import InvalidOption, InvalidText
from regretless.variants import (
    PRESETS,
    Discounted,
    Plus,
    PredictiveDiscountedPlus,
    PredictivePlus,
    Resetting,
    Scheduled,
    Vanilla,
    Variant,
    Weights,
    read_variant,
    variant_text,
)


@dataclass(frozen=True)
class Own:
    """A custom variant."""

    weight: float = 2.0

    def weights(self, t: int) -> Weights:
        return Weights(average_weight=self.weight)


@pytest.mark.parametrize(
    ("text", "variant"),
    [
        ("vanilla", Vanilla()),
        ("vanilla()", Vanilla()),
        (" discounted ( gamma = 3 ) ", Discounted(gamma=3.0)),
        ("discounted(alpha=1.5, beta=0, gamma=3)", Discounted(gamma=3.0)),
        ("discounted(beta=-1e999)", Discounted(beta=-math.inf)),
        ("postflop(gamma=4)", Discounted(alpha=1.3, beta=0.4, gamma=4.0, delay=1)),
        ("plus(power=2, delay=10)", Plus(power=2.0, delay=10)),
        ("predictive-plus(power=3)", PredictivePlus(power=3.0)),
        ("predictive-discounted-plus(alpha=2)", PredictiveDiscountedPlus(alpha=2.0)),
        ("resetting", Resetting()),
        ("scheduled(horizon=1000)", Scheduled(horizon=1000)),
    ],
)
def test_variant_texts(text: str, variant: Variant) -> None:
    assert read_variant(text) == variant
    assert repr(read_variant(text)) == repr(variant)  # an integer given for a float becomes a float


def test_a_variant_object_is_returned_unchanged() -> None:
    for variant in (Discounted(gamma=3), Own()):
        assert read_variant(variant) is variant


@pytest.mark.parametrize(
    ("variant", "text"),
    [
        *((preset, name) for name, preset in PRESETS.items()),
        (Discounted(gamma=3), "discounted(gamma=3)"),
        (Discounted(alpha=1.3, beta=0.25, gamma=4.0, delay=1), "turn(gamma=4)"),
        (Discounted(alpha=1.0, beta=1.0, gamma=0.1 + 0.2), "linear(gamma=0.30000000000000004)"),
        (Discounted(beta=-math.inf), "discounted(beta=-1e999)"),
        (Plus(power=0.5, delay=3), "plus(power=0.5,delay=3)"),
        (Resetting(), "resetting"),
        (Resetting(gamma=1e-7), "resetting(gamma=1e-07)"),
        (Scheduled(horizon=1_000_000), "scheduled(horizon=1000000)"),
    ],
    ids=str,
)
def test_the_shortest_text_round_trips(variant: Variant, text: str) -> None:
    assert variant_text(variant) == text
    assert read_variant(text) == variant


def test_a_custom_variant_is_written_but_not_read() -> None:
    assert variant_text(Own()) == "Own(weight=2.0)"
    with pytest.raises(InvalidOption, match=r"^variant: 'Own\(weight=2.0\)' is not one of vanilla, .*scheduled"):
        read_variant("Own(weight=2.0)")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("cfr++", "variant: 'cfr\\+\\+' is not one of vanilla, plus, .*; did you mean cfr\\+\\?$"),
        ("vanila", "did you mean vanilla\\?$"),
        ("CFR_Plus", "did you mean cfr\\+\\?$"),
        ("es-mccfr", "did you mean mccfr\\?$"),
        ("minimax", "scheduled$"),
        ("discounted(gama=3)", "variant: .* at position 12: discounted has no parameter gama; did you mean gamma"),
        ("vanilla(alpha=1)", "vanilla has no parameter alpha .it has none"),
        ("discounted(3)", "parameters must be given by name, like discounted.alpha=…"),
        ("discounted(gamma=2, gamma=3)", "gamma is given twice"),
        ("discounted(gamma=-1)", "gamma: -1.0 must be at least 0"),
        ("discounted(gamma='x')", "gamma: 'x' must be a number"),
        ("discounted(gamma=True)", "gamma: True must be a number"),
        ("discounted(gamma=2**9)", "gamma: .2\\*\\*9. must be a number"),
        (f"discounted(gamma=1{'0' * 400})", "gamma: a number of .* digits must be a number"),
        ("discounted(delay=1.5)", "delay: 1.5 must be a whole number"),
        ("discounted(gamma=__import__('os'))", "gamma: .* must be a number"),
        ("discounted(gamma=3", "variant: .* must look like discounted or discounted.gamma=3"),
        ("scheduled", "variant: 'scheduled' needs horizon, like scheduled.horizon=1000"),
        ("scheduled(horizon=0)", "horizon: 0 must be at least 1"),
        (3, "variant: 3 must be a name, text such as 'discounted.gamma=3.', or a variant"),
    ],
)
def test_invalid_text_gives_one_sentence(given: object, message: str) -> None:
    with pytest.raises((InvalidOption, InvalidText), match=message) as refused:
        read_variant(given)  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)
