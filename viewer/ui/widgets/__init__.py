"""Small widgets, texts, icons and the theme."""
