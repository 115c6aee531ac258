"""Messages about failures of a batch that are not the provider's."""

from collections.abc import Sequence

from viewer.domain.errors import (
    OverreadError,
    PrivacyError,
    ProviderError,
    RetryClass,
    UnreadableInputError,
    WordsWaitError,
)
from viewer.domain.run import ModelStopped
from viewer.services.running.spending import NOT_ALLOWED


def unexpected(error: BaseException) -> ProviderError:
    """Return an unexpected exception of an adapter as a failure of its trial.

    If something must not be sent, its model stops and its trials stay pending.
    """
    if isinstance(error, PrivacyError):
        return ProviderError(
            error.what,
            error.how,
            retry_class=RetryClass.STOP_RUN,
            reason=NOT_ALLOWED,
        )
    return ProviderError(
        f"The model's adapter failed with {type(error).__name__}.",
        "Report this with the output of overread doctor.",
        retry_class=RetryClass.FAIL,
        reason=f"adapter_{type(error).__name__}",
    )


def reason_of(error: OverreadError) -> str:
    """Return the reason code of a trial whose question cannot be built.

    Its image cannot be read, or the model or the image lacks what it highlights.
    """
    unreadable = isinstance(error, UnreadableInputError)
    return "unreadable_image" if unreadable else "cannot_be_asked"


def held_back(run: int, held: Sequence[PrivacyError], dataset: str) -> ModelStopped:
    """Return why questions were held back; their trials stay pending.

    The data set is named if its text waits for a person.
    """
    more = f" So were {len(held) - 1} more question(s)." if len(held) > 1 else ""
    wait = any(isinstance(why, WordsWaitError) for why in held)
    return ModelStopped(run, "", f"{held[0]}{more}", words_of=dataset if wait else "")


def batch_refused(model: str, why: str) -> str:
    """Say that a provider would not begin a batch; ``why`` are its words, or ""."""
    said = f": {why.rstrip('.')}" if why else ""
    return (
        f"The batch of {model} was refused by its provider{said}. Nothing of it was "
        "asked or paid for; correct the model's settings, then continue the run."
    )


def batch_cancelled(model: str) -> str:
    """Say that somebody cancelled a batch at its provider."""
    return (
        f"The batch for {model} was cancelled at the provider. The answers received "
        "so far are kept; resume the run to ask the remaining questions."
    )


def orphans_wait(n: int) -> str:
    """Say that questions wait for a person's decision."""
    return (
        f"{n} question(s) were in flight when a batch was killed and may have"
        " been paid for. Ask them again with --orphans retry, or end them as failed"
        " with --orphans skip."
    )
