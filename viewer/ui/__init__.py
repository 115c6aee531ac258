"""The only Qt: the window, its canvas, panels and dialogs."""
