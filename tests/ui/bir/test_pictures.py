"""The view as a picture: at full resolution, without the patient's name."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtPrintSupport import QPrintDialog, QPrinter

from tests.ui.bir.conftest import COLUMNS, ROWS, Open, click, stroke
from viewer.ui.application import preferences
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.preferences import Preferences
from viewer.ui.canvas.picture import picture_of
from viewer.ui.panels.read.pictures import Pictures
from viewer.ui.workspaces.read import ReadWorkspace


def _pixels(picture: QImage) -> npt.NDArray[np.uint8]:
    picture = picture.convertToFormat(QImage.Format.Format_Grayscale8)
    rows = np.frombuffer(picture.constBits(), np.uint8)
    return rows.reshape(picture.height(), -1)[:, : picture.width()].copy()


def test_that_a_picture_has_every_pixel_of_a_view_that_is_reduced(
    opened: Open, radiograph: Path
) -> None:
    view = opened(radiograph)
    view.zoom_by(0.25 / view.zoom)
    view.hide_overlays(True)
    picture = picture_of(view, identified=False)
    assert picture.width() == 4 * view.viewport().width()
    assert view._display is not None
    pixels, native = _pixels(picture), view._display.pyramid.image
    window = view._display.pyramid.table(None, inverted=False)
    expected = window[native.values[:ROWS, :COLUMNS].astype(int)]
    corner = view._camera.finer(4.0)
    part = pixels[corner.top : corner.top + ROWS, corner.left : corner.left + COLUMNS]
    np.testing.assert_array_equal(part, expected)


def test_that_a_picture_names_the_patient_only_if_preferred(
    opened: Open, context: AppContext, series: Path
) -> None:
    view = opened(series)
    copy, board = context.actions["image.copy"], QGuiApplication.clipboard()
    copy.trigger()
    plain = _pixels(board.image())
    preferences.use(Preferences(pictures_name_patient=True))
    copy.trigger()
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
) -> None:
    view = opened(series)
    pictures = Pictures(read.lightbox, context)
    view.set_grid(None)
    pictures.write(view, tmp_path / "without.png")
    context.actions["tool.length"].trigger()
    click(view, 60, 60)
    click(view, 140, 90)
    pictures.write(view, tmp_path / "with.png")
    pictures.write(view, tmp_path / "with.svg")
    view.hide_overlays(True)
    pictures.write(view, tmp_path / "hidden.png")
    hidden = QImage(str(tmp_path / "hidden.png"))
    one, other = (QImage(str(tmp_path / f"{n}.png")) for n in ("without", "with"))
    assert (_pixels(one) != _pixels(other)).sum() > 100
    assert (_pixels(one) == _pixels(hidden)).all()
    text = (tmp_path / "with.svg").read_text()
    assert "<path" in text or "<polyline" in text
    assert "Doe" not in text


def test_that_a_picture_is_turned_like_the_view(
    opened: Open, context: AppContext, radiograph: Path
) -> None:
    view = opened(radiograph)
    for turn in ("image.rotate_right", "image.mirror"):
        context.actions[turn].trigger()
        view.one_to_one()
        view.clearFocus()
        seen = view.viewport().grab().toImage()
        picture = picture_of(view, identified=True)
        np.testing.assert_array_equal(_pixels(picture), _pixels(seen))


def test_b33_the_selected_view_is_printed_as_it_is(
    opened: Open, read: ReadWorkspace, context: AppContext, series: Path, tmp_path: Path
) -> None:
    view = opened(series)
    view.invert()
    printer = QPrinter()
    printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    printer.setOutputFileName(str(tmp_path / "page.pdf"))
    Pictures(read.lightbox, context).print_on(view, printer)
    page = (tmp_path / "page.pdf").read_bytes()
    assert page.startswith(b"%PDF")
    assert page.count(b"/Type /Page\n") == 1
    assert b"/Subtype /Image" in page
    assert b"Doe" not in page
    context.actions["image.print"].trigger()
    (dialog,) = view.findChildren(QPrintDialog)
    assert dialog.isVisible()
    dialog.close()


def test_that_a_painted_mask_is_part_of_a_picture(
    opened: Open,
    read: ReadWorkspace,
    context: AppContext,
    series: Path,
    tmp_path: Path,
) -> None:
    view = opened(series)
    pictures = Pictures(read.lightbox, context)
    view.set_grid(None)
    pictures.write(view, tmp_path / "without.png")
    context.actions["tool.brush"].trigger()
    stroke(view, (60, 60), (140, 90))
    pictures.write(view, tmp_path / "with.png")
    pictures.write(view, tmp_path / "with.svg")
    one, other = (QImage(str(tmp_path / f"{n}.png")) for n in ("without", "with"))
    assert (_pixels(one) != _pixels(other)).sum() > 1000
    assert (tmp_path / "with.svg").read_text().count("<path") > 1
