"""Whole games of hold'em, from the deal: flop hold'em, push or fold."""
