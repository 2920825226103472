"""What kernels read of a spot, as arrays: the betting tree, hands and runouts, the records, how they are packed."""
