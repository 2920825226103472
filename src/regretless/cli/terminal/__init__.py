"""How the command meets its terminal: consoles, colours, numbers, tables, progress, warnings and interrupts."""
