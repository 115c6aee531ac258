"""What is drawn over an image; one file per kind."""
