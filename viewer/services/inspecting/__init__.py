"""What is stored, as the window and the command line show it."""
