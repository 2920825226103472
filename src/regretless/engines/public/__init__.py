"""Engines for the public form: vectors over private hands at every public node."""
