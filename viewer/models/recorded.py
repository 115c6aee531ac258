"""Shared parts of adapters with prepared answers."""

from pathlib import Path

from viewer.domain.errors import ProviderError, RetryClass, UnreadableInputError


def not_recorded(what: str) -> ProviderError:
    """Return the error for a question without a prepared answer."""
    return ProviderError(
        what,
        "Add an answer for it.",
        retry_class=RetryClass.FAIL,
        reason="not_recorded",
    )


def read_file(path: Path) -> bytes:
    """Return a file's bytes; raises if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableInputError(
            f"The file of answers {path.name} cannot be read ({error.strerror}).",
            "Check the path in the model's settings.",
        ) from error
