"""Frozen data with names and units; numpy and the standard library only."""
