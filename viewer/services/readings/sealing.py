"""A session sealed in a file, for a reader at another machine.

The file holds what the reader is shown and asked, and nothing that tells what is right,
which model answered, what others read, or whose images these are. What is shown once an
answer is locked follows in another file, once that answer is merged. Images are freshly
written PNGs; what keeps an image or a text from a remote endpoint keeps it out of the
file too (docs/privacy.md).
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from threading import Event
from typing import Final

import viewer
from viewer.domain.aid import Aid
from viewer.domain.case import DatasetImage
from viewer.domain.errors import CancelledError, PrivacyError, WrongUseError
from viewer.domain.form import Form, RankedTextQuestion
from viewer.domain.form import Part as FormPart
from viewer.domain.form_values import values_as_json
from viewer.domain.image import PixelImage
from viewer.domain.item import Item, item_of
from viewer.domain.plain import plain
from viewer.domain.privacy import pixels_sha256
from viewer.domain.reading import (
    Exhibit,
    Material,
    SessionId,
    Withheld,
)
from viewer.imaging.luts import to_raster
from viewer.imaging.png import encode_png
from viewer.readers.identifiers import burned_in_facts
from viewer.readers.pixels import load_pixels
from viewer.services.privacy.burned_in import check_pixels
from viewer.services.privacy.decisions import person
from viewer.services.privacy.gate import Gate, deidentified, open_gate
from viewer.services.readings.cases import answer_shown
from viewer.services.readings.parts import Part, shown_later
from viewer.services.readings.sealed_plan import (
    PLAN,
    SealedFile,
    SealedImage,
    SealedPlan,
)
from viewer.services.sessions.ground import (
    Ground,
    SessionSpec,
    form_text,
    ground_of,
    material_of,
)
from viewer.services.sessions.seal import (
    FORMAT,
    SESSION,
    Seal,
    SealedAct,
    plan_hmac,
    sha256_of,
)
from viewer.store import cases, consents, reading_audit, readings
from viewer.store.database import Store, open_store, utc_now
from viewer.store.locks import session_lock
from viewer.store.readings import PlannedTask
from viewer.writers.bundle import bundle_bytes
from viewer.writers.files import write_atomically
from viewer.writers.verify.archive import SCHEMA

_SEALABLE: Final = frozenset({FormPart.ANSWER, FormPart.PIXELS})
_TO_FILE: Final = "file"
"""What the audit calls the place that a sealed file goes to."""
_HERE: Final = "Let the reader work on this machine."
_SCHEMA: Final = {
    "type": "object",
    "required": ["format", "seal"],
    "properties": {
        "format": {"type": "string", "pattern": f"^{SESSION}$"},
        "seal": {"type": "object"},
    },
}


def seal_session(
    store: Path,
    session: SessionId,
    path: Path,
    *,
    progress: Callable[[int, int], object] | None = None,
    stop: Event | None = None,
) -> SealedFile:
    """Write a session to a file for another machine; return what it holds.

    ``progress`` is told how many cases of how many are drawn; once ``stop`` is set,
    it ends with CancelledError and writes nothing.

    Raises
    ------
    WrongUseError
        For an unknown session, one that was answered here, a withdrawn reader, or a
        session that shows other readers' answers or is all locked.
    PrivacyError
        If an image or a text of it must stay here.
    SessionHeldError
        If a window has it open.
    """
    with open_store(store) as opened, session_lock(store, session, utc_now()):
        ground = ground_of(opened, session)
        part = _sealable(opened, ground)
        drawn = _Drawn(opened, ground, part, progress, stop)
        members = {**drawn.members(), SCHEMA: _json(_SCHEMA)}
        seal = _seal(opened, ground, part, members)
        data = bundle_bytes(members, {"format": SESSION, "seal": asdict(seal)})
        _note(opened, ground, seal, data, drawn.codes)
        write_atomically(path, data)
    return SealedFile(
        path,
        len(drawn.tasks),
        len(drawn.images),
        ground.session.reader,
        part.number,
        part.goes_on,
    )


def content_sha256(members: Mapping[str, bytes]) -> str:
    """Return the hash of a sealed file's members, by their names."""
    return sha256_of(
        {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    )


def _sealable(store: Store, ground: Ground) -> Part:
    """Return what of a session is read next at another machine, if it can be."""
    session = ground.session
    if session.withdrawn:
        raise WrongUseError(
            f"The reader of session {session.id} has withdrawn.", "Open another one."
        )
    if ground.spec.made:
        raise WrongUseError(
            f"Session {session.id} shows images that were made of several patients' "
            "images, and a sealed file holds none of these.",
            _HERE,
        )
    if ground.form.shown - _SEALABLE:
        raise WrongUseError(
            f"Session {session.id} shows other readers' answers or what is right, and "
            "that stays here.",
            _HERE,
        )
    part = Part.next_of(store, ground)
    if part is None:
        raise WrongUseError(
            f"Every case of session {session.id} is locked.", "Nothing is left to send."
        )
    return part


class _Drawn:
    """A session's cases and images as they leave: numbered, checked and redrawn."""

    def __init__(
        self,
        store: Store,
        ground: Ground,
        part: Part,
        progress: Callable[[int, int], object] | None,
        stop: Event | None,
    ) -> None:
        self._store, self._ground, self._part = store, ground, part
        self._progress, self._stop = progress, stop
        self._dataset = cases.dataset_named(store, ground.session.dataset)
        self._known = {image.key: image for image in self._dataset.images}
        self._items = {item.key: item for item in self._dataset.items}
        self._gate = open_gate(store, self._dataset)
        self.codes: list[frozenset[str]] = []
        self.pngs: dict[str, bytes] = {}
        self.images: dict[str, SealedImage] = {}
        planned = readings.tasks_of(store, ground.session.id)
        self._reviewed = readings.reviewed_answers(store, ground.session.id)
        self.tasks = tuple(
            self._task(i, len(planned), task) for i, task in enumerate(planned, 1)
        )

    def members(self) -> dict[str, bytes]:
        """Return the plan and the images by their names in the file."""
        session, form = self._ground.session, self._part.form(self._ground.form)
        plan = SealedPlan(
            session.kind,
            form_text(_form_there(form)),
            _spec(self._ground),
            self.tasks,
            tuple(self.images.values()),
            reading_audit.consents_of(self._store, session.id),
            tuple(SealedAct(**act) for act in self._part.acts),
        )
        return {PLAN: _json(plain(plan)), **self.pngs}

    def _task(self, number: int, every: int, task: PlannedTask) -> PlannedTask:
        if self._stop is not None and self._stop.is_set():
            raise CancelledError("Sealing was stopped.", "Nothing was written.")
        if self._progress is not None:
            self._progress(number, every)
        # Notes are for counting the answer, which happens here.
        whole = replace(self._answered(number, material_of(task)), notes={})
        later = shown_later(self._store, self._ground.session.id, number - 1)
        # What follows later too: else its reader could not go on.
        self._check(number, task, whole, later)
        material = self._part.material(self._ground, whole)
        withheld = self._part.withheld(self._ground, task, later)
        image = self._drawn(number, self._image_named(task.image)).key
        material = replace(material, exhibits=self._shown(number, material.exhibits))
        withheld = replace(withheld, later=self._shown(number, withheld.later))
        return PlannedTask(
            item=f"case {number}",
            image=image,
            view=task.view,
            finding=task.finding,
            material=_text(plain(material)),
            withheld=_text(plain(withheld)) if withheld != Withheld() else "{}",
        )

    def _shown(self, number: int, exhibits: Iterable[Exhibit]) -> tuple[Exhibit, ...]:
        """Return exhibits with the images that they have in the file."""
        return tuple(
            replace(one, image=self._drawn(number, self._image_named(one.image)).key)
            if one.image
            else one
            for one in exhibits
        )

    def _answered(self, number: int, material: Material) -> Material:
        """Return what a case shows with the answer that it reviews, if it does."""
        trial = self._reviewed.get(number - 1)
        # An output that a study lets people grade is in its material already.
        if trial is None or self._ground.task is not None:
            return material
        place = answer_shown(trial)
        return replace(
            material,
            text=trial.answer,
            advice=values_as_json({FormPart.ANSWER: place}) if place else "",
        )

    def _image_named(self, key: str) -> DatasetImage:
        if key not in self._known:
            raise WrongUseError(
                f"The data set no longer has the image '{key}'.",
                "Register its folder again.",
            )
        return self._known[key]

    def _check(
        self,
        number: int,
        task: PlannedTask,
        material: Material,
        later: Withheld,
    ) -> None:
        """Raise PrivacyError, with the number of the case, if it must stay here."""
        exhibits = (*material.exhibits, *later.later)
        keys = dict.fromkeys([task.image, *(one.image for one in exhibits)])
        shown = [self._image_named(key) for key in keys if key]
        # A place has no words, and its numbers could be those of a patient by chance;
        # images get other names.
        worded = plain(
            (
                replace(material, advice="", drawn="", exhibits=()),
                replace(later, advice="", drawn="", later=()),
                tuple(replace(one, image="") for one in exhibits),
            )
        )
        told = "\n".join((task.finding, *_texts(worded), *_suggestions(self._ground)))
        try:
            self._gate.check_case(shown, told, self._item(task))
        except PrivacyError as error:
            raise _kept(self._ground, number, error) from error

    def _item(self, task: PlannedTask) -> Item | None:
        """Return the item that a case is about, None for a finding on an image."""
        of_item = self._ground.spec.task and self._items
        return item_of(self._items, task.item) if of_item else None

    def _drawn(self, number: int, image: DatasetImage) -> SealedImage:
        """Return an image as it is in the file; it is drawn where it is shown first."""
        if image.key not in self.images:
            self.images[image.key] = self._draw(number, image)
        return self.images[image.key]

    def _draw(self, number: int, image: DatasetImage) -> SealedImage:
        pixels = load_pixels(image.ref)
        try:
            check_pixels(image.ref, pixels, self._gate.reviews)
        except PrivacyError as error:
            raise _kept(self._ground, number, error) from error
        raster = to_raster(self._gate.as_sent(pixels))
        if raster.size != image.size or raster.pixel_aspect != 1:
            raise WrongUseError(
                f"Case {number} shows a whole slide, or an image whose pixels are not "
                "square, which a sealed file cannot hold.",
                _HERE,
            )
        key = f"image {len(self.images) + 1}"
        file = f"images/{len(self.images) + 1}.png"
        self.pngs[file] = encode_png(raster)
        self.codes.append(_codes(self._gate, image, pixels))
        return SealedImage(key, file, raster.size.rows, raster.size.columns)


def _form_there(form: Form) -> Form:
    """Return a form as it is read at another machine.

    Nothing is revealed there, because what would be is here, and so is what models get.
    """
    return replace(form, shown=form.shown - {FormPart.PIXELS}, revealed=frozenset())


def _codes(gate: Gate, image: DatasetImage, pixels: PixelImage) -> frozenset[str]:
    review = gate.reviews.get(pixels_sha256(pixels))
    return frozenset(deidentified(burned_in_facts(image.ref.path), review))


def _kept(ground: Ground, number: int, error: PrivacyError) -> PrivacyError:
    return PrivacyError(
        f"Session {ground.session.id} was not sealed, because of case {number}. "
        f"{error.what}",
        error.how,
    )


def _spec(ground: Ground) -> str:
    """Return a session's settings without models, names and how cases were drawn."""
    spec = ground.spec
    # Models are not read; params are those of places, as a study's task needs none.
    asked = replace(spec.asked, dataset="")
    return SessionSpec(
        asked,
        spec.condition,
        0,
        task=spec.task,
        panel=spec.panel,
        telemetry=spec.telemetry,
        aid=Aid(run=0, model="", arm=spec.aid.arm) if spec.aid else None,
    ).as_json()


def _seal(
    store: Store, ground: Ground, part: Part, members: Mapping[str, bytes]
) -> Seal:
    session, form, study = ground.session, ground.form, ground.study
    return Seal(
        format=FORMAT,
        program=viewer.__version__,
        study=ground.spec.asked.study,
        study_version=study.version,
        store=store.name,
        session=session.id,
        reader=session.reader,
        form=form.name,
        form_version=form.version,
        plan_hmac=plan_hmac(store, session.id),
        content_sha256=content_sha256(members),
        sealed_at=utc_now(),
        part=part.number,
        goes_on=part.goes_on,
        acts=len(part.acts),
        head=part.head,
    ).signed(store)


def _note(
    store: Store,
    ground: Ground,
    seal: Seal,
    data: bytes,
    codes: Iterable[frozenset[str]],
) -> None:
    """Record what leaves before it does: whose decision, which bytes, and the seal.

    Whoever seals a session consents to this one file, and to nothing after it.
    """
    named = ground.session.dataset, f"session {ground.session.id} in a sealed file"
    who = person()
    consent = consents.add_consent(store, _TO_FILE, *named, granted=True, given_by=who)
    with store.transaction():
        consents.note_departure(
            store,
            None,
            _TO_FILE,
            hashlib.sha256(data).hexdigest(),
            consent,
            sorted(frozenset.intersection(*codes)),
        )
        reading_audit.note_event(
            store,
            "seal",
            ground.session.id,
            signed=True,
            signature=seal.signature,
            part=seal.part,
        )
    consents.add_consent(store, _TO_FILE, *named, granted=False, given_by=who)


def _suggestions(ground: Ground) -> Iterator[str]:
    for question in ground.form.questions:
        if isinstance(question, RankedTextQuestion):
            yield from question.suggestions


def _texts(document: object) -> Iterator[str]:
    """Yield every text of plain JSON values, at any depth."""
    if isinstance(document, str):
        yield document
    elif isinstance(document, dict):
        for one in document.values():
            yield from _texts(one)
    elif isinstance(document, list):
        for one in document:
            yield from _texts(one)


def _json(document: object) -> bytes:
    return _text(document).encode()


def _text(document: object) -> str:
    return json.dumps(document, sort_keys=True, ensure_ascii=False)
