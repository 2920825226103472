"""General games and sampling in PyTorch: on a CPU, a CUDA device or Apple's MPS."""
