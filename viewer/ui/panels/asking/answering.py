"""The right-hand side of Read with its logic: asking models and listing answers."""

from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QWidget

from viewer.domain.errors import OverreadError
from viewer.domain.plain import plain
from viewer.domain.privacy import ReviewDecision
from viewer.services.inspecting.answers import StoredAnswer, answer_of_trial
from viewer.services.inspecting.trial_detail import is_placed
from viewer.services.inspecting.written_answers import written_of_trial
from viewer.services.running.batch_form import finding_names, first_choice, model_states
from viewer.ui.application.actions import Handlers
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.application.choices import restored
from viewer.ui.application.layout_memory import Choices
from viewer.ui.application.tell import tell_error
from viewer.ui.dialogs.pixel_review import PixelsDecided
from viewer.ui.panels.asking.answers_panel import details
from viewer.ui.panels.asking.ask_command import Asking
from viewer.ui.panels.asking.ask_panel import AskChoice
from viewer.ui.panels.asking.ask_side import AskSide
from viewer.ui.panels.asking.blinding import BlindingChanged, BlindingChoice
from viewer.ui.panels.asking.committing import Committing
from viewer.ui.panels.asking.outlining import Outlining
from viewer.ui.panels.asking.pixel_looks import PixelLooks
from viewer.ui.panels.asking.reports import Reports
from viewer.ui.panels.asking.spoken import SpokenImage
from viewer.ui.panels.asking.stored_answers import Knowledge
from viewer.ui.panels.read.lightbox import Lightbox

if TYPE_CHECKING:
    from viewer.services.running.batch_form import ModelState
    from viewer.ui.panels.read.image_commands import ImageCommands

_MOST_COMPARED: Final = 9
"""As many viewports as there are at most."""
_MASKS_LOCKED: Final = (
    "Masks may tell the answer. Commit your reading of each image on the screen first."
)
_HEART_LOCKED: Final = (
    "The masks are locked until you commit your reading. Draw the edges of heart and "
    "thorax instead."
)
_NO_HEART: Final = (
    "This image has no masks of the heart and of both lungs. Draw the edges of heart "
    "and thorax instead."
)
_PROPOSED: Final = (
    "The edges are those of the masks of heart and lungs. Drag any that is wrong."
)


class Answering:
    """Ask, the grid's controls and the answers about the images of a lightbox."""

    def __init__(
        self, context: AppContext, lightbox: Lightbox, parent: QWidget
    ) -> None:
        self._context, self._lightbox = context, lightbox
        self.side = AskSide()
        self.asking = Asking(context, lightbox, self.side, parent)
        self.reviews = PixelReviews(context, lightbox, parent)
        self.knowledge = Knowledge(context, lightbox, self.side, parent)
        self.outlining = Outlining(context, lightbox, self.side, self.knowledge, parent)
        self.reports = Reports(context, lightbox, self.knowledge)
        page = self.side.answers.locked
        self.committing = Committing(context, lightbox, page, self.knowledge, parent)
        tree = self.side.answers.tree
        tree.currentItemChanged.connect(self._go_to_chosen)
        tree.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        tree.addActions([context.actions[n] for n in ("ask.saw", "reply.delete")])
        for source in (self.asking, self.outlining):
            source.answer_stored.connect(self.knowledge.refresh)
        lightbox.each(SpokenImage)
        self.side.ask.set_findings(finding_names())
        self.side.ask.connect_wanted.connect(lambda _: context.actions.run("model.new"))
        self._background_tasks = BackgroundTasks(self.side)
        self._to_tick: tuple[str, ...] = ()
        try:
            self._show_models(model_states(context.settings))
        except OverreadError as error:
            self._tell(error)

    def begin(self) -> None:
        """Start with the images that are already on the screen."""
        self.follow()
        self.knowledge.fetch_shown()

    def follow(self) -> None:
        """Follow the image with the focus: ask about it and list its answers."""
        shown = self._lightbox.active.shown
        self.side.ask.set_image(shown.header.view if shown else None)
        self.asking.tell_part()
        self.committing.follow()
        self.knowledge.list_now()

    def reload_models(self, *also: str) -> None:
        """Read the models and their states again; show an error if that fails.

        Those that are ticked stay so, and ``also`` these are.
        """
        self._to_tick += also  # also where this call drops an earlier one
        read = partial(model_states, self._context.settings)
        self._background_tasks.start("models", read, self._show_models, self._tell)

    def _show_models(self, states: "tuple[ModelState, ...]") -> None:
        ask, also, self._to_tick = self.side.ask, self._to_tick, ()
        ask.set_models(states, (*ask.ticked, *also) or first_choice(states))

    def _tell(self, error: Exception) -> None:
        tell_error(self._context, error)

    @property
    def compared(self) -> tuple[str, ...]:
        """The models to compare on the image: those ticked, and those with answers."""
        models = {*self.side.ask.ticked, *self.knowledge.models}
        return tuple(sorted(models))[:_MOST_COMPARED]

    def handlers(self) -> Handlers:
        """Return the handlers of this side, by the action's id."""
        return {
            "overlays.grid": self.side.grid.shown.toggle,
            "overlays.answers": partial(
                self._toggle, self.side.answers.blinding.answers
            ),
            "overlays.reference": partial(
                self._toggle, self.side.answers.blinding.reference
            ),
            "overlays.read_first": self.side.answers.blinding.read_first.toggle,
            "ask.ask": self.side.ask.send,
            "ask.cancel": self.asking.cancel,
            "ask.saw": self.side.answers.show_saw,
            "image.review": self.reviews.show,
            "mark.outline": self.outlining.outline,
            "mark.heart": self.propose_heart,
            "image.report": self.reports.show,
            "reply.delete": self._delete_reply,
        }

    def _delete_reply(self) -> None:
        """Ask about deleting the reply of the chosen answer."""
        from viewer.ui.dialogs.housekeeping import ask_to_delete_reply

        chosen = self.side.answers.current
        trial = chosen.trial if chosen else None
        ask_to_delete_reply(self.side.window(), self._context, trial)

    def _go_to_chosen(self, *_: object) -> None:
        chosen = self.side.answers.current
        if chosen is not None:
            self._lightbox.go_to_answer(chosen)

    def open_masks(self, commands: "ImageCommands") -> None:
        """Open masks, unless an image on the screen waits for its reader."""
        if self.knowledge.locks:
            self._context.notices.say(_MASKS_LOCKED)
        else:
            commands.handlers()["file.open_masks"]()

    def propose_heart(self) -> None:
        """Draw a cardiothoracic ratio at the edges that the reference's masks have.

        Where the case is locked nothing of them is shown, not even if there are any.
        """
        from viewer.ui.canvas.marks.measures import proposed_heart

        if self.knowledge.locked:
            self._context.notices.say(_HEART_LOCKED)
            return
        mark = proposed_heart(self.knowledge.masks)
        if mark is None:
            self._context.notices.say(_NO_HEART)
        else:
            self._lightbox.view.marks.add(mark)
            self._context.notices.say(_PROPOSED)

    def _toggle(self, box: QCheckBox) -> None:
        """Show or hide answers for every case, except locked ones."""
        blinding = self.side.answers.blinding
        if blinding.locked:
            blinding.changed.emit(BlindingChanged(blinding.choice))
        else:
            box.toggle()

    def answer(self, trial: int) -> StoredAnswer:
        """Return a trial's answer from the store; for a background thread."""
        store = self._context.settings.store
        if is_placed(store, trial):
            return answer_of_trial(store, trial)
        return written_of_trial(store, trial)

    @property
    def explained(self) -> str | None:
        """The chosen answer in words if its list has the focus, else None."""
        answer, tree = self.side.answers.current, self.side.answers.tree
        return details(answer) if answer is not None and tree.hasFocus() else None

    @property
    def choices(self) -> Choices:
        """The choices made in the panels, for the next start."""
        side = self.side
        return {
            "grid": plain(side.grid.choice),
            "ask": plain(side.ask.choice),
            "blinding": plain(side.answers.blinding.choice),
        }

    def recall(self, choices: Choices) -> None:
        """Restore the choices of the previous session."""
        grid, ask, blinding = self.side.grid, self.side.ask, self.side.answers.blinding
        grid.set_choice(restored(grid.choice, choices.get("grid")))
        ask.set_choice(restored(AskChoice(), choices.get("ask")))
        blinding.set_choice(restored(BlindingChoice(), choices.get("blinding")))


_SAID: Final = {
    ReviewDecision.CLEAN: "Its pixels may leave this machine.",
    ReviewDecision.BLACKED_OUT: "Its boxes are blacked out from now on, for every "
    "model.",
    ReviewDecision.BLOCKED: "This image is kept on this machine.",
}


class PixelReviews:
    """The pixel review command, and the notice after it."""

    def __init__(
        self, context: AppContext, lightbox: Lightbox, parent: QWidget
    ) -> None:
        self._notices, self._lightbox = context.notices, lightbox
        self.looks = PixelLooks(context, parent)
        self.looks.decided.connect(self._tell)
        self.looks.refused.connect(lambda why: self._notices.say(why) if why else None)

    def show(self) -> None:
        """Look for text in the image with the focus, and let the user decide."""
        shown = self._lightbox.active.shown
        if shown is None:
            self._notices.say("Open an image first to review its pixels.")
        else:
            self.looks.look(shown.ref, shown.image, always=True)

    def _tell(self, event: PixelsDecided) -> None:
        self._notices.say(_SAID[event.review.decision])
