"""Every form on the processor, in kernels compiled by numba."""
