"""How models write coordinates: one table of conventions, read and written."""
