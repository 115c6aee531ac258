"""The settings of the grid over the image, apart from their controls."""

from dataclasses import dataclass
from typing import Final

from viewer.domain.grid import Grid
from viewer.imaging.grid_overlay import LabelStyle, Rgb

_EIGHT_BY_EIGHT: Final = Grid(8, 8)


@dataclass(frozen=True, slots=True)
class GridChoice:
    """The user's settings: the grid, its look, and whether it is visible.

    ``colour`` is RGB 0-255, ``opacity`` 0-1.
    """

    shown: bool = True
    grid: Grid = _EIGHT_BY_EIGHT
    labels: LabelStyle = LabelStyle.CELL
    colour: Rgb = (255, 230, 0)
    opacity: float = 0.6


@dataclass(frozen=True, slots=True)
class GridChanged:
    """The settings of the grid changed."""

    choice: GridChoice
