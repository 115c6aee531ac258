"""Text as the pages show it; jinja2 escapes the rest."""

from viewer.domain.escapes import visible


def shown(value: object) -> object:
    """Return a value of a template with its control characters to be seen.

    What is marked as HTML of our own stays as it is, as jinja2 tells it.
    """
    return visible(value) if type(value) is str else value
