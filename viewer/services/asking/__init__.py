"""Single questions: asked, previewed, read, outlined."""
