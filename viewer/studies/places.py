"""Additional interface of a study whose answers are locations on an image."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from viewer.domain.answer import Answer, CellAnswer, Unparsed
from viewer.domain.case import Dataset, DatasetImage
from viewer.domain.finding_names import concept
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.grid import Cell, Grid
from viewer.domain.image import Raster
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask
from viewer.domain.result import Measures, Score
from viewer.domain.run import Condition, Trial
from viewer.metrics.harmonised import Target, measures, target


@dataclass(frozen=True)
class GridReference:
    """A mask seen through a grid.

    ``covered`` counts the mask's pixels in each cell and ``area`` each cell's pixels,
    row-major; ``hits`` are the qualifying cells' row-major indices with the fallback
    applied; ``fallback`` tells whether it was. ``fraction_outside`` of the mask's
    native pixels lies outside the crop. ``alternate_hits`` is the qualifying set in
    the mask mode that was not chosen.
    """

    grid: Grid
    covered: tuple[float, ...]
    area: tuple[float, ...]
    hits: tuple[int, ...]
    fallback: bool
    fraction_outside: float
    alternate_hits: tuple[int, ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the qualifying cells by their names."""
        columns = self.grid.columns
        return tuple(self.grid.label(Cell(*divmod(i, columns))) for i in self.hits)

    @property
    def share(self) -> float:
        """The share of the square sent that the mask covers, 0-1."""
        return sum(self.covered) / sum(self.area)


class Places(Protocol):
    """The geometry of a run's answers on images, with the run's settings."""

    @property
    def reader_rule(self) -> str:
        """Whose boxes are the reference: any, majority or a reader's name."""
        ...

    def sent_size(self, condition: Condition) -> SizePx:
        """Return the size of the raster that is sent under a condition."""
        ...

    def grid(self, condition: Condition) -> Grid:
        """Return the grid that a condition draws."""
        ...

    def field(self, geometry: ImageGeometry) -> BoxPx:
        """Return the native rectangle of an image that the square sent covers."""
        ...

    def plain(self, raster: Raster) -> Raster:
        """Return an image as sent, but without its grid."""
        ...

    def gridded(self, raster: Raster, condition: Condition) -> Raster:
        """Return an image as it is sent."""
        ...

    def shown_mask(self, mask: Mask, geometry: ImageGeometry) -> npt.NDArray[np.bool_]:
        """Return a mask of an image on the raster sent, (rows, columns)."""
        ...

    def reference(
        self, mask: Mask, geometry: ImageGeometry, condition: Condition
    ) -> GridReference:
        """Return a mask of an image as scored under a condition."""
        ...

    def in_cell(
        self,
        answer: Answer | Unparsed,
        condition: Condition,
        geometry: ImageGeometry,
    ) -> CellAnswer | Unparsed:
        """Return the cell that an answer about an image points at."""
        ...

    def score(
        self,
        answer: CellAnswer | Unparsed,
        reference: GridReference | None,
        condition: Condition,
    ) -> Score:
        """Return the verdict on an answer in its cell.

        Without a reference the answer is excluded, unless the condition asks about a
        finding that is absent.
        """
        ...


class Examples(Protocol):
    """The source of few-shot examples."""

    @property
    def dataset(self) -> str:
        """The name of the data set."""
        ...

    def check(
        self, validation: Dataset, asked: Dataset, trials: Sequence[Trial]
    ) -> None:
        """Raise if there are too few examples, or of the same patients."""
        ...


@dataclass(frozen=True)
class PlacesContext:
    """Further data for a report on locations, beyond its trials and data set.

    ``anatomy_errors`` counts, by model and finding, the misses that readers called
    anatomy errors, estimated if they reviewed a sample; unreviewed ones are missing.
    ``validation`` is the data set of examples, None without any. ``human_points``, by
    image and finding, are points of the data set's readers, or ``human_problem`` says
    what is wrong with their file.
    """

    anatomy_errors: Mapping[tuple[str, str], float] = field(default_factory=dict)
    validation: Dataset | None = None
    human_points: Mapping[str, Mapping[str, Sequence[PointPx]]] = field(
        default_factory=dict
    )
    human_problem: str = ""


@dataclass(frozen=True)
class Pointed:
    """Where readers pointed for a finding that an image has a mask of, if they did.

    ``mask`` is what the data set calls the finding.
    """

    finding: str
    image: DatasetImage
    mask: str
    points: tuple[PointPx, ...]


def pointed_at(
    points: Mapping[str, Mapping[str, Sequence[PointPx]]],
    images: Iterable[DatasetImage],
    findings: Iterable[str],
    views: Collection[str],
) -> Iterator[Pointed]:
    """Yield the readers' points of every pair of finding and mask in these views.

    Without any points at all there is nothing to yield.
    """
    seen = [one for one in images if one.view in views] if points else []
    for finding in findings:
        for image in seen:
            own = points.get(image.key, {})
            for mask in image.masks:
                if concept(mask) == concept(finding):
                    yield Pointed(finding, image, mask, points_for(own, finding))


def points_for(
    points: Mapping[str, Sequence[PointPx]], finding: str
) -> tuple[PointPx, ...]:
    """Return the points for a finding, under whichever of its names."""
    wanted = concept(finding)
    return tuple(
        p for name, of in points.items() if concept(name) == wanted for p in of
    )


def prompt_for_places(asking: str) -> tuple[str, str]:
    """Return the name and template of a prompt in a model's own words for a place."""
    return "places", f"user:\n{asking}"


def measured(
    places: Places,
    condition: Condition,
    mask: Mask,
    answer: Answer,
    geometry: ImageGeometry,
) -> Measures | None:
    """Return how an answer about an image compares with a reference mask.

    None if nothing of the reference was sent; millimetres need a pixel spacing.
    """
    reference = places.reference(mask, geometry, condition)
    field = places.field(geometry)
    goal = _target(mask, reference.grid, field, reference.hits, geometry)
    return measures(answer, goal)


@lru_cache(maxsize=4)
def _target(
    mask: Mask,
    grid: Grid,
    field: BoxPx,
    hits: tuple[int, ...],
    geometry: ImageGeometry,
) -> Target:
    return target(mask, grid, field, hits, geometry)
