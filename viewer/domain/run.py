"""Trials, runs and the events of a running batch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from viewer.domain.answer import Status
from viewer.domain.exchange import ModelProfile
from viewer.domain.result import Score


@dataclass(frozen=True, slots=True)
class Condition:
    """A named change of the stimulus; ``name`` is how tables spell it."""

    name: str
    params: tuple[tuple[str, int | float | str], ...] = ()


@dataclass(frozen=True, slots=True)
class Trial:
    """Item × condition × repeat × model.

    ``exclusion`` is the reason the plan excludes the trial (``no_gt``), "" for none.
    """

    item: str
    patient: str
    image: str
    view: str
    finding: str
    condition: Condition
    repeat: int
    model: str
    exclusion: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One question of a trial, by its name.

    ``role`` names who answers it, "" for the model under test. ``again`` counts how
    often the identical question was asked before, so that it is asked anew instead of
    reusing the stored reply.
    """

    name: str
    role: str = ""
    again: int = 0


ANSWER_STEP: Final = Step("answer")
"""The one question of a trial that takes no more."""


class OrphanPolicy(StrEnum):
    """What to do with an attempt that was left without a reply by a killed process."""

    RETRY = "retry"
    ASK = "ask"
    SKIP = "skip"


@dataclass(frozen=True)
class RunSpec:
    """A parsed study file: exactly what identifies the work.

    ``params`` is the study's Params as plain JSON values with every default filled in;
    ``models`` the profiles in the order named. ``ceiling_microusd`` is the most it may
    cost; it is the only field that does not identify the work. ``helpers`` are the
    models that have a role in the study, such as a judge, and are not themselves under
    test.
    """

    study: str
    dataset: str
    preset: str
    seed: int
    repeats: int
    models: tuple[ModelProfile, ...]
    params: Mapping[str, object] = field(default_factory=dict)
    limit: int | None = None
    ceiling_microusd: int | None = None
    helpers: tuple[ModelProfile, ...] = ()


class RunStatus(StrEnum):
    """The state of a run; PAUSED and CANCELLED are set by the user."""

    UNFINISHED = "unfinished"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    FINISHED = "finished"


class RunMark(StrEnum):
    """What the user did with an unfinished run; the latest mark applies."""

    PAUSED = "paused"
    CANCELLED = "cancelled"
    RESUMED = "resumed"


@dataclass(frozen=True, slots=True)
class RunNote:
    """A caveat about a run's model for readers of the results.

    ``kind`` is ``parameter_dropped``, ``model_changed``, ``stood_in``, ``not_learned``,
    ``no_attention``, ``needs_image`` or ``reader_withdrawn``; ``text`` is a sentence
    without full stop.
    """

    model: str
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.model}: {self.text}."


@dataclass(frozen=True, slots=True)
class Outstanding:
    """Questions in batches of providers, and when the last are due, UTC, "" unknown."""

    questions: int
    due: str

    @property
    def words(self) -> str:
        """What was submitted, and when its answers are due in the time zone here."""
        return submitted_words(self.questions, self.due, datetime.now().astimezone())


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run as shown in lists; ``counts`` has the number of trials by status.

    ``cost_microusd`` is the cost of its own requests, None if no reply had a price, one
    from a remote model had none, or costs were not added up. A run with ``notes`` has a
    badge wherever it is shown. ``out`` is what waits in batches of providers.
    """

    id: int
    study: str
    dataset: str
    models: tuple[str, ...]
    status: RunStatus
    created_at: str
    n_planned: int
    counts: Mapping[str, int]
    adhoc: bool
    plan_sha256: str
    cost_microusd: int | None = None
    notes: tuple[RunNote, ...] = ()
    out: Outstanding | None = None


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A batch begins or continues; ``done`` trials are already settled."""

    run: int
    planned: int
    done: int


@dataclass(frozen=True, slots=True)
class TrialDone:
    """A trial is settled and stored; ``reused`` if its reply was in the store."""

    run: int
    trial: int
    item: str
    condition: str
    repeat: int
    model: str
    score: Score
    request_sha256: str
    reused: bool
    latency_ms: int


@dataclass(frozen=True, slots=True)
class TrialRetried:
    """An attempt failed and another follows after ``pause_s``."""

    run: int
    trial: int
    model: str
    reason: str
    pause_s: float


@dataclass(frozen=True, slots=True)
class ModelStopped:
    """No further trial of this model is asked in this batch, and why.

    ``words_of`` names the data set whose text must be reviewed before questions may be
    sent, "" if that is not the reason.
    """

    run: int
    model: str
    sentence: str
    words_of: str = ""


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The batch ends; ``counts`` of every status present, over the whole run.

    ``unanswered`` questions were in flight when waiting ended.
    """

    run: int
    counts: Mapping[Status, int]
    cancelled: bool
    unanswered: int = 0


@dataclass(frozen=True, slots=True)
class RunSpent:
    """What a run has cost so far, in micro-dollars.

    ``at_risk`` is the most that requests in flight can add; ``ceiling`` the most the
    run may cost, None without one.
    """

    run: int
    spent: int
    at_risk: int
    ceiling: int | None


@dataclass(frozen=True, slots=True)
class LimitChanged:
    """An endpoint's current limit: questions in flight, and per second if known."""

    run: int
    endpoint: str
    window: int
    per_s: float | None


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A batch is at work; about one a second, however long its answers take.

    ``in_flight`` questions are sent and not answered yet.
    """

    run: int
    in_flight: int


STORE_IS_BUSY: Final = "The store is busy; waiting…"
"""The message while another process writes to the store."""


@dataclass(frozen=True, slots=True)
class RunWaiting:
    """A batch is waiting for replies that other processes asked for, or to write.

    ``holders`` names those processes, "" once the batch continues. ``questions`` are in
    batches of providers, the last of them ``due`` at a time, UTC, "" if unknown.
    """

    run: int
    holders: str
    store_is_busy: bool = False
    questions: int = 0
    due: str = ""

    @property
    def words(self) -> str:
        """What the run is waiting for, in words; "" if it is not waiting."""
        if self.store_is_busy:
            return STORE_IS_BUSY
        if self.questions:
            return Outstanding(self.questions, self.due).words
        return f"Waiting for {self.holders}" if self.holders else ""


def submitted_words(questions: int, due: str, now: datetime) -> str:
    """Say that questions are in a provider's batch, and when its answers are due.

    ``due`` is UTC in ISO 8601, "" if unknown; it is said in the time zone of ``now``.
    """
    submitted = f"Batch of {questions:,} submitted"
    if not due:
        return submitted
    then = datetime.fromisoformat(due).astimezone(now.tzinfo)
    days = (then.date() - now.date()).days
    day = {-1: "yesterday", 0: "today", 1: "tomorrow"}.get(days, f"on {then:%Y-%m-%d}")
    were = "were " * (then < now)
    return f"{submitted}; answers {were}due by {then:%H:%M} {day}"


@dataclass(frozen=True, slots=True)
class ModelLoading:
    """A model of the run is being downloaded or loaded; its questions wait.

    ``part`` is the fraction done, 0 to 1; ``what`` names the current step, "" once it
    has ended, successfully or not. ``waited_s`` is None for a model of this program;
    else its server loads it, and has said so for this long.
    """

    run: int
    model: str
    part: float
    what: str
    waited_s: float | None = None

    @property
    def words(self) -> str:
        """The current step, such as ``Loading medgemma · 48 % · loading weights``."""
        if self.waited_s is not None:
            return server_loads_words(self.model, self.waited_s) if self.what else ""
        return loading_words(self.model, self.part, self.what)


def server_loads_words(model: str, waited_s: float) -> str:
    """Say that a server is loading a model, and since when."""
    return f"The server is loading {model}… ({waited_s:.0f} s)"


def loading_words(model: str, part: float, what: str) -> str:
    """Return the progress of a model's loading in words; "" without any."""
    done = f"{int(100 * part)} %" if part > 0 else ""
    parts = (f"Loading {model}", done, what)
    return " · ".join(word for word in parts if word) if what else ""


Event = (
    RunStarted
    | ModelLoading
    | TrialDone
    | TrialRetried
    | ModelStopped
    | RunSpent
    | LimitChanged
    | Heartbeat
    | RunWaiting
    | RunEnded
)
