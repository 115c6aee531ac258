"""Picture files, page by page."""
