"""Reading a solved spot: strategies, values and equities at any node, from an engine or a file."""
