"""The PyTorch engine of the bucketed form: CPU, CUDA or MPS."""
