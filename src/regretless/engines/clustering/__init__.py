"""k-means on rows of whole numbers (`kmeans`), compiled (`kernels`): exact, so that threads cannot change a result."""
