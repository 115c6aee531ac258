"""A forest plot as data: differences with their intervals."""

from dataclasses import dataclass

from viewer.domain.styles import Style, sides_of


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A difference from -1 to 1 with its interval; ``summary`` rows stand apart.

    ``interval`` is None if none can be given; the note says why. It is based on ``n``
    items, of which the first side hits ``first`` (0-1) and the second ``second``;
    ``note`` is printed beside it.
    """

    name: str
    n: int
    value: float
    interval: tuple[float, float] | None
    first: float | None
    second: float | None
    note: str
    summary: bool = False


@dataclass(frozen=True)
class ForestFigure:
    """A forest plot; ``interval`` names the whiskers, ``watermark`` is "" or a warning.

    A difference is the first side's rate minus the second's. ``models`` are the models
    of the two sides, which determine their colours.
    """

    title: str
    first: str
    second: str
    interval: str
    rows: tuple[ForestRow, ...]
    watermark: str = ""
    models: tuple[str, str] = ("", "")

    @property
    def looks(self) -> tuple[Style, Style]:
        """The styles of the two sides."""
        first, second = sides_of(self.models)
        return first, second
