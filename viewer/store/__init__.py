"""The store: all SQL of the program is in this package."""
