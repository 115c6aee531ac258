"""Single questions: asking, previewing, parsing and segmenting."""
