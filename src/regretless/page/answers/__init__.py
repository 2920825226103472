"""Solutions and spots as JSON."""
