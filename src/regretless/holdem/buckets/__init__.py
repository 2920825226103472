"""Card abstraction: situations in the same bucket share a strategy. In the order the data flows:

plan        the settings: how many buckets on each street and how they are found; what users type
division    features of situations -> buckets, found on a sample of deals; memory and time
build       every situation of every street, with progress, checkpoints and resume
table       the file of tables, and the buckets of any hand on any board
"""

from regretless.holdem.buckets.build import build_buckets
from regretless.holdem.buckets.plan import BucketPlan
from regretless.holdem.buckets.table import NO_BUCKET, Buckets

__all__ = ["NO_BUCKET", "BucketPlan", "Buckets", "build_buckets"]
