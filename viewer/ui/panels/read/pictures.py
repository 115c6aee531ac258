"""Saving, copying and printing what a view shows."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication, QPageLayout, QPainter
from PySide6.QtWidgets import QDialog

from viewer.ui.application.app_context import AppContext
from viewer.ui.application.preferences import current
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.picture import picture_of, write_svg
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.widgets.file_choice import choose_to_write

if TYPE_CHECKING:
    from PySide6.QtPrintSupport import QPrinter

_KINDS: Final = "PNG picture (*.png);;SVG, marks as vectors (*.svg)"
_NAME: Final = "picture.png"
"""Not the image's file name, which may name the patient."""
_BURNED_IN: Final = "Text in the pixels themselves stays."


class Pictures:
    """Saves, copies and prints the view with the focus."""

    def __init__(self, lightbox: Lightbox, context: AppContext) -> None:
        self._lightbox, self._notices = lightbox, context.notices

    def copy(self) -> None:
        """Copy the picture to the clipboard."""
        view = self._view()
        if view is not None:
            identified = current().pictures_name_patient
            clipboard = QGuiApplication.clipboard()
            clipboard.setImage(picture_of(view, identified=identified))
            self._notices.say(_told("Picture copied", identified=identified))

    def save(self) -> None:
        """Ask for a file, and write the picture."""
        view = self._view()
        if view is None:
            return
        write = partial(self.write, view)
        choose_to_write(view, "Save picture", _NAME, _KINDS, write)

    def print(self) -> None:
        """Ask for a printer, and print the picture on a page."""
        from PySide6.QtPrintSupport import QPrintDialog, QPrinter

        view = self._view()
        if view is None:
            return
        printer = QPrinter(QPrinter.PrinterMode.HighResolution)
        dialog = QPrintDialog(printer, view)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted.connect(lambda: self.print_on(view, printer))
        QDialog.open(dialog)  # its own takes a slot by name

    def print_on(self, view: ImageView, printer: "QPrinter") -> None:
        """Print the view as it is, as large as the page allows."""
        identified = current().pictures_name_patient
        picture = picture_of(view, identified=identified)
        wide = picture.width() > picture.height()
        way = QPageLayout.Orientation
        printer.setPageOrientation(way.Landscape if wide else way.Portrait)
        painter = QPainter()
        if not painter.begin(printer):
            self._notices.say("The printer takes no pages. Choose another one.")
            return
        page = painter.viewport()
        size = picture.size().scaled(page.size(), Qt.AspectRatioMode.KeepAspectRatio)
        place = QRect(QPoint(0, 0), size)
        place.moveCenter(page.center())
        painter.drawImage(place, picture)
        painter.end()
        self._notices.say(_told("Picture printed", identified=identified))

    def write(self, view: ImageView, path: Path) -> None:
        """Write the picture, as SVG if the file's name says so."""
        identified = current().pictures_name_patient
        if path.suffix.lower() == ".svg":
            write_svg(view, path, identified=identified)
            written = path.exists()
        else:
            written = picture_of(view, identified=identified).save(str(path))
        if written:
            self._notices.say(_told(f"{path.name} saved", identified=identified))
        else:
            self._notices.say(f"{path.name} cannot be written. Choose another folder.")

    def _view(self) -> ImageView | None:
        if self._lightbox.active.shown is None:
            self._notices.say("Open an image first to make a picture of it.")
            return None
        return self._lightbox.view


def _told(what: str, *, identified: bool) -> str:
    if identified:
        return f"{what}. It names the patient."
    return f"{what} without the patient's name. {_BURNED_IN}"
