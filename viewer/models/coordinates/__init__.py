"""How models write coordinates: one table of conventions, for parsing and writing."""
