"""Engines that walk a part of the tree in each iteration, drawn at random."""
