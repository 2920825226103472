"""Engines of the bucketed form: regrets per betting node and bucket, runouts drawn every iteration."""
