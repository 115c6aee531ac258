"""Report an error in a method that Qt calls like any other, instead of crashing."""
