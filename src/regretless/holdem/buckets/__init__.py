"""Card abstraction: situations in the same bucket share a strategy. In the order the data flows:

choice      what users type: numbers of buckets, or a file
plan        the settings: how many buckets on each street, and how they are found
division    features of situations -> buckets: nearest centroids, or percentiles of strength
training    centroids and percentiles, from a sample of deals
estimate    memory and time, before anything is built
build       every situation of every street, with progress, checkpoints and resume
table       the buckets of any hand on any board
file        the file of finished and unfinished tables
"""

from regretless.holdem.buckets.build import build_buckets
from regretless.holdem.buckets.plan import BucketPlan
from regretless.holdem.buckets.table import NO_BUCKET, Buckets

__all__ = ["NO_BUCKET", "BucketPlan", "Buckets", "build_buckets"]
