"""The numba kernels of the public form: vectors, nodes, terminals, walks, iterations."""
