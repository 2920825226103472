"""The bucketed form on the processor."""
