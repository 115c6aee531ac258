"""Image processing on arrays: no files, no Qt, no network."""
