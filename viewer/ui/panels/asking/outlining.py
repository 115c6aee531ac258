"""Outline it: from a rectangle or a model's box to a segmenter's mask."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QMenu, QWidget

from viewer.domain.answer import BoxesAnswer
from viewer.domain.case import ImageRef, View
from viewer.domain.geometry import BoxPx
from viewer.domain.mark import REGIONS
from viewer.services.inspecting.answers import StoredAnswer, answer_of_trial
from viewer.services.worker.background import AskCommand
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import run_for
from viewer.ui.application.notices import Notice, Offer
from viewer.ui.application.tell import tell_error
from viewer.ui.panels.asking.answers_panel import OutlineWanted
from viewer.ui.panels.asking.ask_command import AnswerStored
from viewer.ui.panels.asking.ask_side import AskSide
from viewer.ui.panels.asking.questions import Answered, Failed, Questions
from viewer.ui.panels.asking.stored_answers import Knowledge
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.viewport import Viewport

if TYPE_CHECKING:
    from viewer.services.configuring.model_list import ModelLine

_CHOOSE: Final = (
    "Draw a rectangle around it, or select an answer that is a box, to outline it."
)
_NONE: Final = "There is no segmenter yet, such as SAM or MedSAM, to outline it with."
_FINDING: Final = "Name the finding to outline."
_BUSY: Final = "An outline is already being computed."
_NOTHING: Final = "The segmenter found nothing in the box. Draw a larger one."


class Outlining(QWidget):
    """Asks a segmenter about boxes on the active image; it is never visible."""

    answer_stored = Signal(object)
    """Carries an AnswerStored."""

    def __init__(
        self,
        context: AppContext,
        lightbox: Lightbox,
        side: AskSide,
        knowledge: Knowledge,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.hide()
        self._context, self._lightbox, self._side = context, lightbox, side
        self._knowledge, self._place = knowledge, ""
        self.questions = Questions(context.worker, self)
        lightbox.each(lambda v: v.view.outline_wanted.connect(self.outline))
        side.answers.outline_wanted.connect(self._outline_answer)
        self.questions.answered.connect(self._answered)
        self.questions.failed.connect(self._failed)
        self.questions.ended.connect(lambda _: context.status.show_work(""))

    def outline(self) -> None:
        """Outline the chosen mark, else the chosen answer's boxes."""
        mark = self._lightbox.view.marks.chosen
        box = mark.box if mark is not None and mark.kind in REGIONS else None
        if mark is not None and mark.complete and box is not None:
            self._begin(_on_image(self._lightbox.active, box))
        else:
            self._begin(_of_answer(self._side.answers.current))

    def _outline_answer(self, event: OutlineWanted) -> None:
        self._begin(_of_answer(event.answer))

    def _begin(self, boxes: "_Boxes") -> None:
        from viewer.services.configuring.model_list import segmenters

        missing = self._missing(boxes)
        if missing:
            self._context.notices.say(missing)
            return
        settings = self._context.settings
        run_for(
            self,
            lambda: segmenters(settings),
            partial(self._choose, boxes),
            self._tell,
        )

    def _missing(self, boxes: "_Boxes") -> str:
        if self._lightbox.active.shown is None or not boxes.boxes:
            return _CHOOSE
        if not self._side.ask.asked_finding:
            return _FINDING
        return _BUSY if self.questions.running else ""

    def _choose(self, boxes: "_Boxes", found: "tuple[ModelLine, ...]") -> None:
        ready = [line for line in found if line.can_ask]
        if not ready:
            self._offer_models(found)
        elif len(ready) == 1:
            self._ask(ready[0].name, boxes)
        else:
            self._offer_choice([line.name for line in ready], boxes)

    def _offer_models(self, found: "tuple[ModelLine, ...]") -> None:
        """Say that no segmenter can be used, and where to fix that."""
        what = f"{found[0].name}: {found[0].state}" if found else _NONE
        go = Offer("Open Models", partial(self._context.actions.run, "window.models"))
        self._context.notices.post(Notice(what, offer=go))

    def _offer_choice(self, names: Sequence[str], boxes: "_Boxes") -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name in names:
            does = partial(self._ask, name, boxes)
            menu.addAction(f"Outline it with {name}", does)
        menu.popup(QCursor.pos())

    def _ask(self, name: str, boxes: "_Boxes") -> None:
        shown = self._lightbox.active.shown
        if shown is None or self.questions.running:
            return
        self._place = self._lightbox.active.place
        grid = self._side.grid.choice.grid
        self._context.status.show_work(
            f"Outlining · {name}", self.questions.cancel, "Stop outlining"
        )
        self.questions.ask(
            AskCommand(
                ref=boxes.ref or shown.ref,
                finding=self._side.ask.asked_finding,
                models=(name,),
                grid=grid.name,
                letters=grid.letters,
                view=_known(shown.header.view, self._side.ask.view.currentData()),
                boxes=boxes.boxes,
            )
        )

    def _answered(self, event: Answered) -> None:
        trial, store = event.trial, self._context.settings.store
        run_for(self, lambda: answer_of_trial(store, trial), self._stored, self._tell)

    def _stored(self, answer: StoredAnswer) -> None:
        self.answer_stored.emit(AnswerStored(answer.ref))
        if answer.answer is None:
            if answer.score.reason == "empty_mask":
                self._context.notices.say(_NOTHING)
            return
        self._context.undo.do(
            "outline",
            partial(self._knowledge.withdraw, answer, gone=False),
            partial(self._knowledge.withdraw, answer, gone=True),
            self._place,
        )

    def _failed(self, event: Failed) -> None:
        self._context.notices.post(Notice(event.sentence))

    def _tell(self, error: Exception) -> None:
        tell_error(self._context, error)


@dataclass(frozen=True, slots=True)
class _Boxes:
    """Boxes in native pixels of an image, None for the one shown."""

    boxes: tuple[BoxPx, ...]
    ref: ImageRef | None = None


def _on_image(viewport: Viewport, box: BoxPx) -> _Boxes:
    """Return a box of the image; of a slide, in a region twice as wide around it."""
    shown = viewport.shown
    if shown is None or shown.slide is None or shown.ref.frame:
        return _Boxes((box,))
    x, y = (box.x1 - box.x0) / 2, (box.y1 - box.y0) / 2
    around = BoxPx(box.x0 - x, box.y0 - y, box.x1 + x, box.y1 + y)
    region = shown.slide.region(shown.slide.to_scan(0).apply_box(around))
    part = shown.slide.to_whole(region.frame).inverse().apply_box(box)
    return _Boxes((part,), ImageRef(shown.ref.path, region.frame))


def _of_answer(answer: StoredAnswer | None) -> _Boxes:
    """Return the boxes of an answer; none if it is of another kind."""
    if answer is None or not isinstance(answer.answer, BoxesAnswer):
        return _Boxes(())
    return _Boxes(answer.answer.boxes, answer.ref)


def _known(stated: View, chosen: object) -> View:
    """Return the view that the file says, else the person; an outline needs neither."""
    view = stated if stated is not View.UNKNOWN else View(str(chosen or View.UNKNOWN))
    return View.OTHER if view is View.UNKNOWN else view
