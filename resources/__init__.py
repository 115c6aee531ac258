"""Shipped data: icons, themes, the manual and the sample case."""
