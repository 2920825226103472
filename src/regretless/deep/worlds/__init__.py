"""Games as batches of states, for the traversal."""
