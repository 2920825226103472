"""Spots solved with card buckets and sampled runouts."""
