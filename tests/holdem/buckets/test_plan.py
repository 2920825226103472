"""Plans that cannot be built are refused."""

from __future__ import annotations

import pytest

from regretless.errors import RegretlessError
from regretless.holdem.buckets import BucketPlan


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"flop": 0}, "flop: 0 must be from 1 to 65,535 buckets"),
        ({"river": 65_536}, "river: 65536 must be from 1 to 65,535 buckets"),
        ({"turn": 2.5}, "turn: 2.5 must be from 1 to 65,535 buckets"),
        ({"flop": 5, "method": "ward"}, "method: 'ward' is not one of kmeans, percentile"),
        ({"flop": 5, "sample": 10}, "sample: 10 must be from 1,000 to 10,000,000 deals"),
        ({"flop": 5, "seed": -1}, "seed: -1 must be from 0"),
        ({"flop": 5, "board": (1, 2)}, "board: '2d 2h' must be a flop"),
        ({}, "no street has buckets"),
    ],
)
def test_impossible_plans_are_refused(fields, reason):
    with pytest.raises(RegretlessError, match=reason):
        BucketPlan(**fields)
