"""Scores in, estimates out."""
