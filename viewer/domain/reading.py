"""Readers' sessions: questions, answers, and what is revealed afterwards.

A screen gets only a :class:`Task` before the answer is locked; it has no field that
could contain a model's name or a reference.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NewType, Self

from viewer.domain.aid import Arm
from viewer.domain.answer import Answer, LabelledBox
from viewer.domain.case import ImageRef
from viewer.domain.errors import StoreError, WrongUseError
from viewer.domain.form import Form, Option
from viewer.domain.form_values import Canvas, Values
from viewer.domain.reference import Mask

SessionId = NewType("SessionId", int)


class SessionKind(StrEnum):
    """The purpose of a session."""

    ERROR_REVIEW = "error_review"
    READER_STUDY = "reader_study"
    """A reader does the models' task, or grades or validates what a study needs."""
    ADJUDICATION = "adjudication"


class TaskState(StrEnum):
    """The state of a case in a session."""

    WAITING = "waiting"
    STARTED = "started"
    """Something is saved, nothing locked."""
    STAGE_LOCKED = "stage_locked"
    """A stage is locked and another is asked."""
    LOCKED = "locked"
    UNRESOLVED = "unresolved"
    """Locked as unsure, to be resolved before the session is complete."""


class Act(StrEnum):
    """A reader's action; each is an immutable row."""

    SAVED = "saved"
    LOCKED = "locked"
    UNDONE = "undone"
    REVEALED = "revealed"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of a monotonic clock during which the reader was active, in ms."""

    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class Consent:
    """A reader's decision on a text; ``to`` names what it asks, such as a form.

    ``version`` is that of what is asked, ``text_sha256`` the text's hash as UTF-8.
    """

    to: str
    version: str
    text_sha256: str
    given: bool = True

    @classmethod
    def on(cls, to: str, version: str, text: str, *, given: bool = True) -> Self:
        """Return the decision on a text."""
        return cls(to, version, hashlib.sha256(text.encode()).hexdigest(), given)


@dataclass(frozen=True)
class SessionSummary:
    """A session as shown in lists; ``run`` is None for a reader study.

    ``work`` is what sessions of several readers have in common. ``opened_at`` is UTC,
    ISO 8601; ``withdrawn`` is True if the reader's answers were purged, ``condition``
    is the condition under which cases are asked, such as ``grid=8``. ``visiting`` is
    True if another store sealed it, in which its answers count. ``seed`` drew its cases
    and their order. ``part`` is which part of a session it is that travels in parts, 0
    if it is the whole, and ``goes_on`` says that another one follows.
    """

    id: SessionId
    kind: SessionKind
    reader: str
    run: int | None
    dataset: str
    form: Form
    work: str
    opened_at: str
    planned: int
    done: int
    unresolved: int
    withdrawn: bool = False
    condition: str = ""
    visiting: bool = False
    seed: int = 0
    part: int = 0
    goes_on: bool = False

    @property
    def title(self) -> str:
        """What the session is, in words that do not name a model."""
        part = f", part {self.part}" if self.part else ""
        return f"{self.form.title} of {self.dataset}{part}"

    @property
    def finished(self) -> bool:
        """Whether every case is locked and none is unsure."""
        return self.done == self.planned and not self.unresolved


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One thing that a case shows: an image of the data set, or a text, or both.

    ``kind`` is the type of evidence, which has a colour of its own, "" for none;
    ``image`` is a key of the data set's images, "" for a text alone. ``boxes`` are
    drawn on the image.
    """

    title: str = ""
    text: str = ""
    image: str = ""
    kind: str = ""
    boxes: tuple[LabelledBox, ...] = ()


@dataclass(frozen=True)
class Material:
    """What a case shows beside its questions, without anything that tells the truth.

    ``question`` is the heading of the case, "" for its finding. ``text`` is an output
    to be graded. ``options`` and ``texts`` have those of questions that depend on the
    case, by question; ``asked`` are the questions put, () for all of the form.
    ``part`` is the part of the output that is graded: the number of an annotated image
    from 1, 0 for the text.
    """

    question: str = ""
    text: str = ""
    exhibits: tuple[Exhibit, ...] = ()
    options: Mapping[str, tuple[Option, ...]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    asked: tuple[str, ...] = ()
    part: int = 0
    notes: Mapping[str, Any] = field(default_factory=dict)
    """What a study needs to count the answer; no screen shows it."""
    advice: str = ""
    """A model's answers as JSON of values, "" for none (:mod:`viewer.domain.aid`)."""
    drawn: str = ""
    """The place as JSON that is drawn of them, "" for the one among them."""


@dataclass(frozen=True)
class Withheld:
    """What a case shows later: once its first stage is locked, and at the end.

    Nothing of it is in a :class:`Task` before. ``advice`` and ``drawn`` are as a
    Material's, and come once a question is asked again; ``options`` are those of
    questions that are asked after the first stage.
    """

    later: tuple[Exhibit, ...] = ()
    options: Mapping[str, tuple[Option, ...]] = field(default_factory=dict)
    advice: str = ""
    drawn: str = ""
    truth: tuple[Exhibit, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownExhibit:
    """An exhibit with its image's file and where a reader may draw on it."""

    exhibit: Exhibit
    image: ImageRef | None = None
    canvas: Canvas | None = None


@dataclass(frozen=True)
class Task:
    """One case of a session, with what may be shown before it is locked.

    ``position`` counts from 0 in the session's order. ``answer`` is the model's
    location if the form shows it beside the question, ``answer_text`` the same in
    words. ``values`` are those saved so far; ``stage`` is the current one, equal to the
    number of stages once all are locked. ``options`` are those that the case provides
    for a choice of this stage. ``others`` are the values of other readers, in an
    uninformative order, if the form shows them. ``exhibits`` are what it shows, images
    first; without any it is its ``image`` alone. ``question`` is its heading, ``texts``
    are those of questions that depend on the case, and ``asked`` the questions put, ()
    for all of the form. A ``training`` case does not count. ``advice`` are a model's
    answers by question, which a reader may accept; ``arm`` is when they are shown, None
    if never.
    """

    position: int
    image: ImageRef
    finding: str
    view: str
    canvas: Canvas
    state: TaskState
    stage: int = 0
    values: Values = field(default_factory=dict)
    comment: str = ""
    active_ms: int = 0
    answer: Answer | None = None
    answer_text: str = ""
    options: Mapping[str, tuple[Option, ...]] = field(default_factory=dict)
    others: tuple[Values, ...] = ()
    question: str = ""
    exhibits: tuple[ShownExhibit, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    asked: tuple[str, ...] = ()
    training: bool = False
    advice: Values = field(default_factory=dict)
    arm: Arm | None = None

    @property
    def images(self) -> tuple[ImageRef, ...]:
        """Its images in their order, which those shown after a lock continue."""
        shown = tuple(one.image for one in self.exhibits if one.image is not None)
        return shown or (self.image,)


def open_cases(tasks: Sequence[Task], first: int = 0) -> list[int]:
    """Return the cases that are not locked, from the first on, then the unsure ones.

    A session is read in this order; after its end it begins again.
    """
    count = len(tasks)
    order = [i % count for i in range(first, first + count)]
    done = {TaskState.LOCKED, TaskState.UNRESOLVED}
    waiting = [i for i in order if tasks[i].state not in done]
    return waiting + [i for i in order if tasks[i].state is TaskState.UNRESOLVED]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What the anatomy masks suggest; never more than a suggestion.

    ``key`` is the suggested verdict, "" if the masks cannot tell; ``sentence`` gives
    the reason. ``inside`` is the share of the answered area in anatomy where the
    finding can occur, None if unknown.
    """

    key: str
    sentence: str
    inside: float | None


@dataclass(frozen=True)
class Reveal:
    """What a reader sees once a case is locked, as far as the form reveals it.

    ``truth`` is what the data set says is right, and why.
    """

    position: int
    answer: Answer | None = None
    answer_text: str = ""
    reference: Mask | None = None
    suggestion: Suggestion | None = None
    model: str = ""
    truth: tuple[Exhibit, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a session; times exclude absences.

    ``unresolved`` cases are locked as unsure and counted in ``done``. ``median_s`` and
    ``left_s`` (for the cases still to be locked) are None before the first lock.
    ``overview`` sums up what was locked, where the task does.
    """

    planned: int
    done: int
    unresolved: int
    median_s: float | None
    left_s: float | None
    overview: tuple[Exhibit, ...] = ()

    @property
    def left(self) -> int:
        """The number of cases that are not locked yet."""
        return self.planned - self.done


@dataclass(frozen=True, slots=True)
class Forecast:
    """How far more reviews would narrow the estimates of all models and findings.

    ``more`` reviews bring every estimate within ± ``half_width`` of a share if the
    proportions stay as found so far, ``most`` whatever they find. ``wide`` of
    ``strata`` models and findings are not that narrow yet. Nothing identifies a model.
    """

    half_width: float
    strata: int
    wide: int
    more: int
    most: int


@dataclass(frozen=True, slots=True)
class KnownReader:
    """Somebody who reads here: the name in all results, and the sessions under it.

    ``last`` is when the newest session was opened, UTC, ISO 8601. Of somebody whom only
    a file of a data set names, ``dataset`` is its name.
    """

    name: str
    sessions: tuple[SessionId, ...] = ()
    last: str = ""
    dataset: str = ""


class NameTakenError(WrongUseError):
    """A name under which somebody has read, and nobody said that it is the same reader.

    ``people`` are those of this name, ``free`` is one that nobody has.
    """

    def __init__(self, people: Sequence[KnownReader], free: str) -> None:
        first = people[0]
        numbers = ", ".join(map(str, first.sessions))
        sessions = "session" if len(first.sessions) == 1 else "sessions"
        where = f"{sessions} {numbers}" if numbers else f"a file of {first.dataset}"
        super().__init__(
            f"{first.name} has already read here ({where}).",
            f"If this is another reader, use another name, such as {free}.",
        )
        self.people, self.free = tuple(people), free


class LockedError(WrongUseError):
    """An attempt to change a locked answer."""


class SessionHeldError(StoreError):
    """Another window or process has this session open; the sentence says which."""
