"""Reading the tiles of a slide that are seen, in the background."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject
from PySide6.QtGui import QImage

from viewer.domain.annotation import PROFILE_LINE
from viewer.domain.case import ImageRef
from viewer.domain.slide import SlideRegion
from viewer.services.viewing.decoding import Decoder
from viewer.services.viewing.view_image import ShownImage
from viewer.ui.application.background_tasks import run_for
from viewer.ui.application.preferences import current
from viewer.ui.canvas.slide_tiles import SlideTiles, tile_image

if TYPE_CHECKING:
    from viewer.ui.application.jobs import Job
    from viewer.ui.canvas.image_view import ImageView

_AS_SCANNED: Final = "Colours as scanned, ICC profile left out"
_AT_ONCE: Final = 2
"""One is decoded while the one before is delivered; more would only wait, and what
is seen may be another part of the slide by then."""


class TileLoading(QObject):
    """Brings a view the tiles that it lacks, those in the middle first."""

    def __init__(self, decoder: Decoder, view: "ImageView", shown: ShownImage) -> None:
        super().__init__(view)
        assert shown.slide is not None  # noqa: S101 - only slides have tiles
        self._decoder, self._view = decoder, view
        self._shown, self._path = shown, shown.ref.path
        self._as_scanned = False
        self._jobs: dict[SlideRegion, Job[QImage]] = {}
        self.tiles = SlideTiles(shown.slide, shown.image.values, self)
        self.tiles.wanted.connect(self._fetch)

    def follow_colours(self) -> None:
        """Show the slide in converted or scanned colours, as the reader prefers."""
        wanted = current().colours_as_scanned
        if wanted == self._as_scanned or not self.tiles.profiled:
            return
        self._as_scanned = wanted
        run_for(
            self,
            lambda: self._decoder.tile(ImageRef(self._path), as_scanned=wanted),
            partial(self._recolour, wanted),
            lambda _: None,  # it was read when the slide was opened
        )

    def _recolour(self, as_scanned: bool, overview: npt.NDArray[np.uint8]) -> None:
        if as_scanned is not self._as_scanned:
            return  # it was changed back meanwhile
        for job in self._jobs.values():
            job.cancel()
        self._jobs.clear()
        self.tiles.recolour(overview)
        self._view.rename(_named(self._shown) if as_scanned else self._shown)
        self._view.show_tiles(self.tiles)  # the small picture has other colours too

    def end(self) -> None:
        """Stop reading tiles: the view shows another image."""
        for job in self._jobs.values():
            job.cancel()
        self.deleteLater()

    def _fetch(self) -> None:
        for tile in self.tiles.missing:
            if len(self._jobs) >= _AT_ONCE or not self._view.isVisible():
                return
            if tile not in self._jobs and tile not in self.tiles:
                self._jobs[tile] = run_for(
                    self,
                    partial(self._read, tile),
                    partial(self._add, tile),
                    partial(self._fail, tile),
                    priority=1,
                )

    def _read(self, tile: SlideRegion) -> QImage:
        ref = ImageRef(self._path, tile.frame)
        return tile_image(self._decoder.tile(ref, as_scanned=self._as_scanned))

    def _add(self, tile: SlideRegion, image: QImage | None) -> None:
        self._jobs.pop(tile, None)
        self.tiles.add(tile, image)
        self._view.redraw()
        self._fetch()

    def _fail(self, tile: SlideRegion, _: Exception) -> None:
        # The view says how many cannot be read, and hatches them.
        self._add(tile, None)


def _named(shown: ShownImage) -> ShownImage:
    """Return a slide whose corner text says that its profile is left out."""
    lines = (
        replace(line, text=_AS_SCANNED) if line.text == PROFILE_LINE else line
        for line in shown.corners.bottom_right
    )
    return replace(shown, corners=replace(shown.corners, bottom_right=tuple(lines)))
