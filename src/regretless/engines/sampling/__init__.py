"""Engines that walk a random part of the tree in each iteration."""
