"""Frozen data with names and units; numpy, msgspec and the standard library."""
