"""Generated collections with known truth, and the demo."""
