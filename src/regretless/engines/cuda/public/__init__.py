"""The public form on a CUDA device: our own kernels, launched through CuPy."""
