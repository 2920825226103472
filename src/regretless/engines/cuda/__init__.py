"""Games, the public form and the bucketed form on an NVIDIA GPU, in CUDA kernels that CuPy compiles and launches."""
