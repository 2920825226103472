"""The numba engine of the bucketed form."""
