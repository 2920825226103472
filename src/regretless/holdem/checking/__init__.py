"""Checking a solved spot by another route: the full deck, in float64, without the engine."""
