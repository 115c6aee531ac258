"""Asking by file: a provider's batch endpoint, as a run uses it.

A provider's *batch* is a file of questions that it answers within a day, at a lower
price. In the code the questions of one file are a *batch job*, because a run of many
trials is a batch as well.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import BinaryIO, Final, Protocol

from viewer.domain.errors import ProviderError
from viewer.domain.exchange import ModelProfile, ModelRequest, RawReply

BATCH: Final = "batch"
"""The value of the setting ``answers`` of a model that is asked by file."""

EXPIRED: Final = "batch_expired"
"""The reason of a question that was not reached in time: unpaid, as the next two."""
CANCELLED: Final = "batch_cancelled"
REJECTED: Final = "batch_rejected"
"""The reason of a question in a file that the provider would not begin."""
UNSENT: Final = "batch_unsent"
"""The reason of a question in a file that never became a batch."""
ANEW: Final = "batch_anew"
"""The reason of a question that goes into another file instead."""
LEFT: Final = frozenset({CANCELLED, REJECTED, UNSENT})
"""Ends of a question that was never begun, and so is still to be asked."""
MISSING: Final = "batch_missing"
"""The reason of a question that the results do not name; it may have been paid for."""


def is_batched(profile: ModelProfile) -> bool:
    """Tell whether a model's questions go to its provider's batch endpoint."""
    return profile.settings.get("answers") == BATCH


def at_once(profile: ModelProfile) -> ModelProfile:
    """Return the same model for a question that somebody waits for."""
    kept = {k: v for k, v in profile.settings.items() if k != "answers"}
    return ModelProfile(profile.name, profile.adapter, kept)


class BatchStatus(StrEnum):
    """What a provider says about a batch."""

    VALIDATING = "validating"
    FAILED = "failed"
    IN_PROGRESS = "in_progress"
    FINALIZING = "finalizing"
    COMPLETED = "completed"
    EXPIRED = "expired"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"


_OVER: Final = frozenset(
    {
        BatchStatus.FAILED,
        BatchStatus.COMPLETED,
        BatchStatus.EXPIRED,
        BatchStatus.CANCELLED,
    }
)


@dataclass(frozen=True, slots=True)
class BatchState:
    """A batch as its provider describes it.

    ``due`` is when it expires, UTC in ISO 8601, "" if unknown; ``ended`` how many
    questions have ended. ``files`` are those with results, answers first. ``why`` is
    the provider's first sentence about a batch that failed, and ``is_crowded`` whether
    it failed only because too much is waiting at the provider. ``look_after_s`` is the
    pause until the next look that the provider asks for, if it does.
    """

    id: str
    status: BatchStatus
    input_file: str = ""
    due: str = ""
    ended: int = 0
    files: tuple[str, ...] = ()
    why: str = ""
    is_crowded: bool = False
    look_after_s: float | None = None

    @property
    def is_over(self) -> bool:
        """True once nothing more comes of it."""
        return self.status in _OVER


Outcome = RawReply | ProviderError
"""The result of one question in a batch."""


class BatchEndpoint(Protocol):
    """A provider's batch endpoint, for one model; thread-safe.

    Every call but the first two asks the provider once and raises ``ProviderError``.
    """

    def line(self, name: str, body: bytes) -> bytes:
        """Return a question's line of the file: its name there, and its exact body."""
        ...

    def noted(self, request: ModelRequest) -> Mapping[str, str]:
        """Return what must be kept of a request to read its reply."""
        ...

    def upload(self, name: str, file: BinaryIO) -> str:
        """Upload a file of lines; return its id there."""
        ...

    def submit(self, file: str, key: str) -> BatchState:
        """Begin a batch that can be found again by its key."""
        ...

    def found(self, file: str, key: str) -> BatchState | None:
        """Return the batch of a key or a file, None if the provider knows none."""
        ...

    def state(self, batch: str) -> BatchState:
        """Return a batch as it is now."""
        ...

    def cancel(self, batch: str) -> BatchState:
        """Have a batch cancelled; answers that it has already are kept."""
        ...

    def results(
        self, state: BatchState, noted: Mapping[str, Mapping[str, str]]
    ) -> Iterator[tuple[str, Outcome]]:
        """Yield what became of each question of a batch that is over, by its name.

        ``noted`` is what was noted of each question; others are passed over.
        """
        ...

    def files_named(self, name: str) -> tuple[str, ...]:
        """Return the ids there of the files that were uploaded under a name."""
        ...

    def remove(self, file: str) -> None:
        """Delete a file there; one that is not there is no failure."""
        ...
