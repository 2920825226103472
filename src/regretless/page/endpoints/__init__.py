"""The endpoints of the API by subject; each module lists its own."""
