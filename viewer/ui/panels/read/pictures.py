"""Saving, copying and printing what a view shows."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QDialog

from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import run_for
from viewer.ui.application.preferences import current
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.picture import PictureMaker, write_svg
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.printing import PagePrinter
from viewer.ui.widgets.file_choice import choose_to_write

if TYPE_CHECKING:
    from PySide6.QtPrintSupport import QPrinter

_KINDS: Final = "PNG picture (*.png);;SVG, marks as vectors (*.svg)"
_NAME: Final = "picture.png"
"""Not the image's file name, which may name the patient."""
_DRAWING: Final = "Drawing the picture…"
_PRINTING: Final = "Printing the picture"
_BURNED_IN: Final = "Text in the pixels themselves stays."


class Pictures:
    """Saves, copies and prints the view with the focus."""

    def __init__(self, lightbox: Lightbox, context: AppContext) -> None:
        self._lightbox, self._notices = lightbox, context.notices
        self._status = context.status

    def copy(self) -> None:
        """Copy the picture to the clipboard."""
        view = self._view()
        if view is not None:
            self._make(view, self._copy)

    def _copy(self, picture: QImage, *, identified: bool) -> None:
        QGuiApplication.clipboard().setImage(picture)
        self._notices.say(_told("Picture copied", identified=identified))

    def _make(self, view: ImageView, use: Callable[..., object]) -> None:
        """Make the picture, in place of one that is being made, and use it."""
        for earlier in view.findChildren(PictureMaker):
            earlier.stop()
        identified = current().pictures_name_patient
        maker = PictureMaker(view, identified=identified)
        maker.made.connect(partial(use, identified=identified))
        maker.ended.connect(lambda: self._status.show_work(""))
        self._status.show_work(_DRAWING, maker.stop, "Stop drawing the picture")
        maker.start()

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
        self._make(view, partial(self._print, view, printer))

    def _print(
        self, view: ImageView, printer: "QPrinter", picture: QImage, *, identified: bool
    ) -> None:
        page = PagePrinter(picture, view)
        page.printed.connect(partial(self._tell_printed, identified=identified))
        if not page.start(printer):
            self._notices.say("The printer takes no pages. Choose another one.")
            return

        def stop() -> None:
            page.stop()
            self._status.show_work("")

        def tell(percent: int) -> None:
            words = f"{_PRINTING} · {percent} %"
            self._status.show_work(words, stop, "Stop printing the picture")

        page.progressed.connect(tell)
        tell(0)

    def _tell_printed(self, *, identified: bool) -> None:
        self._status.show_work("")
        self._notices.say(_told("Picture printed", identified=identified))

    def write(self, view: ImageView, path: Path) -> None:
        """Write the picture, as SVG if the file's name says so."""
        identified = current().pictures_name_patient
        if path.suffix.lower() == ".svg":
            write_svg(view, path, identified=identified)
            self._tell_written(path, path.exists(), identified=identified)
        else:
            self._make(view, partial(self._write, view, path))

    def _write(
        self, view: ImageView, path: Path, picture: QImage, *, identified: bool
    ) -> None:
        """Write a picture in the background: to pack it takes a second."""
        tell = partial(self._tell_written, path, identified=identified)
        run_for(view, lambda: picture.save(str(path)), tell, _raise)

    def _tell_written(self, path: Path, written: bool, *, identified: bool) -> None:
        if written:
            self._notices.say(_told(f"{path.name} saved", identified=identified))
        else:
            self._notices.say(f"{path.name} cannot be written. Choose another folder.")

    def _view(self) -> ImageView | None:
        if self._lightbox.active.shown is None:
            self._notices.say("Open an image first to make a picture of it.")
            return None
        return self._lightbox.view


def _raise(error: Exception) -> None:
    raise error


def _told(what: str, *, identified: bool) -> str:
    if identified:
        return f"{what}. It names the patient."
    return f"{what} without the patient's name. {_BURNED_IN}"
