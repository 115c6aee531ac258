"""The worker process, and the window's connection to it."""
