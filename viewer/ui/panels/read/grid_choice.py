"""What a person set of the grid over the image; the controls themselves come later."""

from dataclasses import dataclass
from typing import Final

from viewer.domain.grid import Grid
from viewer.imaging.grid_overlay import LabelStyle, Rgb

_EIGHT_BY_EIGHT: Final = Grid(8, 8)


@dataclass(frozen=True, slots=True)
class GridChoice:
    """What a person set: the grid, how it looks and whether it shows.

    ``colour`` is RGB 0-255, ``opacity`` 0-1.
    """

    shown: bool = True
    grid: Grid = _EIGHT_BY_EIGHT
    labels: LabelStyle = LabelStyle.CELL
    colour: Rgb = (255, 230, 0)
    opacity: float = 0.6


@dataclass(frozen=True, slots=True)
class GridChanged:
    """The grid was set otherwise."""

    choice: GridChoice
