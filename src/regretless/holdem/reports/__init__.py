"""Solved spots side by side, by classes of hands, and as files for other programs."""
