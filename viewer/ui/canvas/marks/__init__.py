"""What a person draws on an image: lengths, angles and regions, and their values."""
