"""The side panels of the workspaces."""
