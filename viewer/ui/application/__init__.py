"""What all parts of the window use: context, actions, notices, background work."""
