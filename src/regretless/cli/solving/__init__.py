"""From the options of `regretless solve` to solved, saved and printed."""
