"""Windows of their own that leave the image free."""
