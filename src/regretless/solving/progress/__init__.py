"""A running solve: the time left, the progress line, and Ctrl-C."""
