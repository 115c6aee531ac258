"""Reading of stored data, for the window and the command line."""
