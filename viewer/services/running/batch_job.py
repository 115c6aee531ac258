"""A batch job: the questions of one file for a provider's batch endpoint."""

import logging
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, BinaryIO, Final

from viewer.domain.case import DatasetImage
from viewer.domain.errors import OverreadError, ProviderError, RetryClass
from viewer.domain.exchange import ModelProfile
from viewer.models.batching import (
    ANEW,
    MISSING,
    REJECTED,
    UNSENT,
    BatchEndpoint,
    BatchState,
    Outcome,
)
from viewer.services.privacy.gate import OutgoingRequest
from viewer.services.running.batched_question import BatchedQuestion
from viewer.store.batch_job_rows import StoredBatchJob

FIRST_LOOK_S, LONGEST_LOOK_S = 5.0, 60.0
"""Pauses between two looks at a batch, or between two tries."""
_LOG: Final = logging.getLogger(__name__)
_SHORTEST_S: Final = 0.01
_NOT_FOUND: Final = 404


class Stage(StrEnum):
    """Where a batch job is; each but FILLING and STORING waits for the provider.

    TIDYING deletes its files there.
    """

    FILLING = "filling"
    UPLOADING = "uploading"
    SEARCHING = "searching"
    SUBMITTING = "submitting"
    SUBMITTED = "submitted"
    FETCHING = "fetching"
    STORING = "storing"
    TIDYING = "tidying"


@dataclass(frozen=True)
class GateInput:
    """What the gate looks at of a question that is to leave; it holds no image."""

    profile: ModelProfile
    shown: tuple[DatasetImage, ...]
    outgoing: OutgoingRequest | None


@dataclass
class BatchJob:
    """One file of questions; its ``questions`` are those without an end, by name.

    ``uploads`` is how often its file may have been sent, 2 where nobody knows.
    """

    row: int
    key: str
    profile: ModelProfile
    endpoint: BatchEndpoint
    stage: Stage = Stage.FILLING
    questions: dict[str, BatchedQuestion] = field(default_factory=dict)
    gate_inputs: list[GateInput] = field(default_factory=list)
    content: BinaryIO | None = None
    size: int = 0
    planned: int = 0
    is_full: bool = False
    file: str = ""
    uploads: int = 0
    batch: str = ""
    due: str = ""
    submitting_at: str = ""
    state: BatchState | None = None
    results: deque[tuple[str, Outcome]] = field(default_factory=deque)
    going: Future[Any] | None = None
    cancelling: bool = False
    tries: int = 0
    pause_s: float = 0.0
    next_at: float = 0.0

    @property
    def file_name(self) -> str:
        """The name under which its file is sent, which no other has."""
        return f"overread-{self.key}.jsonl"

    @property
    def model(self) -> str:
        """The name of the model asked."""
        return self.profile.name

    def wait(self, pause_s: float | None = None) -> None:
        """Do the next thing after a pause, a longer one each time."""
        longer = min(max(FIRST_LOOK_S, 1.5 * self.pause_s), LONGEST_LOOK_S)
        self.pause_s = longer if pause_s is None else max(_SHORTEST_S, pause_s)
        self.next_at = time.monotonic() + self.pause_s

    def close(self) -> None:
        """Close its file here, which removes it."""
        if self.content is not None:
            self.content.close()
            self.content = None

    def enter(self, stage: Stage) -> None:
        """Enter a stage, to be begun at once."""
        self.stage, self.tries = stage, 0
        self.pause_s = self.next_at = 0.0


def resumed_job(
    stored: StoredBatchJob, profile: ModelProfile, endpoint: BatchEndpoint
) -> BatchJob:
    """Return a batch job of an earlier process, which sent its file."""
    return BatchJob(
        stored.id,
        stored.key,
        profile,
        endpoint,
        Stage.SUBMITTED if stored.batch else Stage.SEARCHING,
        file=stored.file,
        uploads=2,
        batch=stored.batch,
        due=stored.due,
        submitting_at=stored.submitting_at,
    )


def upload(one: BatchJob) -> str:
    """Send a batch job's file; return what the provider calls it."""
    assert one.content is not None  # noqa: S101 - until it is uploaded
    one.content.seek(0)
    one.uploads += 1
    return one.endpoint.upload(one.file_name, one.content)


def tidy(one: BatchJob) -> None:
    """Delete the files of a batch job that is over at its provider.

    Also those of uploads that died before the provider said what it calls the file. If
    it refuses, a line of the log says so: the answers are in the store all the same.
    """
    left = {one.file, *(one.state.files if one.state else ())} - {""}
    try:
        if one.uploads > bool(one.file):
            left |= {*one.endpoint.files_named(one.file_name)}
        for file in sorted(left):
            one.endpoint.remove(file)
    except OverreadError as error:
        _LOG.warning(
            "Files of a batch of %s may still be at its provider: %s", one.model, error
        )


def can_be_left(one: BatchJob) -> bool:
    """Tell whether a batch job is as well with the next process that takes it up."""
    waits = one.stage in (Stage.SEARCHING, Stage.SUBMITTING, Stage.SUBMITTED)
    return waits and one.going is None


def is_gone(error: ProviderError) -> bool:
    """Tell whether a provider says that it does not know a batch or a file."""
    return error.http_status == _NOT_FOUND


def gone(model: str) -> ProviderError:
    """Return the end of a question whose batch or results are not known any more."""
    return ProviderError(
        f"The batch of {model} or its results are not at its provider any more.",
        "Ask the failed questions again; they may have been paid for.",
        retry_class=RetryClass.FAIL,
        reason=MISSING,
    )


def unsent(model: str) -> ProviderError:
    """Return the end of a question whose file never became a batch."""
    return ProviderError(
        f"A question to {model} did not leave.",
        "Continue the run.",
        retry_class=RetryClass.FAIL,
        reason=UNSENT,
    )


def rejected(model: str) -> ProviderError:
    """Return the end of a question in a batch that its provider would not begin."""
    return ProviderError(
        f"The batch of {model} was refused by its provider.",
        "Correct the model's settings.",
        retry_class=RetryClass.FAIL,
        reason=REJECTED,
    )


def asked_anew(model: str) -> ProviderError:
    """Return the end of a question that goes into another file instead."""
    return ProviderError(
        f"A question to {model} goes into another batch.",
        "Wait.",
        retry_class=RetryClass.RETRY,
        reason=ANEW,
        retry_after_s=0.0,
    )
