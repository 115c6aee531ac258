"""A run as one file to share (M-23)."""
