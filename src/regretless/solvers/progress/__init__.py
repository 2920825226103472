"""A solve while it runs: the time left, a line that tells it, and Ctrl-C."""
