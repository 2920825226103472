"""The form of a hold'em game: betting tree, suits that play alike, runouts."""
