"""Key images, and DICOM files of what a reader marked."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMenu

from viewer.domain.case import ImageHeader, ImageRef
from viewer.domain.counting import counted
from viewer.domain.image import Window
from viewer.domain.mark import DrawnImage, Mark
from viewer.imaging.luts import default_window, is_inverted
from viewer.ui.application.actions import Handlers
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import run_for
from viewer.ui.application.tell import tell_error
from viewer.ui.canvas.mark_editing import KEY_IMAGE
from viewer.ui.canvas.marks.book import MarkBook
from viewer.ui.canvas.marks.measures import words
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.viewport import Viewport

_NAMED: Final = "It names the patient, as its images do."


class MarkFiles:
    """Marks key images, lists them, and saves marks and key images as DICOM files.

    All of it is about the series on the screen that belong to the study of the active
    image.
    """

    def __init__(self, lightbox: Lightbox, context: AppContext, book: MarkBook) -> None:
        self._lightbox, self._context, self._book = lightbox, context, book

    def handlers(self) -> Handlers:
        """Return the handlers by the action's id."""
        return {
            "mark.key": self.toggle_key,
            "mark.keys": self.list_keys,
            "file.save_marks": self.save_marks,
            "file.save_keys": self.save_keys,
        }

    def toggle_key(self) -> None:
        """Mark or unmark the active image as a key image."""
        self._lightbox.view.marks.toggle_key()

    def list_keys(self) -> None:
        """Show a menu of the key images; a click goes there."""
        found = list(self._marked(lambda mark: mark == KEY_IMAGE))
        if not found:
            self._context.notices.say(
                "No image on the screen is a key image; Mark ▸ Key image makes it one."
            )
            return
        view = self._lightbox.view
        menu = QMenu("Key images", view)
        menu.aboutToHide.connect(menu.deleteLater)
        for viewport, position, image in found:
            count = len(viewport.stack_images)
            name = f"{image.ref.path.name}, image {position + 1} of {count}"
            menu.addAction(name, partial(viewport.go_to, position))
        menu.popup(view.mapToGlobal(view.rect().center()))

    def save_marks(self) -> None:
        """Ask for a file, and write the marks as presentation states."""
        drawn = list(self._marked(lambda mark: mark != KEY_IMAGE))
        if drawn:
            self._ask("Save marks", "marks.dcm", partial(self.write_marks, drawn))
        else:
            self._context.notices.say("Draw a mark first; there is none on the screen.")

    def save_keys(self) -> None:
        """Ask for a file, and write the key images as a key object document."""
        found = [image.ref for _, _, image in self._marked(lambda m: m == KEY_IMAGE)]
        if found:
            write = partial(self.write_keys, found)
            self._ask("Save key images", "key-images.dcm", write)
        else:
            self._context.notices.say("Mark a key image first; none is on the screen.")

    def write_marks(
        self, drawn: list[tuple[Viewport, int, ImageHeader]], path: Path
    ) -> None:
        """Write presentation states of marked images to a file, or several."""
        looks = [self._look(viewport, image.ref) for viewport, _, image in drawn]
        run_for(
            self._lightbox,
            lambda: _exported_marks([look() for look in looks], path),
            self._told,
            partial(tell_error, self._context),
        )

    def write_keys(self, refs: list[ImageRef], path: Path) -> None:
        """Write a key object document of images to a file."""
        run_for(
            self._lightbox,
            lambda: _exported_keys(refs, path),
            self._told,
            partial(tell_error, self._context),
        )

    def _look(self, viewport: Viewport, ref: ImageRef) -> Callable[[], DrawnImage]:
        """Return what draws an image as its viewport shows its series now."""
        view, marks = viewport.view, self._book.of(ref)
        return partial(
            _drawn, ref, marks, view.window_set, view.inverted, view.orientation
        )

    def _marked(
        self, wanted: Callable[[Mark], bool]
    ) -> Iterator[tuple[Viewport, int, ImageHeader]]:
        """Yield the images of the study that have a mark, each once."""
        active, seen = self._lightbox.active.header, set[ImageRef]()
        for viewport in self._lightbox.viewports:
            for position, image in enumerate(viewport.stack_images):
                same = active is not None and image.study_key == active.study_key
                if same and image.ref not in seen:
                    seen.add(image.ref)
                    if any(map(wanted, self._book.of(image.ref))):
                        yield viewport, position, image

    def _ask(self, title: str, name: str, write: Callable[[Path], None]) -> None:
        dialog = QFileDialog(self._lightbox, title)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(("DICOM file (*.dcm)",))
        dialog.setDefaultSuffix("dcm")
        dialog.selectFile(name)
        dialog.fileSelected.connect(lambda chosen: write(Path(chosen)))
        dialog.open()

    def _told(self, files: tuple[Path, ...]) -> None:
        what = files[0].name if len(files) == 1 else counted(len(files), "file")
        self._context.notices.say(f"{what} saved. {_NAMED}")


def _drawn(
    ref: ImageRef,
    marks: tuple[Mark, ...],
    window: Window | None,
    inverted: bool,
    orientation: int,
) -> DrawnImage:
    """Return an image with the words of its marks, for which its pixels are read."""
    from viewer.services.viewing.view_image import load_shown_image

    image = load_shown_image(ref).image
    if window is None and not image.voi_luts:
        window = default_window(image)
    drawn = tuple((m, words(m, image)) for m in marks if m != KEY_IMAGE)
    low_bright = is_inverted(image) != inverted
    return DrawnImage(ref, drawn, window, image.rescale, low_bright, orientation)


def _exported_marks(images: list[DrawnImage], path: Path) -> tuple[Path, ...]:
    from viewer.services.exporting.export_marks import export_marks

    return export_marks(images, path)


def _exported_keys(refs: list[ImageRef], path: Path) -> tuple[Path, ...]:
    from viewer.services.exporting.export_marks import export_key_images

    export_key_images(refs, path)
    return (path,)
