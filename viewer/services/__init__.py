"""Use cases, without Qt: what the window, the worker and the command line do."""
