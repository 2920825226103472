"""What is asked: a spot, its bet sizes and locks, and how they are written as text."""
