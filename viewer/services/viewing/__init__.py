"""Images for the eyes: opened, decoded in processes of their own, made ready."""
