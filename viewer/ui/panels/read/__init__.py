"""Cases, viewports and what is done to images."""
