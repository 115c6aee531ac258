"""Key images, and DICOM files of what a reader marked."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtWidgets import QMenu

from viewer.domain.case import ImageHeader, ImageRef
from viewer.domain.counting import counted
from viewer.domain.image import Window
from viewer.domain.mark import DrawnImage, Mark, MarkKind
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

_DICOM: Final = "DICOM file (*.dcm)"
_MASKS: Final = "DICOM segmentation (*.dcm);;PNG, one a mask (*.png)"
"""What a file can be saved as."""
_ANY: Final = "Any file (*)"
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
            "file.save_masks": self.save_masks,
            "file.open_masks": self.open_masks,
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
            write = partial(self.write_marks, drawn)
            self._ask("Save marks", "marks.dcm", _DICOM, write)
        else:
            self._context.notices.say("Draw a mark first; there is none on the screen.")

    def save_masks(self) -> None:
        """Ask for a file, and write the masks as segmentations or pictures."""
        found = [
            (image, self._book.of(image.ref))
            for _, _, image in self._marked(lambda m: m.kind is MarkKind.MASK)
        ]
        if found:
            write = partial(self.write_masks, found)
            self._ask("Save masks", "masks.dcm", _MASKS, write)
        else:
            self._context.notices.say("Paint a mask first; there is none.")

    def open_masks(self) -> None:
        """Ask for a file with masks, and add them to the images they are of."""
        if self._lightbox.active.header is None:
            self._context.notices.say("Open the image of the masks first.")
            return
        from viewer.ui.widgets.file_choice import choose_to_read

        choose_to_read(self._lightbox, "Open masks", _ANY, self.read_masks)

    def save_keys(self) -> None:
        """Ask for a file, and write the key images as a key object document."""
        found = [image.ref for _, _, image in self._marked(lambda m: m == KEY_IMAGE)]
        if found:
            write = partial(self.write_keys, found)
            self._ask("Save key images", "key-images.dcm", _DICOM, write)
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

    def write_masks(
        self, found: list[tuple[ImageHeader, tuple[Mark, ...]]], path: Path
    ) -> None:
        """Write the masks of images to a file, or several."""
        run_for(
            self._lightbox,
            lambda: _exported_masks(found, path),
            self._told_masks,
            partial(tell_error, self._context),
        )

    def read_masks(self, path: Path) -> None:
        """Add the masks in a file to the images on the screen."""
        active = self._lightbox.active.header
        images = [i for port in self._lightbox.viewports for i in port.stack_images]
        if active is not None:
            run_for(
                self._lightbox,
                lambda: _masks_in(path, images, active),
                self._take_in,
                partial(tell_error, self._context),
            )

    def _take_in(self, masks: tuple[tuple[ImageRef, Mark], ...]) -> None:
        for ref, mark in masks:
            self._book.add(ref, mark, "open mask")
        self._context.notices.say(f"{counted(len(masks), 'mask')} added.")

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

    def _ask(
        self, title: str, name: str, kinds: str, write: Callable[[Path], None]
    ) -> None:
        from viewer.ui.widgets.file_choice import choose_to_write

        choose_to_write(self._lightbox, title, name, kinds, write)

    def _told_masks(self, files: tuple[Path, ...]) -> None:
        if files[0].suffix.lower() == ".png":
            self._context.notices.say(f"{_files(files)} saved.")
        else:
            self._told(files)

    def _told(self, files: tuple[Path, ...]) -> None:
        self._context.notices.say(f"{_files(files)} saved. {_NAMED}")


def _files(files: tuple[Path, ...]) -> str:
    return files[0].name if len(files) == 1 else counted(len(files), "file")


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


def _exported_masks(
    images: list[tuple[ImageHeader, tuple[Mark, ...]]], path: Path
) -> tuple[Path, ...]:
    from viewer.services.exporting.export_masks import export_masks

    return export_masks(images, path)


def _masks_in(
    path: Path, images: Sequence[ImageHeader], active: ImageHeader
) -> tuple[tuple[ImageRef, Mark], ...]:
    from viewer.services.importing.import_masks import masks_in

    return masks_in(path, images, active)
