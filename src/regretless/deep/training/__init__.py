"""Deep CFR in use: a training as a problem and an engine of the loop, what it returns, its file, TensorBoard."""
