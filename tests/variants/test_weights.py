"""The seven numbers of every preset at t = 1, 2 and 10, worked out by hand from the equations in the papers."""

from typing import NamedTuple, cast

import numpy as np
import pytest

from regretless.errors import InvalidOption
from regretless.solving import solve_game
from regretless.variants import (
    PRESETS,
    Discounted,
    Plus,
    PredictiveDiscountedPlus,
    PredictivePlus,
    Resetting,
    Scheduled,
    Variant,
    Weights,
    read_variant,
    schedule,
)

# (positive, negative, floor, decay, weight, prediction, prediction discount)
CLOSED_FORMS = {
    "vanilla": {
        1: (1, 1, False, 1, 1, 0, 1),
        2: (1, 1, False, 1, 1, 0, 1),
        10: (1, 1, False, 1, 1, 0, 1),
    },
    "plus": {
        1: (1, 1, True, 1, 1, 0, 1),
        2: (1, 1, True, 1, 2, 0, 1),
        10: (1, 1, True, 1, 10, 0, 1),
    },
    "linear": {
        1: (0, 0, False, 0, 1, 0, 1 / 2),
        2: (1 / 2, 1 / 2, False, 1 / 2, 1, 0, 2 / 3),
        10: (9 / 10, 9 / 10, False, 9 / 10, 1, 0, 10 / 11),
    },
    "discounted": {
        1: (0, 1 / 2, False, 0, 1, 0, 1 / 2),
        2: (1 / 2, 1 / 2, False, 1 / 4, 1, 0, 2**1.5 / (2**1.5 + 1)),
        10: (27 / 28, 1 / 2, False, 81 / 100, 1, 0, 10**1.5 / (10**1.5 + 1)),
    },
    "predictive-plus": {
        1: (1, 1, True, 1, 1, 1, 1),
        2: (1, 1, True, 1, 4, 1, 1),
        10: (1, 1, True, 1, 100, 1, 1),
    },
    "predictive-discounted-plus": {
        1: (0, 1, True, 0, 1, 1, 1 / 2),
        2: (1 / 2, 1, True, 1 / 32, 1, 1, 2**2.3 / (2**2.3 + 1)),
        10: (9**2.3 / (9**2.3 + 1), 1, True, 0.59049, 1, 1, 10**2.3 / (10**2.3 + 1)),
    },
    "postflop": {  # α = 1.3, β = 0.4, γ = 5, discounting of regrets delayed by one iteration
        1: (0, 0, False, 0, 1, 0, 1),
        2: (0, 0, False, 1 / 32, 1, 0, 1 / 2),
        10: (8**1.3 / (8**1.3 + 1), 8**0.4 / (8**0.4 + 1), False, 0.59049, 1, 0, 9**1.3 / (9**1.3 + 1)),
    },
    "turn": {  # β = 0.25
        1: (0, 0, False, 0, 1, 0, 1),
        2: (0, 0, False, 1 / 32, 1, 0, 1 / 2),
        10: (8**1.3 / (8**1.3 + 1), 8**0.25 / (8**0.25 + 1), False, 0.59049, 1, 0, 9**1.3 / (9**1.3 + 1)),
    },
    "river": {  # β = 0
        1: (0, 1 / 2, False, 0, 1, 0, 1),
        2: (0, 1 / 2, False, 1 / 32, 1, 0, 1 / 2),
        10: (8**1.3 / (8**1.3 + 1), 1 / 2, False, 0.59049, 1, 0, 9**1.3 / (9**1.3 + 1)),
    },
}


def test_every_preset_has_a_closed_form() -> None:
    assert set(CLOSED_FORMS) == set(PRESETS)


@pytest.mark.parametrize("t", [1, 2, 10])
@pytest.mark.parametrize("name", PRESETS)
def test_weights(name: str, t: int) -> None:
    assert PRESETS[name].weights(t) == pytest.approx(CLOSED_FORMS[name][t], abs=1e-15)


# Variants that no preset names.
OTHER_CLOSED_FORMS: list[tuple[Variant, dict[int, tuple[float, ...]]]] = [
    (
        Resetting(),  # at t = 10, five iterations after the reset at t = 5
        {
            1: (0, 1 / 2, False, 0, 1, 0, 1),
            2: (0, 1 / 2, False, 0, 1, 0, 1),
            10: (8**1.5 / (8**1.5 + 1), 1 / 2, False, 125 / 216, 1, 0, 1),
        },
    ),
    (
        Scheduled(horizon=20),  # at t = 10: α = 2.35, β = −1.9, γ = 27.75
        {
            1: (0, 1, False, 0, 1, 0, 1 / 2),
            2: (1 / 2, 1 / 2, False, 0.5**29.75, 1, 0, 2**1.3 / (2**1.3 + 1)),
            10: (9**2.35 / (9**2.35 + 1), 1 / (9**1.9 + 1), False, 0.9**27.75, 1, 0, 10**2.5 / (10**2.5 + 1)),
        },
    ),
    (
        Plus(power=2),
        {
            1: (1, 1, True, 1, 1, 0, 1),
            2: (1, 1, True, 1, 4, 0, 1),
            10: (1, 1, True, 1, 100, 0, 1),
        },
    ),
]


@pytest.mark.parametrize("t", [1, 2, 10])
@pytest.mark.parametrize(("rule", "closed_form"), OTHER_CLOSED_FORMS, ids=lambda value: type(value).__name__)
def test_weights_of_rules_without_a_preset(rule: Variant, closed_form: dict[int, tuple[float, ...]], t: int) -> None:
    assert rule.weights(t) == pytest.approx(closed_form[t], abs=1e-15)


def test_resets_are_at_powers_of_4_counted_from_0() -> None:
    resets = [t - 1 for t in range(1, 300) if Resetting().weights(t).average_decay == 0]
    assert resets == [0, 1, 4, 16, 64, 256]


def test_past_its_horizon_a_schedule_stays_where_it_is() -> None:
    assert Scheduled(horizon=10).weights(21).average_decay == pytest.approx((20 / 21) ** 25)


def test_schedule_is_the_weights_row_by_row() -> None:
    rule = Discounted()
    rows = schedule(rule, first=5, count=3)
    assert rows.dtype.names == Weights._fields
    assert rows.tolist() == [rule.weights(t) for t in (5, 6, 7)]
    np.testing.assert_array_equal(rows["average_decay"], [rule.weights(t).average_decay for t in (5, 6, 7)])
    assert schedule(rule, first=5, count=0).shape == (0,)


class Rising(NamedTuple):
    """A variant of one's own, equal to any other tuple with the same parameters."""

    power: float

    def weights(self, t: int) -> Weights:
        return Weights(average_weight=t**self.power)


class Falling(NamedTuple):
    power: float

    def weights(self, t: int) -> Weights:
        return Weights(average_weight=t**-self.power)


class Listed(NamedTuple):
    listed: tuple[float, ...]

    def weights(self, t: int) -> Weights:
        return Weights(average_weight=self.listed[t - 1])


def test_variants_that_compare_equal_keep_weights_of_their_own() -> None:
    assert Rising(2.0) == Falling(2.0)
    assert schedule(Rising(2.0), 1, 3)["average_weight"].tolist() == [1, 4, 9]
    assert schedule(Falling(2.0), 1, 2)["average_weight"].tolist() == [1, 0.25]


def test_a_variant_may_have_weights_for_few_iterations_only() -> None:
    assert schedule(Listed((3.0, 5.0)), 1, 2)["average_weight"].tolist() == [3, 5]
    with pytest.raises(IndexError):
        schedule(Listed((3.0, 5.0)), 1, 3)


def test_an_average_by_weights_equals_one_by_decay() -> None:
    """t^γ as a weight and ((t−1)/t)^γ as a decay give the same normalised average."""
    strategies = np.random.default_rng(0).random(20)
    by_weight = sum(t**2 * x for t, x in enumerate(strategies, 1)) / sum(t**2 for t in range(1, 21))
    total = norm = 0.0
    for t, x in enumerate(strategies, 1):
        decay = Discounted(gamma=2).weights(t).average_decay
        total, norm = total * decay + x, norm * decay + 1
    assert total / norm == pytest.approx(by_weight, rel=1e-12)


def test_delay_leaves_the_first_iterations_out() -> None:
    assert [Plus(delay=2).weights(t).average_weight for t in (1, 2, 3, 10)] == [0, 0, 1, 8]


def test_negative_infinity_forgets_negative_regrets() -> None:
    assert Discounted(beta=-float("inf")).weights(3).negative_discount == 0.0


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Plus(power=-1),
        lambda: Plus(delay=-1),
        lambda: Discounted(gamma=-0.1),
        lambda: Discounted(delay=-1),
        lambda: PredictivePlus(power=-2),
        lambda: PredictiveDiscountedPlus(gamma=-1),
        lambda: Resetting(gamma=-1),
        lambda: Scheduled(horizon=0),
        lambda: Scheduled(horizon=10, gamma=4),
        lambda: read_variant("cfr++"),
    ],
)
def test_wrong_options_are_refused_by_name(wrong) -> None:
    with pytest.raises(InvalidOption, match=r"^(power|delay|gamma|horizon|variant): "):
        wrong()


class Own:
    """A variant of one's own, with the same weights in every iteration but the first two."""

    def __init__(self, later: object) -> None:
        self.later = later

    def weights(self, t: int) -> Weights:
        return Weights() if t < 3 else cast(Weights, self.later)


@pytest.mark.parametrize(
    ("later", "message"),
    [
        (Weights(positive_discount=float("nan")), "nan is the positive_discount of iteration 3, but must be a number"),
        (Weights(negative_discount=-1.0), "-1.0 is the negative_discount of iteration 3"),
        (Weights(average_weight=float("inf")), "inf is the average_weight of iteration 3, .* at least 0 and finite"),
        (Weights(average_weight=-1), "-1 is the average_weight of iteration 3"),
        (Weights(average_decay=float("nan")), "nan is the average_decay"),
        (Weights(average_decay=10**400), "a number of 400 digits is the average_decay"),
        (Weights(average_decay=-(10**5000)), "a number of 5,000 digits is the average_decay"),
        (Weights(prediction=-2.0), "-2.0 is the prediction of"),
        (Weights(prediction_discount=-0.1), "-0.1 is the prediction_discount"),
        ((1.0, 1.0, "x", 1.0, 1.0, 0.0, 1.0), "'x' is the floor of iteration 3"),
        ((1.0, 2.0, 3.0), r"\(1.0, 2.0, 3.0\) at iteration 3 must be Weights, 7 numbers: positive_discount"),
        (None, "None at iteration 3 must be Weights"),
    ],
)
def test_weights_that_no_engine_can_apply_are_refused(later: object, message: str) -> None:
    with pytest.raises(InvalidOption, match=f"^variant: {message}"):
        schedule(Own(later), first=1, count=5)
    with pytest.raises(InvalidOption, match=f"^variant: {message}"):
        solve_game("kuhn", variant=Own(later), iterations=5)
    assert len(schedule(Own(later), first=1, count=2)) == 2


def test_parameters_that_overflow_are_refused() -> None:
    with pytest.raises(InvalidOption, match=r"^variant: Plus\(power=400.0, delay=0\) has weights that are too large"):
        schedule(read_variant("plus(power=400)"), first=1, count=10)
    with pytest.raises(InvalidOption, match=r"^variant: nan is the average_decay"):
        schedule(Discounted(gamma=float("nan")), first=1, count=10)
