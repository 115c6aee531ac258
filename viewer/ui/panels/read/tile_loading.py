"""Reading the tiles of a slide that are seen, in the background."""

from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject
from PySide6.QtGui import QImage

from viewer.domain.case import ImageRef
from viewer.domain.slide import SlideRegion
from viewer.services.viewing.decoding import Decoder
from viewer.services.viewing.view_image import ShownImage
from viewer.ui.application.background_tasks import run_for
from viewer.ui.canvas.slide_tiles import SlideTiles, tile_image

if TYPE_CHECKING:
    from viewer.ui.application.jobs import Job
    from viewer.ui.canvas.image_view import ImageView

_AT_ONCE: Final = 2
"""One is decoded while the one before is delivered; more would only wait, and what
is seen may be another part of the slide by then."""


class TileLoading(QObject):
    """Brings a view the tiles that it lacks, those in the middle first."""

    def __init__(self, decoder: Decoder, view: "ImageView", shown: ShownImage) -> None:
        super().__init__(view)
        assert shown.slide is not None  # noqa: S101 - only slides have tiles
        self._decoder, self._view = decoder, view
        self._path, self._as_scanned = shown.ref.path, False
        self._jobs: dict[SlideRegion, Job[QImage]] = {}
        self.tiles = SlideTiles(shown.slide, shown.image.values, self)
        self.tiles.missing_changed.connect(self._fetch)

    def end(self) -> None:
        """Read no more tiles: the view shows something else."""
        for job in self._jobs.values():
            job.cancel()
        self.deleteLater()

    def _fetch(self) -> None:
        for tile in self.tiles.missing:
            if len(self._jobs) >= _AT_ONCE:
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
