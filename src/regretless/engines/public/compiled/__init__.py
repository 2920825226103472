"""The public form on the processor, in kernels compiled by numba."""
