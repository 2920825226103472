"""How much memory and time a card abstraction takes, before anything is built.

Memory covers the finished tables, the sample and the boards being worked on. Times are CPU times measured on a server
core; they predict the order of magnitude, which the progress of a build then corrects.
"""

from __future__ import annotations

from dataclasses import dataclass

from regretless.cards.features.opponents import CLUSTERS
from regretless.cards.features.strength import COLUMNS
from regretless.errors import WouldNotFit
from regretless.forms.memory import available_bytes
from regretless.holdem.buckets.plan import BucketPlan
from regretless.holdem.buckets.training import HANDS_PER_BOARD
from regretless.holdem.spots.question import StreetName

__all__ = ["BucketEstimate", "bytes_per_situation", "check_fits", "estimate_buckets"]

PROGRAM_BYTES = 300 * 2**20  # libraries, compiled kernels, and the tables that number situations
THREAD_BYTES = 24 * 2**20  # boards being worked on
SAMPLE_BYTES = 48  # per sampled deal, beside its features: weight, distance, chances, label

BOARD_SECONDS = {  # features of all hands of a board
    "kmeans": {"flop": 24e-3, "turn": 1.2e-3, "river": 95e-6},
    "percentile": {"flop": 22e-3, "turn": 0.9e-3, "river": 30e-6},
}
# The nearest of k centroids with d columns takes k · (a + b · d).
CENTROID_SECONDS, COLUMN_SECONDS = 0.9e-9, 0.033e-9
TRAINING_PASSES = 60  # over the sample, of the same cost


@dataclass(frozen=True)
class BucketEstimate:
    """The size of a plan."""

    situations: dict[StreetName, int]
    file_bytes: int
    memory_bytes: int
    seconds: dict[StreetName, float]  # on the number of threads asked for


def bytes_per_situation(buckets: int) -> int:
    """One byte if every bucket fits, else two."""
    return 1 if buckets <= 256 else 2


def estimate_buckets(plan: BucketPlan, *, threads: int) -> BucketEstimate:
    """Memory and time of a plan.

    >>> found = estimate_buckets(BucketPlan(river=200), threads=2)
    >>> found.situations, found.file_bytes
    ({'river': 123156254}, 123156254)
    """
    situations = {street: plan.situations(street) for street in plan.streets}
    table = sum(count * bytes_per_situation(plan.count(street)) for street, count in situations.items())
    sample = plan.sample * (2 * 2 * COLUMNS + SAMPLE_BYTES)  # features of two bytes, by board and then joined
    seconds = {street: _seconds(plan, street) / threads for street in plan.streets}
    return BucketEstimate(situations, table, table + sample + PROGRAM_BYTES + threads * THREAD_BYTES, seconds)


def check_fits(plan: BucketPlan, *, threads: int, available: int | None = None) -> BucketEstimate:
    """The estimate; raises `WouldNotFit` if it is more than the machine has free."""
    found = estimate_buckets(plan, threads=threads)
    free = available_bytes() if available is None else available
    if found.memory_bytes > free:
        raise WouldNotFit("the table", needed=found.memory_bytes, available=free, hint="build fewer streets")
    return found


def _seconds(plan: BucketPlan, street: StreetName) -> float:
    boards, count = plan.boards(street), plan.count(street)
    sampled = min(len(boards.rows), plan.sample / HANDS_PER_BOARD[street])
    features = (len(boards.rows) + sampled) * BOARD_SECONDS[plan.method][street]
    if plan.method == "percentile":
        return features
    columns = CLUSTERS if street == "river" else COLUMNS
    nearest = count * (CENTROID_SECONDS + COLUMN_SECONDS * columns)
    return features + nearest * (boards.situations + TRAINING_PASSES * plan.sample)
