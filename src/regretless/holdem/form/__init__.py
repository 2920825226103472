"""The form of a hold'em game: betting tree, equivalent suits, runouts."""
