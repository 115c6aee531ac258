"""Images for display: opened, decoded in separate processes, and prepared."""
