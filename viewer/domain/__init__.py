"""Frozen data types with names and units; needs only numpy and msgspec."""
