"""Cases, viewports and image commands."""
