"""Asking about the image on the screen, and showing what was sent."""

from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from viewer.domain.case import ImageRef
from viewer.services.inspecting.answers import (
    StoredAnswer,
    answer_of_trial,
    sent_images,
    sent_text,
)
from viewer.services.worker.background import AskCommand
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import run_for
from viewer.ui.application.notices import Notice
from viewer.ui.application.show_once import show_once
from viewer.ui.application.tell import tell_error
from viewer.ui.dialogs.what_model_saw import WhatModelSaw
from viewer.ui.panels.asking.answers_panel import SawWanted
from viewer.ui.panels.asking.ask_panel import AskWanted, ModelsTicked
from viewer.ui.panels.asking.ask_side import AskSide
from viewer.ui.panels.asking.permissions import STAYED, Permissions
from viewer.ui.panels.asking.questions import (
    Answered,
    Ended,
    Failed,
    Questions,
    Waiting,
)
from viewer.ui.panels.read.asked_part import asked_part
from viewer.ui.panels.read.lightbox import Lightbox

_Sent = tuple[tuple[bytes, ...], tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class AnswerStored:
    """An answer about an image was stored."""

    ref: ImageRef


class Asking(QWidget):
    """Connects the Ask panel, the worker and the notices; it is never visible."""

    answer_stored = Signal(object)
    """Carries an AnswerStored."""

    def __init__(
        self, context: AppContext, lightbox: Lightbox, side: AskSide, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.hide()
        self._context, self._store = context, context.settings.store
        self._lightbox, self._side = lightbox, side
        self.questions = Questions(context.worker, self)
        self.leaving = Permissions(context, self)
        self._hosts: tuple[str, ...] = ()
        side.ask.ask_wanted.connect(self._ask)
        lightbox.each(lambda v: v.view.seen_changed.connect(self.tell_part))
        lightbox.active_changed.connect(self.tell_part)
        side.ask.models_ticked.connect(self._tell_hosts)
        side.ask.cancel_wanted.connect(self.cancel)
        side.answers.saw_wanted.connect(self._show_saw)
        self.questions.answered.connect(self._answered)
        self.questions.failed.connect(self._failed)
        self.questions.waiting.connect(self._waits)
        self.questions.ended.connect(self._ended)
        self.leaving.may_ask.connect(self.questions.ask)
        self.leaving.stayed.connect(self._stayed)

    @property
    def running(self) -> bool:
        """True while a question waits for its answer."""
        return self.questions.running

    def cancel(self, *_: object) -> None:
        """Cancel the running question after the requests in flight finish."""
        if self.questions.running:
            self.questions.cancel()
            self._side.ask.set_running(True, "Finishing the questions in flight…")
        else:
            self.leaving.stop()

    def tell_part(self, *_: object) -> None:
        """Say which part of a slide a question would be about."""
        part = asked_part(self._lightbox.active)
        self._side.ask.set_part(part.words if part else "")

    def _ask(self, wanted: AskWanted) -> None:
        shown, part = self._lightbox.active.shown, asked_part(self._lightbox.active)
        if shown is None or part is None:
            return
        grid = self._side.grid.choice.grid
        command = AskCommand(
            ref=part.ref,
            finding=wanted.finding,
            models=wanted.models,
            grid=grid.name,
            letters=grid.letters,
            view=wanted.view,
            window=self._lightbox.active.chosen_window,
        )
        self._side.ask.set_running(True)
        if self._hosts and part.ref != shown.ref:
            self._check_part(command)
        elif self._hosts:
            self.leaving.check(command, shown.image)
        else:
            self.questions.ask(command)

    def _check_part(self, command: AskCommand) -> None:
        """Check a region's own pixels: they differ from those of the overview."""
        decoder = self._context.decoder
        run_for(
            self,
            lambda: decoder.load(command.ref),
            lambda shown: self.leaving.check(command, shown.image),
            self._refused,
        )

    def _refused(self, error: Exception) -> None:
        self._stayed(STAYED)
        self._tell(error)

    def _stayed(self, sentence: str) -> None:
        self._side.ask.set_running(False, sentence)

    def _tell_hosts(self, event: ModelsTicked) -> None:
        self._hosts = event.hosts
        self._context.status.show_hosts(event.hosts, event.restricted)

    def _answered(self, event: Answered) -> None:
        trial, store = event.trial, self._store
        run_for(self, lambda: answer_of_trial(store, trial), self._stored, self._tell)

    def _stored(self, answer: StoredAnswer) -> None:
        self.answer_stored.emit(AnswerStored(answer.ref))

    def _failed(self, event: Failed) -> None:
        self._context.notices.post(Notice(event.sentence))

    def _waits(self, event: Waiting) -> None:
        self._side.ask.show_waiting(event.words, event.part)

    def _ended(self, event: Ended) -> None:
        words = "Cancelled. What had arrived is kept." if event.cancelled else ""
        self._side.ask.set_running(False, words)

    def _show_saw(self, event: SawWanted) -> None:
        name, sha256 = event.answer.model, event.answer.request_sha256
        store = self._store

        def show(sent: _Sent) -> None:
            parent = self.parentWidget() or self
            show_once(
                parent,
                f"saw {sha256}",
                lambda: WhatModelSaw(name, *sent, sha256, parent),
            )

        def fetch() -> _Sent:
            return sent_images(store, sha256), sent_text(store, sha256)

        run_for(self, fetch, show, self._tell)

    def _tell(self, error: Exception) -> None:
        tell_error(self._context, error)
