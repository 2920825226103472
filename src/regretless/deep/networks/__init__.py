"""Encoders of observations, and the network for advantages and policies."""
