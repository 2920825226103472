"""What the words of a command line mean: options that commands share, the files they name, and locks."""
