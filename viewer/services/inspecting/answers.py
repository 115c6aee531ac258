"""Stored answers, as drawn and explained, and exactly what was sent."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, cast

from viewer.domain.answer import UNREADABLE, Answer, ReportAnswer, Unparsed
from viewer.domain.answer_json import PLACED_START, answer_of_json
from viewer.domain.box_reference import mask_by_rule
from viewer.domain.case import ImageRef
from viewer.domain.conditions import window_of
from viewer.domain.errors import ProviderError, WrongUseError
from viewer.domain.exchange import ModelProfile, ModelReply, RawReply
from viewer.domain.geometry import BoxPx
from viewer.domain.grid import Grid
from viewer.domain.reference import Mask
from viewer.domain.result import Measures, Score
from viewer.domain.run import RunSpec
from viewer.models.coordinates.likely import other_convention
from viewer.models.reading import read_reply
from viewer.services.configuring.model_colors import assign_model_colors
from viewer.store import answers, trials
from viewer.store.answers import AnswerRecord
from viewer.store.database import Store, open_store
from viewer.studies.catalog import places_findings, places_of
from viewer.studies.places import Places, measured


@dataclass(frozen=True)
class StoredAnswer:
    """A trial's answer with everything shown when hovering over it.

    ``grid`` covers ``field``, the native rectangle of the square that was sent;
    ``reference_cells`` is empty without a reference. ``note`` is a baseline's remark on
    its answer, ``cost_microusd`` is None if the price is unknown, ``parameters`` are
    the settings that affected the question. ``asked_at`` is UTC, ISO 8601. ``answer``
    is None if none was read; ``measures`` compares answers other than cells with the
    reference. ``written`` are boxes on this image from an answer in words, which has no
    grid and names no cell. ``reply`` is the stored reply, which several answers may
    share; ``reused`` names the model that it was originally requested from.
    ``explained`` is the data set's explanation of the right answer. ``advice`` says in
    which convention a reply that was not read seems to be.
    """

    trial: int
    run: int
    ref: ImageRef
    finding: str
    view: str
    model: str
    adapter: str
    grid: Grid
    field: BoxPx
    score: Score
    reference_cells: tuple[str, ...]
    reply_text: str
    note: str
    latency_ms: int
    cost_microusd: int | None
    model_returned: str
    prompt_sha256: str
    request_sha256: str
    parameters: Mapping[str, str]
    asked_at: str
    answer: Answer | None = None
    measures: Measures | None = None
    written: ReportAnswer | None = None
    reply: int | None = None
    reused: str = ""
    explained: str = ""
    advice: str = ""


def answer_of_trial(store: Path, trial: int) -> StoredAnswer:
    """Return a trial's answer, with empty text if it has no reply."""
    with open_store(store) as opened:
        record = answers.answer_of_trial(opened, trial)
    return _stored(record, _places_of(record), harmonise=_is_placed(record))


def answers_about(store: Path, ref: ImageRef) -> tuple[StoredAnswer, ...]:
    """Return every answer about an image, newest first, including failed questions.

    Answers that are not locations on this image are left out.
    """
    with open_store(store) as opened:
        assign_model_colors(opened)
        about = answers.answers_about(opened, ref)
    records = tuple(one for one in about if places_findings(one.spec.study))
    by_run: dict[int, Places] = {}
    for one in records:
        if one.run not in by_run:
            by_run[one.run] = _places_of(one)
    harmonise = any(map(_is_placed, records))
    return tuple(_stored(one, by_run[one.run], harmonise=harmonise) for one in records)


def sent_images(store: Path, request_sha256: str) -> tuple[bytes, ...]:
    """Return the exact bytes of every image of a request, in the order sent."""
    with open_store(store) as opened:
        return images_of(_request(opened, request_sha256))


def images_of(request: trials.RequestRecord) -> tuple[bytes, ...]:
    """Return the exact bytes of every image of a request, in the order sent."""
    return tuple(
        request.images[str(part["image_sha256"])]
        for message in _messages(request.document)
        for part in message["parts"]
        if "image_sha256" in part
    )


def sent_text(store: Path, request_sha256: str) -> tuple[tuple[str, str], ...]:
    """Return the role and text of every text part of a request, in the order sent."""
    with open_store(store) as opened:
        return text_of(_request(opened, request_sha256))


def text_of(request: trials.RequestRecord) -> tuple[tuple[str, str], ...]:
    """Return the role and text of every text part of a request, in the order sent."""
    return tuple(
        (str(message["role"]), str(part["text"]))
        for message in _messages(request.document)
        for part in message["parts"]
        if "text" in part
    )


def parts_of(request: trials.RequestRecord) -> tuple[tuple[str, str], ...]:
    """Return the role and text of every part, with images as numbers in place."""
    numbers = count(1)
    return tuple(
        (str(message["role"]), str(part["text"]))
        if "text" in part
        else (f"image {next(numbers)}", "sent here")
        for message in _messages(request.document)
        for part in message["parts"]
    )


def _request(store: Store, sha256: str) -> trials.RequestRecord:
    if not trials.has_request(store, sha256):
        raise WrongUseError(
            "Nothing was sent for this trial.", "Choose one that was asked."
        )
    return trials.sent_request(store, sha256)


def _messages(document: Mapping[str, object]) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", document["messages"])


def _places_of(record: AnswerRecord) -> Places:
    return places_of(record.spec.study, record.spec.preset, record.spec.params)


def _is_placed(record: AnswerRecord) -> bool:
    return record.parsed.startswith(PLACED_START)


def _stored(record: AnswerRecord, places: Places, *, harmonise: bool) -> StoredAnswer:
    trial = record.trial
    profile = _profile(record.spec, trial.model)
    reply, answer = _read(record.raw), _answer(record)
    return StoredAnswer(
        trial=record.id,
        run=record.run,
        ref=record.ref,
        finding=trial.finding,
        view=trial.view,
        model=trial.model,
        adapter=profile.adapter,
        grid=places.grid(trial.condition),
        field=places.field(record.geometry),
        score=record.score,
        reference_cells=_reference_cells(record, places),
        reply_text=reply.text,
        note=reply.note,
        latency_ms=record.raw.latency_ms if record.raw else 0,
        cost_microusd=record.cost_microusd,
        model_returned=record.model_returned,
        prompt_sha256=record.prompt_sha256,
        request_sha256=record.request_sha256,
        parameters=_parameters(record, profile),
        asked_at=record.asked_at,
        answer=answer,
        measures=_measures(record, answer, places) if harmonise else None,
        reply=record.reply_id,
        reused=reused_words(*record.origin) if record.origin else "",
        advice=_advice(record, profile, reply),
    )


def _advice(record: AnswerRecord, profile: ModelProfile, reply: ModelReply) -> str:
    if record.score.status not in UNREADABLE:
        return ""
    named = str(profile.settings.get("convention") or "grid")
    return other_convention(reply.text, named, record.geometry.size)


def reused_words(run: int, model: str) -> str:
    """Return whose stored reply an answer reuses."""
    return f"the stored reply of {model}, run {run}: not asked again"


def _answer(record: AnswerRecord) -> Answer | None:
    answer = answer_of_json(record.parsed) if record.parsed else None
    return None if isinstance(answer, Unparsed) else answer


def _measures(
    record: AnswerRecord, answer: Answer | None, places: Places
) -> Measures | None:
    mask = _mask(record, places)
    if answer is None or mask is None:
        return None
    return measured(places, record.trial.condition, mask, answer, record.geometry)


def _mask(record: AnswerRecord, places: Places) -> Mask | None:
    """Return the reference; for boxes, the mask by the run's rule for readers."""
    if record.mask is not None:
        return record.mask
    drawn = record.boxes.boxes.get(record.trial.finding, ())
    size, readers = record.geometry.size, record.boxes.readers
    return mask_by_rule(size, drawn, readers, places.reader_rule)


def _profile(spec: RunSpec, name: str) -> ModelProfile:
    return next(profile for profile in spec.models if profile.name == name)


def _read(raw: RawReply | None) -> ModelReply:
    """Return a reply's text, or the body itself if it cannot be read."""
    if raw is None:
        return ModelReply("")
    try:
        return read_reply(raw)
    except ProviderError:
        return ModelReply(raw.body.decode("utf-8", "replace"))


def _reference_cells(record: AnswerRecord, places: Places) -> tuple[str, ...]:
    mask = _mask(record, places)
    if mask is None:
        return ()
    return places.reference(mask, record.geometry, record.trial.condition).names


def _parameters(record: AnswerRecord, profile: ModelProfile) -> Mapping[str, str]:
    window = window_of(record.trial.condition)
    settings = {key: str(value) for key, value in profile.settings.items()}
    return {
        "study": record.spec.study,
        "preset": record.spec.preset,
        "condition": record.trial.condition.name,
        "seed": str(record.spec.seed),
        "repeat": str(record.trial.repeat),
        "window": f"{window.center:g} / {window.width:g}" if window else "of the file",
        **settings,
    }
