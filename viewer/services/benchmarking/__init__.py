"""Speed measurements of the program on this machine."""
