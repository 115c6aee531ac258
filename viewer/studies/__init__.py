"""The studies; each is one folder with the same parts, strangers to each other."""
