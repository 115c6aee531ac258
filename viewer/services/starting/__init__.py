"""What happens before the first window: display, first image, crash files."""
