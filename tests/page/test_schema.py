"""The sentences with which values are refused that do not match a schema."""

from __future__ import annotations

import numpy as np
import pytest

from regretless.page.schema import (
    Mismatch,
    Schema,
    anything,
    array,
    boolean,
    check,
    integer,
    nullable,
    number,
    obj,
    rounded,
    rounded_list,
    text,
)  # fmt: skip

LOCK = obj({"node": text(longest=10), "strategy": nullable(obj({}) | {"additionalProperties": number(maximum=1)})})


@pytest.mark.parametrize(
    ("value", "schema", "sentence"),
    [
        ("3", integer(), "x: must be a whole number"),
        (3.0, integer(), "x: must be a whole number"),
        (True, number(), "x: must be a number"),
        (1, boolean(), "x: must be true or false"),
        (5, nullable(text()), "x: must be a text or null"),
        (0, integer(minimum=1), "x: 0 is less than 1"),
        (0.0, number(exclusiveMinimum=0), "x: 0.0 is not above 0"),
        (101, number(maximum=100), "x: 101 is more than 100"),
        (10**18, number(maximum=100), "x: the number is more than 100"),
        (float("inf"), number(), "x: must be a finite number"),
        ("cuda:9", nullable(text(enum=["cpu", "cuda"])), "x: is not one of cpu, cuda, null"),
        ("abcd", text(longest=3), "x: has 4 characters; it must have at most 3"),
        ([0.5], array(number(), minItems=1326), "x: has 1 entries; it must have at least 1,326"),
        ([1, "2"], array(integer()), "x[1]: must be a whole number"),
        ({"strategy": None}, LOCK, "x.node: is missing"),
        ({"node": "", "strategy": None, "nod": 1}, LOCK, "x.nod: is not known here; allowed: node, strategy"),
        ({"node": "", "strategy": {"bet 40": 2}}, LOCK, "x.strategy.bet 40: 2 is more than 1"),
        ([], obj({}), "x: must be an object"),
    ],
)
def test_a_mismatch_is_one_sentence(value: object, schema: Schema, sentence: str) -> None:
    with pytest.raises(Mismatch) as caught:
        check(value, schema, "x")
    assert str(caught.value) == sentence
    assert sentence.startswith(f"{caught.value.field}: ")


def test_what_matches_is_accepted() -> None:
    check({"node": "check", "strategy": {"bet 40": 0.5}}, LOCK)
    check(None, nullable(integer(minimum=1)))
    check({"more": 1}, obj({}, open_=True))


def test_unknown_numbers_are_null() -> None:
    assert [rounded(value) for value in (2 / 3, float("nan"), float("-inf"), None)] == [0.666667, None, None, None]
    assert rounded_list(np.array([1 / 3, np.nan, 2], dtype=np.float32)) == [0.333333, None, 2.0]


def test_what_allows_anything_allows_null() -> None:
    assert nullable(anything()) == {}


def test_numbers_that_json_lacks_are_unknown() -> None:
    assert rounded_list(np.array([0.5, np.inf, -np.inf])) == [0.5, None, None]
