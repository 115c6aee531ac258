"""Questions about the open image, and the answers to them."""
