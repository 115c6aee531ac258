"""Parameters as form fields."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FormField:
    """A parameter as a form shows it.

    ``kind`` is bool, int, float, choice, choices, text, path of a file, folder (or
    another name that is typed), or maybe_int and maybe_float for a number that may be
    left out (None). The name of a path's file ends in ``ending``. ``default`` is a
    plain JSON value, a tuple for ``choices``; without any ``choices`` those are free.
    ``low`` and ``high`` bound a number. ``label`` is what the form calls it, "" for
    its name in plain letters, and ``words`` what it calls the choices, if anything else
    than they are called in files.
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
