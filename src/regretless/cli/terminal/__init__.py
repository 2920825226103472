"""What a person sees: consoles, colours, numbers, progress, warnings and interrupts."""
