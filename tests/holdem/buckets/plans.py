"""Small plans for tests of buckets: few boards, so that they are quick to build."""

from __future__ import annotations

from regretless.cards.deck import parse_board
from regretless.holdem.buckets import BucketPlan

FLOP = parse_board("Qs Jh 2h")
MONOTONE = parse_board("As 7s 6s")
PLAN = BucketPlan(turn=20, river=30, board=MONOTONE, sample=2000, seed=3)
PERCENTILES = BucketPlan(turn=20, river=300, board=MONOTONE, sample=20_000, method="percentile")
