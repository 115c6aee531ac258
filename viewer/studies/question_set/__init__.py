"""A benchmark without code: your own questions, with controls for the image."""
