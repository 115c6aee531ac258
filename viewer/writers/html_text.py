"""Pages from templates, with escaped text and visible control characters."""

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from viewer.domain.escapes import visible

if TYPE_CHECKING:
    from jinja2 import Environment


def rendered(template: str, **values: object) -> str:
    """Return a template of ``templates/`` with its values filled in."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=_shown,
        loader=FunctionLoader(_source),
    )


def _source(template: str) -> str:
    path = files("viewer.writers") / "templates" / template
    return path.read_text(encoding="utf-8")


def _shown(value: object) -> object:
    """Return a value with its control characters made visible.

    What is marked as HTML of our own stays as it is, as jinja2 tells it.
    """
    return visible(value) if type(value) is str else value
