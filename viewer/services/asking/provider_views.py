"""How a provider's resizing changes the image that would be sent."""

from dataclasses import dataclass, replace
from typing import Final

from viewer.domain.geometry import SizePx
from viewer.domain.grid import Grid
from viewer.domain.image import PixelImage, Raster, Window
from viewer.imaging.grid_overlay import GridStyle, drawn_label_height_px
from viewer.imaging.luts import to_raster
from viewer.models.provider_view import PROVIDER_VIEWS, provider_view_named
from viewer.studies.catalog import PLACING, places_of, study_named

_PRESET: Final = "gosai2025"


@dataclass(frozen=True, slots=True)
class ViewOffer:
    """A provider's resizing, as offered in a list."""

    name: str
    summary: str


@dataclass(frozen=True, eq=False)
class ProviderSight:
    """An image as it is sent and as a model sees it after its provider's resizing.

    ``tokens`` is the image's token count, None if no formula is published;
    ``resampling`` names the resampling filter; ``warnings`` are the details of the grid
    that the model may not see, a sentence each.
    """

    sent: Raster
    seen: Raster
    tokens: int | None
    resampling: str
    warnings: tuple[str, ...]


def view_offers() -> tuple[ViewOffer, ...]:
    """Return the known ways of resizing; the first one changes nothing."""
    return tuple(ViewOffer(view.name, view.summary) for view in PROVIDER_VIEWS.values())


def sent_raster(image: PixelImage, window: Window | None, grid: Grid) -> Raster:
    """Return the image with its grid as the first study's preset sends it.

    ``window`` None means the file's. Raises if the grid's labels do not fit.
    """
    study = study_named(PLACING)
    chosen = {"grids": [grid.name], "letters": grid.letters.value}
    params = study.read_params(_PRESET, {**chosen})
    if window is not None:
        image = replace(image, windows=(window,), voi_luts=())
    places = places_of(PLACING, _PRESET, chosen)
    return places.gridded(to_raster(image), study.conditions(params)[0])


def provider_sight(sent: Raster, grid: Grid, provider: str) -> ProviderSight:
    """Return an image with its grid after a provider's resizing."""
    view = provider_view_named(provider)
    size = SizePx(sent.size.rows, sent.size.columns)
    label = drawn_label_height_px(grid, size, GridStyle())
    return ProviderSight(
        sent=sent,
        seen=view.apply(sent),
        tokens=view.tokens(size),
        resampling=view.resampling_note,
        warnings=view.warnings(size, grid, label),
    )
