"""The PyTorch engine of the public form: batched over runouts and decisions, on a CPU, a CUDA device or Apple's MPS."""
