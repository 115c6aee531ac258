"""Before the first window: display check, first image, crash reports."""
