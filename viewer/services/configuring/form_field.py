"""Parameters as form fields."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FormField:
    """A parameter as a form field.

    ``kind`` is bool, int, float, choice, choices, text, path of a file, folder (or
    another typed name), or maybe_int and maybe_float for a number that may be left out
    (None). A path ends in ``ending``. ``default`` is a plain JSON value, a tuple for
    ``choices``, which are free if ``choices`` is empty. ``low`` and ``high`` bound a
    number. ``label`` is the displayed name, "" for the name with spaces, and ``words``
    are display names of the choices, if they differ from those in files.
    """

    name: str
    kind: str
    default: object
    help: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    ending: str = ""
    label: str = ""
    words: tuple[str, ...] = ()
