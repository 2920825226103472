"""Heads-up no-limit hold'em from the deal, solved with card buckets on boards drawn at random."""
