"""Commands about cards alone: ranges, equity, buckets of hands."""
