"""Readers: files from outside converted to domain data."""
