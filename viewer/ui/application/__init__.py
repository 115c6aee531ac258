"""Shared parts of the window: context, actions, notices, background work."""
