"""Engines for general games: the sequence form of two players, the history form of more."""
