"""Independent check of a solved spot: on the full deck, in float64, without the engine."""
