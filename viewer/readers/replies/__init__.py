"""Replies that models gave elsewhere, from files."""
