"""Decoding in processes of its own, as the window sees it.

Two processes: one for the image that is wanted on the screen, one for thumbnails, so
that the former never waits behind the latter. Each starts with its first call, and
ends with the window: its input ends then. A process that crashes or takes too long is
ended, said in a sentence, and the next call gets a fresh one.
"""

import io
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, cast

from viewer.domain.case import ImageRef
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import BoxPx
from viewer.domain.image import Raster
from viewer.services.decoder_process import Call, Reply, spawn_decoder
from viewer.services.field_raster import field_raster
from viewer.services.header_chunks import Headers, read_chunk
from viewer.services.opened_image import OpenedImage, open_image
from viewer.services.pickled_frames import read_message, write_message
from viewer.services.view_image import ShownImage, load_shown_image, thumbnail

if TYPE_CHECKING:
    import subprocess

LIMIT_S: Final = 60.0
"""Nobody looks at a screen for longer than this for one image."""

T = TypeVar("T")


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

    def headers(self, paths: tuple[Path, ...]) -> Headers:
        """Return what some files say of their images, or why they say nothing."""

    def close(self) -> None:
        """Wait for nothing any more; a call under way raises."""


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

    def headers(self, paths: tuple[Path, ...]) -> Headers:
        """Return what some files say of their images, or why they say nothing."""
        return read_chunk(paths)

    def close(self) -> None:
        """Do nothing: there is no process to end."""


class ProcessDecoder:
    """Decodes in two processes; safe to call from several threads.

    Every method raises UnreadableInputError for an image that cannot be read, also
    where its decoder crashed or took longer than ``limit_s`` seconds. A process that
    is ``running`` already is used for the screen.
    """

    def __init__(
        self,
        limit_s: float = LIMIT_S,
        running: "subprocess.Popen[bytes] | None" = None,
    ) -> None:
        self._screen, self._small = _Lane(limit_s, running), _Lane(limit_s)
        self._expected: _Expected | None = None

    def expect(self, ref: ImageRef) -> None:
        """Begin to open an image that will be the first one asked for."""
        self._expected = _Expected(ref, lambda: self._screen.call(open_image, ref))

    def start(self) -> None:
        """Start the process for the screen, so that it is there when it is needed."""
        self._screen.start()

    def open(self, ref: ImageRef) -> OpenedImage:
        """Return an image ready for the screen."""
        expected, self._expected = self._expected, None
        if expected is not None and expected.ref == ref:
            return expected.future.result()
        return self._screen.call(open_image, ref)

    def load(self, ref: ImageRef) -> ShownImage:
        """Return an image with its annotation."""
        return self._screen.call(load_shown_image, ref)

    def thumbnail(self, ref: ImageRef, side: int) -> Raster:
        """Return a square picture of the whole image."""
        return self._small.call(thumbnail, ref, side)

    def field_raster(self, ref: ImageRef, field: BoxPx, side: int) -> Raster:
        """Return a square picture of the part that a question covers."""
        return self._small.call(field_raster, ref, field, side)

    def headers(self, paths: tuple[Path, ...]) -> Headers:
        """Return what some files say of their images, or why they say nothing.

        An image waits for the headers that are read now, as they for an image; a few
        at a time, neither is felt.
        """
        return self._screen.call(read_chunk, paths)

    def close(self) -> None:
        """End both processes for good; a call under way raises."""
        self._screen.close()
        self._small.close()


class _Expected:
    """An image on its way, in a thread of its own."""

    def __init__(self, ref: ImageRef, opened: Callable[[], OpenedImage]) -> None:
        self.ref = ref
        self.future: Future[OpenedImage] = Future()
        threading.Thread(target=self._run, args=(opened,), daemon=True).start()

    def _run(self, opened: Callable[[], OpenedImage]) -> None:
        try:
            self.future.set_result(opened())
        except Exception as error:  # noqa: BLE001 - raised where the image is asked for
            self.future.set_exception(error)


class _Lane:
    """One decoding process, and those that wait for it."""

    def __init__(
        self, limit_s: float, running: "subprocess.Popen[bytes] | None" = None
    ) -> None:
        self._limit_s = limit_s
        self._turn = threading.Lock()
        self._process = running
        self._closed = False

    def start(self) -> None:
        """Let the process begin, so that the first image need not wait for it."""
        with self._turn:
            self._running()

    def close(self) -> None:
        """End the process; who waits for it is told, and it is not begun again."""
        self._closed = True
        if self._process is not None:
            self._process.kill()  # lets go who waits for it, and with it the turn
        with self._turn:
            if self._process is not None:
                self._forget(self._process)

    def call(
        self,
        function: Callable[..., T],
        first: ImageRef | tuple[Path, ...],
        *further: object,
    ) -> T:
        """Call a function of an image or of some files in the process."""
        call = Call(function, (first, *further), self._limit_s)
        path = first.path if isinstance(first, ImageRef) else first[0]
        with self._turn:
            reply = self._ask(self._running(), call, path)
        if reply.error is not None:
            raise reply.error
        return cast("T", reply.value)

    def _ask(self, process: "subprocess.Popen[bytes]", call: Call, path: Path) -> Reply:
        overdue = threading.Event()
        timer = threading.Timer(call.limit_s, _end, (process, overdue))
        timer.start()
        try:
            write_message(_raw(process.stdin), call)
            return cast("Reply", read_message(_raw(process.stdout)))
        except (EOFError, OSError):
            self._forget(process)
            raise _sentence(path, self._limit_s if overdue.is_set() else None) from None
        finally:
            timer.cancel()

    def _running(self) -> "subprocess.Popen[bytes]":
        process = self._process
        if process is not None and process.poll() is not None:
            self._forget(process)
            process = None
        if process is None:
            process = self._process = spawn_decoder()
        if self._closed:
            process.kill()
        return process

    def _forget(self, process: "subprocess.Popen[bytes]") -> None:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            _raw(pipe).close()
        self._process = None


def _raw(pipe: Any) -> io.FileIO:  # noqa: ANN401 - typed too widely by subprocess
    """Return a pipe as what it is without a buffer."""
    return cast("io.FileIO", pipe)


def _end(process: "subprocess.Popen[bytes]", overdue: threading.Event) -> None:
    overdue.set()
    process.kill()


def _sentence(path: Path, limit_s: float | None) -> UnreadableInputError:
    if limit_s is not None:
        return UnreadableInputError(
            f"{path.name} was not decoded within {limit_s:g} seconds.",
            "Export it again, uncompressed or smaller.",
        )
    return UnreadableInputError(
        f"{path.name} made its decoder crash.",
        "The file is damaged or incomplete: copy or export it again.",
    )
