"""General games on a CUDA device: whole schedules of iterations in kernels compiled through CuPy."""
