"""The geometry of the study's answers on images."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from viewer.domain.answer import Answer, CellAnswer, Status, Unparsed
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.grid import Grid
from viewer.domain.image import Raster
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask
from viewer.domain.result import Score
from viewer.domain.run import Condition
from viewer.imaging.grid_overlay import draw_grid, enlarged
from viewer.imaging.resample import fit
from viewer.studies.exclusions import NO_REFERENCE
from viewer.studies.grid_localization import absent, reference, score
from viewer.studies.grid_localization.params import Params
from viewer.studies.places import GridReference


@dataclass(frozen=True)
class GridPlaces:
    """Cells of a grid over the square that is sent of an image."""

    params: Params

    @property
    def reader_rule(self) -> str:
        """Whose boxes are the reference: any, majority or a reader's name."""
        return self.params.reader_rule

    def sent_size(self, condition: Condition) -> SizePx:
        """Return the size of the square that is sent, with its grid or without."""
        style = reference.style_of(condition, self.params)
        side = self.params.side * style.render_scale
        return SizePx(side, side)

    def grid(self, condition: Condition) -> Grid:
        """Return the grid that a condition draws."""
        return reference.grid_of(condition, self.params)

    def field(self, geometry: ImageGeometry) -> BoxPx:
        """Return the native rectangle of an image that the square sent covers."""
        return reference.field_of(geometry, self.params)

    def plain(self, raster: Raster) -> Raster:
        """Return an image as sent, but without its grid."""
        return _fitted(raster, self.params)

    def gridded(self, raster: Raster, condition: Condition) -> Raster:
        """Return an image as it is sent."""
        style = reference.style_of(condition, self.params)
        return draw_grid(self.plain(raster), self.grid(condition), style)

    def without_grid(self, raster: Raster, condition: Condition) -> Raster:
        """Return an image as it is sent to a model that is shown no grid."""
        style = reference.style_of(condition, self.params)
        return enlarged(self.plain(raster), style.render_scale)

    def shown_mask(self, mask: Mask, geometry: ImageGeometry) -> npt.NDArray[np.bool_]:
        """Return a mask of an image on the raster sent, (side, side)."""
        return reference.fitted_mask(mask, geometry, self.params)

    def reference(
        self, mask: Mask, geometry: ImageGeometry, condition: Condition
    ) -> GridReference:
        """Return a mask of an image as scored under a condition."""
        return reference.reference_of(mask, geometry, condition, self.params)

    def in_cell(
        self,
        answer: Answer | Unparsed,
        condition: Condition,
        geometry: ImageGeometry,
    ) -> CellAnswer | Unparsed:
        """Return the cell that an answer about an image points at."""
        if isinstance(answer, CellAnswer | Unparsed):
            return answer
        field, aspect = self.field(geometry), geometry.pixel_aspect
        return score.in_cell(answer, self.grid(condition), field, aspect)

    def score(
        self,
        answer: CellAnswer | Unparsed,
        reference: GridReference | None,
        condition: Condition,
    ) -> Score:
        """Return the verdict on an answer in its cell."""
        if reference is not None:
            return score.score(answer, reference)
        if absent.is_absent(condition):
            return absent.verdict(answer, self.grid(condition))
        if isinstance(answer, Unparsed):
            return Score(Status.EXCLUDED, NO_REFERENCE)
        label = self.grid(condition).label(answer.cell)
        return Score(Status.EXCLUDED, NO_REFERENCE, label)


@lru_cache(maxsize=8)
def _fitted(raster: Raster, params: Params) -> Raster:
    """Return an image fitted to the square, cached for the next condition.

    Several images are prepared beside one another.
    """
    return fit(raster, params.side, params.fit_mode)
