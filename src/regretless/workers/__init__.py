"""Work in processes of its own: a worker that solves one spot or game and saves it as it goes (`supervision.py`)."""
