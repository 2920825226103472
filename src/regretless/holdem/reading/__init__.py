"""Reading solutions: strategies, values and equities at any node, from an engine or a file; hands against them."""
