"""What models with answers written down beforehand share."""

from pathlib import Path

from viewer.domain.errors import ProviderError, RetryClass, UnreadableInputError


def not_recorded(what: str) -> ProviderError:
    """Return the error for a question whose answer was not written down."""
    return ProviderError(
        what,
        "Add an answer for it.",
        retry_class=RetryClass.FAIL,
        reason="not_recorded",
    )


def read_file(path: Path) -> bytes:
    """Return a file's bytes; one that cannot be read raises."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableInputError(
            f"The file of answers {path.name} cannot be read ({error.strerror}).",
            "Check the path in the model's settings.",
        ) from error
