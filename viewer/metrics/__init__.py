"""Statistics: scores in, estimates out; no files and no store."""
