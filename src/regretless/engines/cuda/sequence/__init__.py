"""General games on a CUDA device: whole schedules run in kernels compiled through CuPy."""
