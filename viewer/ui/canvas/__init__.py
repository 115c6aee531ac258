"""The image area: one view, its tools and its overlays."""
