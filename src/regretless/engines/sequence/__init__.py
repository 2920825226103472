"""Engines for general games: on the sequence form for two players, on the history form for more."""
