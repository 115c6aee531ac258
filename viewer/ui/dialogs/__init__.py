"""Separate windows that leave the image free."""
