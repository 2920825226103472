"""Solves as processes of their own: what is asked, the worker, the queue."""
