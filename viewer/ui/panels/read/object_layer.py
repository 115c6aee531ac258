"""Objects of other programs over a whole slide, from a file that the user chooses."""

from functools import partial
from pathlib import Path

from viewer.domain.counting import counted
from viewer.domain.slide import SlideMap
from viewer.domain.slide_objects import SlideObjects
from viewer.services.viewing.view_image import slide_objects
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import run_for
from viewer.ui.application.tell import tell_error
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.viewport import ImageShown, Viewport
from viewer.ui.widgets.file_choice import choose_to_read


class ObjectLayer:
    """Shows the objects of a file on the active slide, or removes them."""

    def __init__(self, lightbox: Lightbox, context: AppContext) -> None:
        self._lightbox, self._context = lightbox, context
        self._objects: dict[Path, SlideObjects] = {}
        lightbox.each(lambda viewport: viewport.image_shown.connect(self._show_again))
        lightbox.active_changed.connect(self._follow)

    def toggle(self) -> None:
        """Ask for a file of objects; if the slide has some, remove them instead."""
        viewport = self._lightbox.active
        shown = viewport.shown
        if shown is None or shown.slide is None or shown.ref.frame:
            self._context.notices.say("Open a whole slide first, for objects on it.")
        elif self._objects.pop(shown.ref.path, None) is not None:
            viewport.view.set_objects(None)
        else:
            self._ask(shown.ref.path)
        self._follow()

    def read(self, slide: Path, path: Path) -> None:
        """Read a file of objects, and show them on a slide."""
        run_for(
            self._lightbox,
            partial(slide_objects, path),
            partial(self._keep, slide, path.name),
            partial(tell_error, self._context),
        )

    def _ask(self, slide: Path) -> None:
        choose_to_read(
            self._lightbox,
            "Objects on the slide",
            "Objects (*.geojson *.json *.csv)",
            partial(self.read, slide),
        )

    def _keep(self, slide: Path, name: str, objects: SlideObjects) -> None:
        self._objects[slide] = objects
        for viewport in self._lightbox.viewports:
            self._show(viewport)
        self._follow()
        viewport = self._lightbox.active
        if viewport.shown is not None and viewport.shown.slide is not None:
            words = _words(objects, name, viewport.shown.slide)
            self._context.notices.say(words)

    def _show_again(self, event: ImageShown) -> None:
        self._show(event.viewport)
        self._follow()

    def _show(self, viewport: Viewport) -> None:
        shown = viewport.shown
        if shown is not None and shown.slide is not None and not shown.ref.frame:
            viewport.view.set_objects(self._objects.get(shown.ref.path))

    def _follow(self, *_: object) -> None:
        shown = self._lightbox.active.shown
        there = shown is not None and shown.ref.path in self._objects
        self._context.actions.set_checked("file.objects", there)


def _words(objects: SlideObjects, name: str, slide: SlideMap) -> str:
    """Say how many objects there are, and how many lie off the slide."""
    x0, y0, x1, y1 = objects.boxes.T
    size = slide.size
    off = (x1 < 0) | (y1 < 0) | (x0 >= size.columns) | (y0 >= size.rows)
    classes = "1 class" if len(objects.names) == 1 else f"{len(objects.names)} classes"
    said = f"{objects.count:,} objects of {classes} from {name}."
    if not off.any():
        return said
    lie = "lies" if off.sum() == 1 else "lie"
    return (
        f"{said} {counted(int(off.sum()), 'outline')} {lie} off the slide: check that "
        "they are in pixels of its scan."
    )
