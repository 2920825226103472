"""Spots, their bet sizes and locks, and how they are written as text."""
