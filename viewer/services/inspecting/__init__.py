"""Read what is stored, for the window and the command line."""
