"""The public form on the processor."""
