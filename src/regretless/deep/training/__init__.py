"""Training as a problem and an engine for the solving loop; trained policies, their files, and TensorBoard output."""
