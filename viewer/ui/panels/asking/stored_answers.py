"""Stored answers about the images on the screen: listed at the side and drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QTimer

from viewer.domain.case import ImageRef, ReferenceBox, View
from viewer.domain.finding_names import own_word
from viewer.domain.plain import plain
from viewer.domain.reference import Mask
from viewer.services.inspecting.answers import StoredAnswer, answers_about
from viewer.services.inspecting.written_answers import written_about
from viewer.services.privacy.decisions import restricted_by
from viewer.services.readings.committed import is_committed
from viewer.services.viewing.view_image import (
    reference_boxes,
    reference_masks,
    registered_view,
)
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.application.tell import tell_error
from viewer.ui.panels.asking.answers_panel import AnswersShown, by_model
from viewer.ui.panels.asking.ask_command import AnswerStored
from viewer.ui.panels.asking.ask_side import AskSide
from viewer.ui.panels.asking.blinding import BlindingChanged
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.viewport import ImageShown, Viewport

_DRAWN_AT_ONCE = 3
"""As many models as have colours that stay apart for every eye."""


@dataclass(frozen=True)
class About:
    """An image's answers, newest first, and its reference masks by finding.

    Answers with boxes beside words come after those that are places.

    ``boxes`` are those of findings whose reference was drawn as boxes.
    ``restricted`` names the data set that keeps it on this machine, "" for none.
    ``committed`` where its reader has committed a reading. ``view`` is the one that its
    data set gives, unknown without one.
    """

    ref: ImageRef
    answers: tuple[StoredAnswer, ...] = ()
    masks: Mapping[str, Mask] = field(default_factory=dict)
    restricted: str = ""
    boxes: Mapping[str, tuple[ReferenceBox, ...]] = field(default_factory=dict)
    committed: bool = False
    view: View = View.UNKNOWN

    @property
    def told(self) -> tuple[object, ...]:
        """What of it is listed and drawn, to tell whether anything is new."""
        scores = tuple((one.trial, one.score) for one in self.answers)
        of_image = (self.restricted, self.committed, self.view)
        return scores, self.masks, self.boxes, of_image


def load_about(store: Path, ref: ImageRef) -> About:
    """Read answers and reference from the store; for a background thread."""
    return About(
        ref,
        (*answers_about(store, ref), *written_about(store, ref)),
        reference_masks(store, ref),
        restricted_by(store, ref),
        reference_boxes(store, ref),
        is_committed(store, ref),
        registered_view(store, ref),
    )


def newest_per_model(
    answers: Sequence[StoredAnswer], finding: str, most: int = _DRAWN_AT_ONCE
) -> frozenset[int]:
    """Return the trials to draw at once: the newest answer of each model, ``most``.

    Where none is about the finding, the newest of those with boxes beside words.
    """
    newest: dict[str, int] = {}
    about = [a for a in answers if not a.written and a.finding == finding]
    for answer in about or [a for a in answers if a.written]:
        newest.setdefault(answer.model, answer.trial)
    return frozenset(list(newest.values())[:most])


def reference_words(masks: Mapping[str, Mask], finding: str) -> str:
    """Say which reference the image has, and whether one is of this finding.

    It is called by the word that was asked with, whatever the data set's own is.
    """
    if not masks:
        return "This image has no reference."
    own = own_word(finding, masks)
    others = ", ".join(sorted(masks.keys() - {own}))
    if own is not None:
        return f"Reference of {finding}" + (f"; also of {others}" if others else "")
    return f"No reference of {finding or 'this finding'}, but of {others}"


_SETTLED_MS: Final = 120


class Knowledge(QObject):
    """Fetches answers and references, and draws the selected ones."""

    def __init__(
        self, context: AppContext, lightbox: Lightbox, side: AskSide, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._context, self._store = context, context.settings.store
        self._lightbox, self._ask, self._answers = lightbox, side.ask, side.answers
        self._grid = side.grid
        self._background_tasks = BackgroundTasks(self)
        self._about: dict[ImageRef, About] = {}
        self._answered: set[ImageRef] = set()
        self._withdrawn: set[int] = set()
        self.wanted: StoredAnswer | None = None
        self._beside: frozenset[int] = frozenset()
        lightbox.each(lambda v: v.image_shown.connect(self._image_shown))
        self._ask.finding.currentTextChanged.connect(self._follow_finding)
        self._answers.blinding.changed.connect(self._follow_blinding)
        self._answers.answers_shown.connect(self._draw_answers)
        lightbox.compared.connect(self.list_now)
        context.changes.store_written.connect(self.look_again)

    def forget(self) -> None:
        """Query the store again for the images on the screen and all later ones."""
        shown = {port.shown.ref for port in self._lightbox.viewports if port.shown}
        self._about = {ref: self._about[ref] for ref in shown & self._about.keys()}
        self.fetch_shown()

    def want(self, answer: StoredAnswer, beside: tuple[int, ...] = ()) -> None:
        """Draw this answer, with those of trials ``beside`` it, on its own image."""
        self.wanted, self._beside = answer, frozenset(beside)
        self._about.pop(answer.ref.listed, None)
        self._answers.blinding.answers.setChecked(True)

    def refresh(self, event: AnswerStored) -> None:
        """Query the store again for an image that a model has just answered about.

        Who asks wants to see the answer; one that is locked waits for its reader.
        """
        self._answered.add(event.ref.listed)
        self._answers.blinding.answers.setChecked(True)
        if self._answers.blinding.locked:
            self._answers.locked.say_kept()
        self.fetch(event.ref.listed)

    def learn_anew(self) -> None:
        """Query the store again for every image."""
        self._about.clear()
        self.fetch_shown()

    def withdraw(self, answer: StoredAnswer, *, gone: bool) -> None:
        """Remove an answer from list and image, or restore it; the store keeps it."""
        (self._withdrawn.add if gone else self._withdrawn.discard)(answer.trial)
        self.fetch(answer.ref.listed)

    def fetch(self, ref: ImageRef) -> None:
        """Query the store for an image, and draw its answers."""
        store = self._store
        self._background_tasks.start(
            ref, lambda: load_about(store, ref), self._keep, self._tell
        )

    def fetch_shown(self) -> None:
        """Query the store for every image on the screen."""
        for viewport in self._lightbox.viewports:
            if viewport.shown is not None:
                self.fetch(viewport.shown.ref)

    def look_again(self) -> None:
        """List what others have answered since; what is ticked and chosen stays."""
        for viewport in self._lightbox.viewports:
            if viewport.shown is not None and self._lightbox.isVisible():
                ref, store = viewport.shown.ref, self._store
                self._background_tasks.start(
                    ("again", ref),
                    partial(load_about, store, ref),
                    self._add,
                    lambda _: None,  # who asks for more says what is wrong
                )

    def list_now(self) -> None:
        """List the answers about the image with the focus.

        An answer that is wanted is drawn on the grid it was asked with.
        """
        about = self._current()
        self._lock()
        self._ask.set_restricted(about.restricted if about else "")
        self._ask.set_registered(about.view if about else View.UNKNOWN)
        answers = about.answers if about else ()
        wanted = self.wanted
        if about and wanted and wanted.ref.listed == about.ref:
            drawn = self._beside | {wanted.trial}
            self._answers.set_answers(answers, drawn, wanted.trial)
            if not wanted.written:
                self._grid.set_choice(replace(self._grid.choice, grid=wanted.grid))
            self.wanted = None
        else:
            drawn = self._newest(answers)
            newest = next((a.trial for a in answers if a.trial in drawn), None)
            self._answers.set_answers(answers, drawn, newest)
        self._name_reference()

    def _newest(self, answers: Sequence[StoredAnswer]) -> frozenset[int]:
        """Return the trials to draw: of all models if each has its own viewport."""
        ports = self._lightbox.viewports
        most = len(ports) if self._lightbox.active.model else _DRAWN_AT_ONCE
        return newest_per_model(answers, self._ask.asked_finding, most)

    def _image_shown(self, event: ImageShown) -> None:
        ref = event.shown.ref
        if ref in self._about:
            self._draw(self._about[ref], appears=True)
        elif len(event.viewport.stack_images) > 1:
            QTimer.singleShot(_SETTLED_MS, self, partial(self._fetch_if_shown, ref))
        else:
            self.fetch(ref)

    def _fetch_if_shown(self, ref: ImageRef) -> None:
        """Query the store only for the slice on which scrolling stopped."""
        if self._lightbox.showing(ref) is not None:
            self.fetch(ref)

    def _keep(self, about: About) -> None:
        appears = about.ref not in self._about
        about = self._about[about.ref] = self._not_withdrawn(about)
        self._draw(about, appears=appears)

    def _add(self, about: About) -> None:
        """Add what is new of an image that is known; a first answer is chosen."""
        before, about = self._about.get(about.ref), self._not_withdrawn(about)
        if before is None or before.told == about.told:
            return
        self._about[about.ref] = about
        active = self._lightbox.active.shown
        if active is None or active.ref != about.ref:
            self._draw(about, appears=False)
            return
        if before.answers:
            known = {one.trial for one in before.answers}
            newest = self._newest(about.answers)
            self._answers.renew_answers(about.answers, newest - known)
        else:
            self.list_now()
        self._lock()
        self._ask.set_restricted(about.restricted)
        self._ask.set_registered(about.view)
        self._follow_finding()

    def _not_withdrawn(self, about: About) -> About:
        answers = (a for a in about.answers if a.trial not in self._withdrawn)
        return replace(about, answers=tuple(answers))

    def _draw(self, about: About, *, appears: bool) -> None:
        shown = [v for v in self._lightbox.viewports if v.shown]
        showing = [v for v in shown if v.shown and v.shown.ref == about.ref]
        for viewport in showing:
            if viewport is self._lightbox.active:
                self._choose_finding(about, appears=appears)
                self.list_now()
            elif not viewport.model:
                self._draw_beside(viewport)
        if showing:
            self._draw_references()

    def _draw_beside(self, viewport: Viewport) -> None:
        """Draw the newest answers about an image without the focus."""
        about = self._about_shown(viewport)
        seen = self._answers.blinding.choice.answers and not self._is_locked(viewport)
        answers = about.answers if about and seen else ()
        shown = newest_per_model(answers, self._ask.asked_finding)
        viewport.view.set_answers(by_model(a for a in answers if a.trial in shown))

    def _choose_finding(self, about: About, *, appears: bool) -> None:
        """Go to the finding of the answer that is wanted or has just arrived.

        Else an image that appears brings a finding it has a reference of; later the
        finding is the person's own.
        """
        if self.wanted is not None and self.wanted.ref.listed == about.ref:
            self._go_to(self.wanted)
        elif about.ref in self._answered and about.answers:
            self._answered.discard(about.ref)
            self._go_to(about.answers[0])
        elif self._is_locked(self._lightbox.active):
            return  # the finding would tell of the reference
        elif appears and about.masks and self._ask.asked_finding not in about.masks:
            self._ask.finding.setCurrentText(min(about.masks))

    def _go_to(self, answer: StoredAnswer) -> None:
        """Go to an answer's finding; an answer in words has none."""
        if not answer.written:
            self._ask.finding.setCurrentText(answer.finding)

    @property
    def locked(self) -> bool:
        """Whether the image with the focus waits for its reader to commit a reading."""
        return self._is_locked(self._lightbox.active)

    @property
    def locks(self) -> bool:
        """Whether any image on the screen waits for its reader."""
        return any(map(self._is_locked, self._lightbox.viewports))

    @property
    def masks(self) -> Mapping[str, Mask]:
        """The reference masks of the image with the focus, none while it is locked."""
        about = self._current()
        return {} if about is None or self.locked else about.masks

    @property
    def models(self) -> frozenset[str]:
        """The models with answers about the finding, none while the image is locked."""
        about, finding = self._current(), self._ask.asked_finding
        if about is None or self.locked:
            return frozenset()
        return frozenset(a.model for a in about.answers if a.finding == finding)

    def _current(self) -> About | None:
        return self._about_shown(self._lightbox.active)

    def _about_shown(self, viewport: Viewport) -> About | None:
        return self._about.get(viewport.shown.ref) if viewport.shown else None

    def _is_locked(self, viewport: Viewport) -> bool:
        """Tell whether an image waits for its reader; assume so until it is known."""
        if viewport.shown is None or not self._answers.blinding.choice.read_first:
            return False
        about = self._about_shown(viewport)
        return about is None or not about.committed

    def _lock(self) -> None:
        self._answers.blinding.set_locked(self._is_locked(self._lightbox.active))

    def _follow_blinding(self, event: BlindingChanged) -> None:
        for name, on in plain(event.choice).items():
            self._context.actions.set_checked(f"overlays.{name}", on)
        self._lock()
        for viewport in self._lightbox.viewports:
            if viewport is not self._lightbox.active and not viewport.model:
                self._draw_beside(viewport)
        self._follow_finding()

    def _follow_finding(self, *_: object) -> None:
        self._draw_references()
        self._name_reference()

    def _name_reference(self) -> None:
        about, seen = self._current(), self._answers.blinding.choice.reference
        words = ""
        if about is not None and seen and not self._answers.blinding.locked:
            words = reference_words(about.masks, self._ask.asked_finding)
        self._answers.set_reference_words(words)
        self._answers.set_image(image_open=self._lightbox.active.shown is not None)

    def _draw_references(self) -> None:
        wanted = self._answers.blinding.choice.reference
        for viewport in self._lightbox.viewports:
            about = self._about_shown(viewport)
            on = wanted and not self._is_locked(viewport)
            finding = self._ask.asked_finding
            masks = about.masks if about and on else {}
            boxes = about.boxes if about and on else {}
            viewport.view.set_reference(masks.get(finding), boxes.get(finding, ()))

    def _draw_answers(self, event: AnswersShown) -> None:
        active = self._lightbox.active
        if not active.model:
            active.view.set_answers(event.answers)
            return
        for viewport in self._lightbox.viewports:
            own = (a for a in event.answers if a.model == viewport.model)
            viewport.view.set_answers(tuple(own))

    def _tell(self, error: Exception) -> None:
        tell_error(self._context, error)
