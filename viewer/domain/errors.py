"""Errors shown to users: one sentence on what is wrong, one on how to fix it."""

import sys
from enum import StrEnum
from typing import Final


class OverreadError(Exception):
    """An error that is shown to the user.

    Parameters
    ----------
    what : str
        What is wrong, naming the file or thing, without patient data.
    how : str
        How to fix it; may be empty if there is nothing to do.
    """

    def __init__(self, what: str, how: str = "") -> None:
        super().__init__(what, how)
        self.what = what
        self.how = how

    def __str__(self) -> str:
        return f"{self.what} {self.how}".strip()


class UnreadableInputError(OverreadError):
    """A file or folder that cannot be read in its expected format."""


class NotAnImageError(UnreadableInputError):
    """A file that belongs to images and is none, such as a presentation state."""


class WrongUseError(OverreadError):
    """An unknown name, a value out of range, or a meaningless combination."""


class MissingDependencyError(OverreadError):
    """An optional package that a chosen adapter needs is not installed."""


def where_to_get(package: str) -> str:
    """Return where a missing package is from, for the end of a sentence.

    The installed program has no pip: what is not in it is in its full edition.
    """
    if getattr(sys, "frozen", False):
        return "in the full edition of Overread"
    return f"pip install {package}"


class StoreError(OverreadError):
    """The store cannot be opened, or refused a write; nothing stored is lost."""


class DiskFullError(StoreError):
    """The disk filled up during a write; everything committed before is kept."""


class StoreBusyError(StoreError):
    """Another process has held the store's write lock for too long."""


class StoreLostError(StoreError):
    """The open store's file was deleted or replaced; no more requests are sent."""


class OlderStoreError(StoreError):
    """The store is an older copy than the last one written; it is read-only."""


class RunHeldError(StoreError):
    """Another process coordinates this run; the sentence says which."""


class UnknownRunError(WrongUseError):
    """No run has this number, or none any more."""


class CancelledError(OverreadError):
    """The user stopped what was under way; nothing of it is kept."""


class PrivacyError(OverreadError):
    """A request that may not leave this machine."""


class WordsWaitError(PrivacyError):
    """An item's text that a person has not read yet, or has refused to send."""


class RetryClass(StrEnum):
    """What a provider's failure means for the trial and for the run."""

    RETRY = "retry"
    """Worth another attempt after a pause: 408, 409, 425, 429, 5xx, connection."""
    FAIL = "fail"
    """This trial cannot be answered: 400, 404, 413, 422, an unreadable body."""
    STOP_RUN = "stop_run"
    """No further trial of this model can succeed: 401, 403, insufficient quota."""


LOADING: Final = "loading"
"""The reason of a question to a server that has not loaded its model yet."""
UNREACHABLE: Final = "unreachable"
"""The reason of a provider error where no connection could be made."""

TOO_LONG: Final = "too_long"
"""The reason where a question with its answer is longer than a model's context."""


class ProviderError(OverreadError):
    """A model or endpoint did not answer.

    Parameters
    ----------
    what, how : str
        The two sentences.
    retry_class : RetryClass
        Whether to try again, give up on the trial, or stop the run.
    reason : str
        A short stable word for tables, such as ``http_429`` or ``timeout``.
    http_status : int or None
        The HTTP status code, if a response arrived.
    retry_after_s : float or None
        Seconds the provider asked to wait.
    rejected : tuple of str
        Members of the request that the endpoint is known to reject, if the question
        should be asked again without them.
    """

    def __init__(
        self,
        what: str,
        how: str = "",
        *,
        retry_class: RetryClass,
        reason: str,
        http_status: int | None = None,
        retry_after_s: float | None = None,
        rejected: tuple[str, ...] = (),
    ) -> None:
        super().__init__(what, how)
        self.retry_class = retry_class
        self.reason = reason
        self.http_status = http_status
        self.retry_after_s = retry_after_s
        self.rejected = rejected

    @property
    def unreachable(self) -> bool:
        """Whether nothing listens at the endpoint, so that nobody got the question."""
        return self.reason == UNREACHABLE

    @property
    def loading(self) -> bool:
        """Whether the server is still loading its model, so that it answers later."""
        return self.reason == LOADING

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle with the keyword fields, so that other processes can raise it."""
        return (_provider_error, (self.what, self.how, self.__dict__.copy()))


def _provider_error(what: str, how: str, fields: dict[str, object]) -> ProviderError:
    error = ProviderError(what, how, retry_class=RetryClass.FAIL, reason="")
    error.__dict__.update(fields)
    return error
