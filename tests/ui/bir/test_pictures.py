"""The view as a picture: at full resolution, without the patient's name."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtPrintSupport import QPrintDialog, QPrinter
from pytestqt.qtbot import QtBot

from tests.ui.bir.conftest import COLUMNS, ROWS, Open, click, stroke
from viewer.ui.application import preferences
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.preferences import Preferences
from viewer.ui.application.status_bar import WorkShown
from viewer.ui.canvas import picture
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.overlays import halo
from viewer.ui.canvas.picture import PictureMaker, picture_of
from viewer.ui.panels.read.pictures import Pictures
from viewer.ui.panels.read.printing import PagePrinter, draw_in_bands
from viewer.ui.workspaces.read import ReadWorkspace

_ROUNDED = 1
"""Grey levels that a view is off where marks are a picture, laid over the image."""


def _pixels(picture: QImage) -> npt.NDArray[np.uint8]:
    picture = picture.convertToFormat(QImage.Format.Format_Grayscale8)
    rows = np.frombuffer(picture.constBits(), np.uint8)
    return rows.reshape(picture.height(), -1)[:, : picture.width()].copy()


def _wait_for_pictures(view: ImageView, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not view.findChildren(PictureMaker))


def _wait_for_file(path: Path, view: ImageView, qtbot: QtBot) -> None:
    _wait_for_pictures(view, qtbot)
    qtbot.waitUntil(lambda: not QImage(str(path)).isNull())


def test_that_a_picture_in_bands_is_what_the_view_paints(
    opened: Open,
    context: AppContext,
    series: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Grid, marks and corner text included; what is drawn meanwhile is not in it."""
    view = opened(series)
    for name in ("tool.length", "tool.ellipse", "tool.brush"):
        context.actions[name].trigger()
        stroke(view, (60, 60), (140, 90))
    view.clearFocus()
    twin = picture._Twin(view, identified=True)
    twin.settle()
    whole = twin.blank()
    painter = QPainter(whole)
    twin.render(painter, twin.area, twin.viewport().rect())
    painter.end()
    monkeypatch.setattr(picture, "_BAND", 20_000)
    monkeypatch.setattr(picture, "_TURN_S", 0.0)
    made: list[QImage] = []
    maker = PictureMaker(view, identified=True)
    maker.made.connect(made.append)
    maker.start()
    stroke(view, (30, 30), (190, 40))
    _wait_for_pictures(view, qtbot)
    off = np.abs(_pixels(made[0]).astype(int) - _pixels(whole).astype(int))
    assert off.max() <= _ROUNDED


def test_that_a_picture_is_drawn_in_turns_and_can_be_stopped(
    opened: Open, context: AppContext, series: Path, qtbot: QtBot
) -> None:
    view, shown = opened(series), list[WorkShown]()
    context.status.work_changed.connect(shown.append)
    board = QGuiApplication.clipboard()
    board.clear()
    context.actions["image.copy"].trigger()
    assert shown[-1].text == "Drawing the picture…"
    assert shown[-1].stop is not None
    shown[-1].stop()
    _wait_for_pictures(view, qtbot)
    assert shown[-1].text == ""
    assert board.image().isNull()
    context.actions["image.copy"].trigger()
    context.actions["image.copy"].trigger()  # again, in place of the first
    _wait_for_pictures(view, qtbot)
    assert not board.image().isNull()


def test_that_a_picture_has_every_pixel_of_a_view_that_is_reduced(
    opened: Open, radiograph: Path
) -> None:
    view = opened(radiograph)
    view.zoom_by(0.25 / view.zoom)
    view.hide_overlays(True)
    drawn = picture_of(view, identified=False)
    assert drawn.width() == 4 * view.viewport().width()
    assert view._display is not None
    pixels, native = _pixels(drawn), view._display.pyramid.image
    window = view._display.pyramid.table(None, inverted=False)
    expected = window[native.values[:ROWS, :COLUMNS].astype(int)]
    corner = view._camera.finer(4.0)
    part = pixels[corner.top : corner.top + ROWS, corner.left : corner.left + COLUMNS]
    np.testing.assert_array_equal(part, expected)


def test_that_a_picture_names_the_patient_only_if_preferred(
    opened: Open, context: AppContext, series: Path, qtbot: QtBot
) -> None:
    view = opened(series)
    copy, board = context.actions["image.copy"], QGuiApplication.clipboard()
    copy.trigger()
    _wait_for_pictures(view, qtbot)
    plain = _pixels(board.image())
    preferences.use(Preferences(pictures_name_patient=True))
    copy.trigger()
    _wait_for_pictures(view, qtbot)
    named = _pixels(board.image())
    corner = slice(0, 40), slice(0, 90)
    assert plain[corner].max() < named[corner].max()
    assert view._annotations is not None
    assert view._annotations._lines  # the view itself still has its words


def test_that_marks_are_vectors_in_an_svg_and_part_of_a_png(
    opened: Open,
    read: ReadWorkspace,
    context: AppContext,
    series: Path,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    view = opened(series)
    pictures = Pictures(read.lightbox, context)
    view.set_grid(None)
    pictures.write(view, tmp_path / "without.png")
    _wait_for_file(tmp_path / "without.png", view, qtbot)
    context.actions["tool.length"].trigger()
    click(view, 60, 60)
    click(view, 140, 90)
    pictures.write(view, tmp_path / "with.png")
    _wait_for_file(tmp_path / "with.png", view, qtbot)
    pictures.write(view, tmp_path / "with.svg")
    view.hide_overlays(True)
    pictures.write(view, tmp_path / "hidden.png")
    _wait_for_file(tmp_path / "hidden.png", view, qtbot)
    hidden = QImage(str(tmp_path / "hidden.png"))
    one, other = (QImage(str(tmp_path / f"{n}.png")) for n in ("without", "with"))
    assert (_pixels(one) != _pixels(other)).sum() > 100
    assert (_pixels(one) == _pixels(hidden)).all()
    text = (tmp_path / "with.svg").read_text()
    assert "<path" in text or "<polyline" in text
    assert "Doe" not in text


def test_that_a_picture_leaves_the_views_their_letters(
    opened: Open, radiograph: Path
) -> None:
    view = opened(radiograph)
    view.viewport().grab()
    picture_of(view, identified=True)
    made = halo._kept.cache_info()
    assert made.currsize
    view.viewport().grab()
    assert halo._kept.cache_info().misses == made.misses
    assert halo._large.cache_info().currsize == 0


def test_that_a_picture_is_turned_like_the_view(
    opened: Open, context: AppContext, radiograph: Path
) -> None:
    view = opened(radiograph)
    for turn in ("image.rotate_right", "image.mirror"):
        context.actions[turn].trigger()
        view.one_to_one()
        view.clearFocus()
        seen = view.viewport().grab().toImage()
        drawn = picture_of(view, identified=True)
        np.testing.assert_array_equal(_pixels(drawn), _pixels(seen))


def test_b33_the_selected_view_is_printed_as_it_is(
    opened: Open,
    read: ReadWorkspace,
    context: AppContext,
    series: Path,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    view = opened(series)
    view.invert()
    printer = QPrinter()
    printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    printer.setOutputFileName(str(tmp_path / "page.pdf"))
    said: list[str] = []
    context.status.work_changed.connect(lambda shown: said.append(shown.text))
    Pictures(read.lightbox, context).print_on(view, printer)
    _wait_for_pictures(view, qtbot)
    qtbot.waitUntil(lambda: not view.findChildren(PagePrinter))
    printing = [words for words in said if words.startswith("Printing the picture · ")]
    assert printing[0].endswith(" 0 %")
    assert printing[-1].endswith(" 100 %")
    assert said[-1] == ""
    page = (tmp_path / "page.pdf").read_bytes()
    assert page.startswith(b"%PDF")
    assert page.count(b"/Type /Page\n") == 1
    assert b"/Subtype /Image" in page
    assert b"Doe" not in page
    context.actions["image.print"].trigger()
    (dialog,) = view.findChildren(QPrintDialog)
    assert dialog.isVisible()
    dialog.close()


def test_that_printing_can_be_stopped(
    opened: Open, read: ReadWorkspace, context: AppContext, series: Path,
    tmp_path: Path, qtbot: QtBot,
) -> None:  # fmt: skip
    view, page = opened(series), tmp_path / "page.pdf"
    printer = QPrinter()
    printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    printer.setOutputFileName(str(page))
    said: list[str] = []

    def stop_printing(shown: WorkShown) -> None:
        said.append(shown.text)
        if shown.text.startswith("Printing the picture · ") and shown.stop:
            shown.stop()

    context.status.work_changed.connect(stop_printing)
    Pictures(read.lightbox, context).print_on(view, printer)
    _wait_for_pictures(view, qtbot)
    qtbot.waitUntil(lambda: not view.findChildren(PagePrinter))
    assert said[-2:] == ["Printing the picture · 0 %", ""]
    assert not page.exists()


@pytest.mark.qt_log_ignore("QPainter::begin", extend=True)
def test_that_a_printer_that_takes_no_pages_is_told(
    opened: Open, read: ReadWorkspace, context: AppContext, series: Path,
    tmp_path: Path, qtbot: QtBot,
) -> None:  # fmt: skip
    view = opened(series)
    printer = QPrinter()
    printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    printer.setOutputFileName(str(tmp_path / "nowhere" / "page.pdf"))
    said: list[str] = []
    context.notices.posted.connect(lambda notice: said.append(notice.what))
    Pictures(read.lightbox, context).print_on(view, printer)
    _wait_for_pictures(view, qtbot)
    assert said[-1] == "The printer takes no pages. Choose another one."


@pytest.mark.parametrize("scale", [1, 3])
def test_that_bands_on_paper_have_no_seams(scale: int) -> None:
    seeded = np.random.default_rng(4)
    grey = seeded.integers(0, 256, (900, 1200), np.uint8)
    whole = QImage(grey.tobytes(), 1200, 900, 1200, QImage.Format.Format_Grayscale8)
    paper = QImage(1200 * scale, 1000 * scale, QImage.Format.Format_RGB32)
    paper.fill(Qt.GlobalColor.red)
    painter = QPainter(paper)
    bands = list(draw_in_bands(painter, QRectF(paper.rect()), whole))
    painter.end()
    assert len(bands) > 3
    drawn = _pixels(paper)[50 * scale : 950 * scale]
    np.testing.assert_array_equal(drawn, grey.repeat(scale, 0).repeat(scale, 1))


def test_that_a_painted_mask_is_part_of_a_picture(
    opened: Open,
    read: ReadWorkspace,
    context: AppContext,
    series: Path,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    view = opened(series)
    pictures = Pictures(read.lightbox, context)
    view.set_grid(None)
    pictures.write(view, tmp_path / "without.png")
    _wait_for_file(tmp_path / "without.png", view, qtbot)
    context.actions["tool.brush"].trigger()
    stroke(view, (60, 60), (140, 90))
    pictures.write(view, tmp_path / "with.png")
    _wait_for_file(tmp_path / "with.png", view, qtbot)
    pictures.write(view, tmp_path / "with.svg")
    one, other = (QImage(str(tmp_path / f"{n}.png")) for n in ("without", "with"))
    assert (_pixels(one) != _pixels(other)).sum() > 1000
    assert (tmp_path / "with.svg").read_text().count("<path") > 1
