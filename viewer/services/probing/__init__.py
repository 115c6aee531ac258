"""Probe what an endpoint really does."""
