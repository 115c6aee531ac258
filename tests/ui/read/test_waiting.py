"""What the canvas says while an image is decoded or files are looked through."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.make_dicom import make_dicom
from tests.helpers.small_datasets import grey
from viewer.domain.case import ImageRef
from viewer.services.viewing.decoding import LocalDecoder
from viewer.services.viewing.header_chunks import Headers
from viewer.services.viewing.opened_image import OpenedImage
from viewer.ui.canvas.waiting import EMPTY
from viewer.ui.workspaces.read import ReadWorkspace

_PATIENCE_MS = 20_000


class Held(LocalDecoder):
    """Reads headers and pixels once it may."""

    def __init__(self) -> None:
        self.headers_go, self.pixels_go = Event(), Event()

    def headers(self, paths: tuple[Path, ...]) -> Headers:
        self.headers_go.wait(300)
        return super().headers(paths)

    def open(self, ref: ImageRef) -> OpenedImage:
        self.pixels_go.wait(300)
        return super().open(ref)


@pytest.fixture
def decoder() -> Iterator[Held]:
    decoder = Held()
    yield decoder
    decoder.headers_go.set()
    decoder.pixels_go.set()


def test_that_an_empty_view_says_what_is_being_opened(
    qtbot: QtBot, read: ReadWorkspace, decoder: Held, tmp_path: Path
) -> None:
    make_dicom(tmp_path / "chest.dcm", grey(), PatientID="one")
    waiting = read.lightbox.view.waiting
    assert waiting.text == EMPTY
    read.open_paths([tmp_path / "chest.dcm"])
    assert waiting.text == ""
    qtbot.waitUntil(lambda: waiting.text == "Searching chest.dcm…")
    decoder.headers_go.set()
    qtbot.waitUntil(lambda: waiting.words.startswith("Opening chest.dcm, "))
    qtbot.waitUntil(lambda: waiting.text == waiting.words)
    decoder.pixels_go.set()
    qtbot.waitUntil(
        lambda: read.lightbox.active.shown is not None, timeout=_PATIENCE_MS
    )
    assert waiting.words == ""


def test_that_a_view_is_empty_again_where_nothing_was_found(
    qtbot: QtBot, read: ReadWorkspace, decoder: Held, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("no image", encoding="utf-8")
    decoder.headers_go.set()
    read.open_paths([tmp_path])
    waiting = read.lightbox.view.waiting
    assert waiting.words
    qtbot.waitUntil(lambda: waiting.text == EMPTY, timeout=_PATIENCE_MS)


def test_that_the_slice_before_stays_while_the_next_is_decoded(
    qtbot: QtBot, read: ReadWorkspace, decoder: Held, tmp_path: Path
) -> None:
    for n in range(30):
        make_dicom(
            tmp_path / f"{n}.dcm",
            grey(),
            PatientID="one",
            Modality="CT",
            ImagePositionPatient=[0, 0, n],
            ImageOrientationPatient=[1, 0, 0, 0, 1, 0],
        )
    decoder.headers_go.set()
    decoder.pixels_go.set()
    read.open_paths([tmp_path])
    viewport = read.lightbox.active
    qtbot.waitUntil(lambda: len(viewport.stack_images) == 30, timeout=_PATIENCE_MS)
    qtbot.waitUntil(lambda: viewport.shown is not None, timeout=_PATIENCE_MS)
    decoder.pixels_go.clear()
    viewport.go_to(29)
    waiting = viewport.view.waiting
    last = viewport.stack_images[29].ref
    assert waiting.words.startswith(f"Opening {last.path.name}, ")
    qtbot.waitUntil(lambda: waiting.text == waiting.words)
    assert viewport.view.window_shown is not None
    decoder.pixels_go.set()
    qtbot.waitUntil(
        lambda: viewport.shown is not None and viewport.shown.ref == last,
        timeout=_PATIENCE_MS,
    )
    assert waiting.words == ""
