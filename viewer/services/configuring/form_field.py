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
    are display names of the choices, if they differ from those in files. ``more``: it
    is seldom needed, so that a form shows it only on request.
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
    more: bool = False

    @property
    def sentence(self) -> str:
        """What it means, and its default if it has one, as a sentence."""
        meaning = self.help[:1].upper() + self.help[1:]
        default = "" if "default" in self.help else self._shown_default
        return f"{meaning}. Default: {default}." if default else f"{meaning}."

    @property
    def _shown_default(self) -> str:
        """The default as the form shows it, "" for none."""
        if self.kind == "bool":
            return "on" if self.default else "off"
        if isinstance(self.default, float):
            return f"{self.default:g}"
        if self.default in self.choices and self.words:
            return self.words[self.choices.index(str(self.default))]
        return "" if self.default is None else str(self.default)
