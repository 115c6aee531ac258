"""A benchmark without code: anybody's questions, with controls for the image."""
