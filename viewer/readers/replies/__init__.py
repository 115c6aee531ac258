"""Read replies that models gave elsewhere."""
