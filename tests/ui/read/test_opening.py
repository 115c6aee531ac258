"""Opening folders in Read: seen at once, in order in the end, cancelled, closed."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.helpers.make_dicom import make_dicom
from tests.helpers.small_datasets import grey, write_dicom
from viewer.domain.case import ImageRef
from viewer.domain.image import Raster
from viewer.services.viewing import open_case
from viewer.services.viewing.decoding import LocalDecoder
from viewer.services.viewing.header_chunks import Headers, read_chunk
from viewer.services.viewing.opened_image import OpenedImage
from viewer.settings import Settings
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.application.layout_memory import KeptImage
from viewer.ui.panels.read.index_line import IndexLine
from viewer.ui.panels.read.opening import lies_in
from viewer.ui.workspaces.read import ReadWorkspace

if TYPE_CHECKING:
    from viewer.ui.application.notices import Notice

_PATIENCE_MS = 20_000


class Slow(LocalDecoder):
    """Reads the first files, and the others once it may."""

    def __init__(self) -> None:
        self.go = Event()
        self._first = True

    def headers(self, paths: tuple[Path, ...]) -> Headers:
        if not self._first:
            self.go.wait(300)
        self._first = False
        return read_chunk(paths)


class Noting(LocalDecoder):
    """Notes what is asked of it, and opens an image once it may."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.go = Event()

    def headers(self, paths: tuple[Path, ...]) -> Headers:
        self.asked.append("headers")
        return read_chunk(paths)

    def open(self, ref: ImageRef) -> OpenedImage:
        self.asked.append("image")
        self.go.wait(300)
        return super().open(ref)

    def thumbnail(self, ref: ImageRef, side: int) -> Raster:
        self.asked.append("thumbnail")
        return super().thumbnail(ref, side)


@pytest.fixture
def noting() -> Iterator[Noting]:
    made = Noting()
    yield made
    made.go.set()


@pytest.fixture
def decoder() -> Iterator[Slow]:
    decoder = Slow()
    yield decoder
    decoder.go.set()


@pytest.fixture
def series(tmp_path: Path) -> Path:
    """A CT of 30 slices whose files are named against their order."""
    (tmp_path / "ct").mkdir()
    for n in range(30):
        make_dicom(
            tmp_path / "ct" / f"{n}.dcm",
            grey(),
            PatientID="one",
            Modality="CT",
            ImagePositionPatient=[0, 0, 30 - n],
            ImageOrientationPatient=[1, 0, 0, 0, 1, 0],
        )
    return tmp_path / "ct"


def _await_image(qtbot: QtBot, read: ReadWorkspace) -> None:
    qtbot.waitUntil(
        lambda: read.lightbox.active.shown is not None, timeout=_PATIENCE_MS
    )


def _await_end(qtbot: QtBot, read: ReadWorkspace) -> None:
    qtbot.waitUntil(read.browser.line.isHidden, timeout=_PATIENCE_MS)


def test_that_the_first_image_is_seen_while_the_rest_is_indexed(
    qtbot: QtBot, read: ReadWorkspace, decoder: Slow, series: Path
) -> None:
    read.open_paths([series])
    _await_image(qtbot, read)
    viewport = read.lightbox.active
    shown = viewport.shown
    assert shown is not None
    assert read.browser.line.words.text() == "8 of 30 files"
    assert len(viewport.stack_images) == 8
    decoder.go.set()
    _await_end(qtbot, read)
    assert viewport.shown is shown
    names = [image.ref.path.name for image in viewport.stack_images]
    assert names == [f"{n}.dcm" for n in reversed(range(30))]
    assert viewport.stack_images[viewport.position].ref == shown.ref
    assert "1 case · 30 images · indexed in" in read.browser.count.text()


def test_that_nothing_else_is_read_until_the_first_image_is_seen(
    qtbot: QtBot, settings: Settings, noting: Noting, series: Path
) -> None:
    read = ReadWorkspace(AppContext(settings, WorkerBridge(settings.store), noting))
    qtbot.addWidget(read)
    read.show()
    read.open_paths([series])
    qtbot.waitUntil(lambda: "image" in noting.asked)
    qtbot.wait(200)
    assert noting.asked == ["headers", "image"]
    noting.go.set()
    _await_image(qtbot, read)
    _await_end(qtbot, read)
    qtbot.waitUntil(lambda: "thumbnail" in noting.asked)


def test_that_the_line_says_so_while_files_are_still_being_listed(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, series: Path
) -> None:
    monkeypatch.setattr(open_case, "_PATIENCE_S", -1.0)
    line = IndexLine()
    qtbot.addWidget(line)
    first, *_, last = open_case.open_cases([series], Event())
    line.follow(first)
    assert line.words.text() == "Searching for more files…"
    assert line.bar.maximum() == 0
    line.follow(last)
    assert line.words.text() == "30 of 30 files"


@pytest.mark.parametrize("with_key", [True, False])
def test_that_cancelling_keeps_what_was_found_and_says_so(
    qtbot: QtBot, read: ReadWorkspace, decoder: Slow, series: Path, with_key: bool
) -> None:
    read.open_paths([series])
    _await_image(qtbot, read)
    if with_key:
        QTest.keyClick(read.browser.tree, Qt.Key.Key_Escape)
    else:
        read.browser.line.cancel.click()
    decoder.go.set()
    _await_end(qtbot, read)
    assert "cancelled after 8 of 30 files" in read.browser.count.text()
    assert "what was found is kept" in read.browser.count.text()
    assert len(read.lightbox.active.stack_images) == 8
    assert read.open_now == (series,)


def test_that_the_image_of_last_time_comes_up_first(
    qtbot: QtBot, read: ReadWorkspace, decoder: Slow, series: Path
) -> None:
    kept = KeptImage(str(series / "20.dcm"))
    read.open_paths([series], image=kept)
    _await_image(qtbot, read)
    assert read.image_now == kept
    decoder.go.set()
    _await_end(qtbot, read)
    assert read.image_now == kept
    assert read.lightbox.active.position == 9


def test_that_cases_close_one_by_one_and_all_together(
    qtbot: QtBot,
    read: ReadWorkspace,
    context: AppContext,
    decoder: Slow,
    tmp_path: Path,
) -> None:
    decoder.go.set()
    for name in ("a", "b", "c"):
        write_dicom(tmp_path / "in" / f"{name}.dcm", patient_id=name)
    other = write_dicom(tmp_path / "d.dcm", patient_id="d")
    read.open_paths([tmp_path / "in", other])
    _await_image(qtbot, read)
    _await_end(qtbot, read)
    context.actions["file.close_case"].trigger()
    _await_image(qtbot, read)
    assert [row.key[0] for row in read.browser.tree.rows()] == ["b", "c", "d"]
    left = tuple(tmp_path / "in" / f"{name}.dcm" for name in "bc")
    assert read.open_now == (*left, other)
    context.actions["file.close_all"].trigger()
    assert read.open_now == ()
    assert read.lightbox.active.stack is None
    assert read.image_now == KeptImage()
    read.open_paths([other])
    _await_image(qtbot, read)
    assert read.opened_lately == (other, tmp_path / "in")


def test_that_a_text_file_alone_is_one_clear_sentence(
    qtbot: QtBot,
    read: ReadWorkspace,
    context: AppContext,
    decoder: Slow,
    tmp_path: Path,
) -> None:
    decoder.go.set()
    told: list[Notice] = []
    context.notices.posted.connect(told.append)
    (tmp_path / "notes.txt").write_text("a note")
    read.open_paths([tmp_path / "notes.txt"])
    qtbot.waitUntil(lambda: bool(told), timeout=_PATIENCE_MS)
    assert told[0].what == "notes.txt is not an image."
    assert told[0].how.startswith("Open DICOM, PNG, JPEG")
    assert read.browser.line.isHidden()


def test_that_a_lateral_found_after_its_frontal_hangs_beside_it(
    qtbot: QtBot, read: ReadWorkspace, decoder: Slow, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    write_dicom(folder / "0.dcm", view_position="PA", patient_id="p")
    for n in range(1, 12):
        write_dicom(folder / f"{n}.dcm", patient_id="p")
    write_dicom(folder / "12.dcm", view_position="LL", patient_id="p")
    read.open_paths([folder])
    _await_image(qtbot, read)
    (left,) = read.lightbox.viewports
    shown = left.shown
    decoder.go.set()
    qtbot.waitUntil(lambda: len(read.lightbox.viewports) == 2)
    right = read.lightbox.viewports[1]
    qtbot.waitUntil(lambda: right.shown is not None, timeout=_PATIENCE_MS)
    assert left.shown is shown


def test_that_a_file_lies_in_itself_and_in_every_folder_above() -> None:
    path = Path("a") / "b" / "c.dcm"
    assert lies_in(path, path)
    assert lies_in(path, Path("a"))
    assert not lies_in(path, Path("a") / "bb")


def test_that_a_zip_tells_where_its_copy_is_and_is_itself_what_was_opened(
    qtbot: QtBot,
    read: ReadWorkspace,
    context: AppContext,
    decoder: Slow,
    tmp_path: Path,
) -> None:
    decoder.go.set()
    films = tmp_path / "films.zip"
    with ZipFile(films, "w") as archive:
        archive.write(write_dicom(tmp_path / "a.dcm"), "a.dcm")
    told: list[Notice] = []
    context.notices.posted.connect(told.append)
    for _ in range(2):  # the second time it is there already
        read.open_paths([films])
        _await_image(qtbot, read)
        _await_end(qtbot, read)
    (notice,) = told
    assert notice.what == "films.zip was unpacked into the program's data folder."
    assert Path(notice.details) == read.open_now[0]
    assert read.opened_lately == (films,)
