"""The CUDA engine of the bucketed form."""
