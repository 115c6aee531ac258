"""Decoding in separate processes, for the window.

There are three processes: one for the image to be shown, one for thumbnails, so that
the image never waits for thumbnails, and one for the tiles of slides, which keeps the
slide open. Each starts with its first call and ends with the window, which closes its
input. A process that crashes or takes too long is ended with a
message, and the next call gets a new one.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from viewer.domain.case import ImageRef
from viewer.domain.geometry import BoxPx
from viewer.domain.image import Raster
from viewer.services.viewing.decoder import DecodingProcess
from viewer.services.viewing.decoder_limits import DecoderLimits
from viewer.services.viewing.field_raster import field_raster
from viewer.services.viewing.header_chunks import Headers, read_chunk
from viewer.services.viewing.opened_image import OpenedImage, open_image
from viewer.services.viewing.view_image import (
    ShownImage,
    load_shown_image,
    slide_pixels,
    thumbnail,
)

if TYPE_CHECKING:
    import subprocess


class Decoder(Protocol):
    """Reads images; every call blocks, and is meant for a background thread."""

    def open(self, ref: ImageRef) -> OpenedImage:
        """Return an image ready for the screen."""

    def load(self, ref: ImageRef) -> ShownImage:
        """Return an image with its annotation."""

    def thumbnail(self, ref: ImageRef, side: int) -> Raster:
        """Return a square picture of the whole image."""

    def field_raster(self, ref: ImageRef, field: BoxPx, side: int) -> Raster:
        """Return a square picture of the part that a question covers."""

    def tile(self, ref: ImageRef, *, as_scanned: bool) -> npt.NDArray[np.uint8]:
        """Return a frame or region of a slide as RGB, (rows, columns, 3)."""

    def headers(self, paths: tuple[Path, ...]) -> Headers:
        """Return the headers of files, or why one cannot be read."""

    def close(self) -> None:
        """Stop waiting; a call in progress raises."""


class LocalDecoder:
    """Decodes in this process."""

    def open(self, ref: ImageRef) -> OpenedImage:
        """Return an image ready for the screen."""
        return open_image(ref)

    def load(self, ref: ImageRef) -> ShownImage:
        """Return an image with its annotation."""
        return load_shown_image(ref)

    def thumbnail(self, ref: ImageRef, side: int) -> Raster:
        """Return a square picture of the whole image."""
        return thumbnail(ref, side)

    def field_raster(self, ref: ImageRef, field: BoxPx, side: int) -> Raster:
        """Return a square picture of the part that a question covers."""
        return field_raster(ref, field, side)

    def tile(self, ref: ImageRef, *, as_scanned: bool) -> npt.NDArray[np.uint8]:
        """Return a frame or region of a slide as RGB, (rows, columns, 3)."""
        return slide_pixels(ref, as_scanned=as_scanned)

    def headers(self, paths: tuple[Path, ...]) -> Headers:
        """Return the headers of files, or why one cannot be read."""
        return read_chunk(paths)

    def close(self) -> None:
        """Do nothing: there is no process to end."""


class ProcessDecoder:
    """Decodes in three processes; thread-safe.

    Every method raises UnreadableInputError for an image that cannot be read, including
    if its decoder crashed or reached one of the ``limits``. A process that is
    ``running`` already is used for the displayed image.
    """

    def __init__(
        self,
        limits: DecoderLimits = DecoderLimits(),  # noqa: B008 - frozen
        running: "subprocess.Popen[bytes] | None" = None,
    ) -> None:
        self._screen = DecodingProcess(limits, running)
        self._small, self._tiles = DecodingProcess(limits), DecodingProcess(limits)
        self._expected: _Expected | None = None

    def expect(self, ref: ImageRef) -> None:
        """Start opening an image that will be the first one requested."""
        self._expected = _Expected(ref, lambda: self._open(ref))

    def start(self) -> None:
        """Start the process for the displayed image, ahead of its first call."""
        self._screen.start()

    def open(self, ref: ImageRef) -> OpenedImage:
        """Return an image ready for the screen."""
        # Once only: the same image later may be another file.
        expected, self._expected = self._expected, None
        if expected is not None and expected.ref == ref:
            return expected.future.result()
        return self._open(ref)

    def load(self, ref: ImageRef) -> ShownImage:
        """Return an image with its annotation."""
        return self._screen.call(load_shown_image, ref.path, (ref,))

    def thumbnail(self, ref: ImageRef, side: int) -> Raster:
        """Return a square picture of the whole image."""
        return self._small.call(thumbnail, ref.path, (ref, side))

    def field_raster(self, ref: ImageRef, field: BoxPx, side: int) -> Raster:
        """Return a square picture of the part that a question covers."""
        return self._small.call(field_raster, ref.path, (ref, field, side))

    def tile(self, ref: ImageRef, *, as_scanned: bool) -> npt.NDArray[np.uint8]:
        """Return a frame or region of a slide as RGB, (rows, columns, 3)."""
        named = {"as_scanned": as_scanned}
        return self._tiles.call(slide_pixels, ref.path, (ref,), named)

    def headers(self, paths: tuple[Path, ...]) -> Headers:
        """Return the headers of files, or why one cannot be read.

        Images and headers share a process; few headers are read at a time, so that
        neither wait is noticeable.
        """
        return self._screen.call(read_chunk, paths[0], (paths,))

    def close(self) -> None:
        """End the processes for good; a call in progress raises."""
        for process in (self._screen, self._small, self._tiles):
            process.close()

    def _open(self, ref: ImageRef) -> OpenedImage:
        return self._screen.call(open_image, ref.path, (ref,))


class _Expected:
    """An image being opened, in its own thread."""

    def __init__(self, ref: ImageRef, opened: Callable[[], OpenedImage]) -> None:
        self.ref = ref
        self.future: Future[OpenedImage] = Future()
        threading.Thread(target=self._run, args=(opened,), daemon=True).start()

    def _run(self, opened: Callable[[], OpenedImage]) -> None:
        try:
            self.future.set_result(opened())
        except Exception as error:  # noqa: BLE001 - raised where the image is asked for
            self.future.set_exception(error)
