"""What a run becomes that is given away as one file (M-23)."""
