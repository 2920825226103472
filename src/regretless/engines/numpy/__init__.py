"""The references: every form in plain NumPy, to be read first; all other engines must equal them."""
