"""Readers of data sets, one module for each format."""
