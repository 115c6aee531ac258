"""The studies; each is a folder with the same parts, independent of the others."""
