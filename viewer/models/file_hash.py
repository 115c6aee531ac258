"""Identity of a model's file: a hash of its bytes, computed once per process."""

import contextlib
import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path

from viewer.domain.errors import UnreadableInputError, WrongUseError


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, recomputed only if its size or time has changed.

    Raises
    ------
    UnreadableInputError
        If the file cannot be read.
    """
    try:
        stat = path.stat()
        return _sha256(path, stat.st_size, stat.st_mtime_ns)
    except OSError as error:
        raise unreadable_file(path, error) from error


def unreadable_file(path: Path, error: OSError) -> UnreadableInputError:
    """Return the error for a model's file that cannot be read."""
    return UnreadableInputError(
        f"The model's file '{path.name}' cannot be read ({error.strerror}).",
        "Check the path in the model's settings.",
    )


@contextlib.contextmanager
def about_the_model() -> Iterator[None]:
    """Reraise errors about a model's file as ``WrongUseError``.

    In a run, ``UnreadableInputError`` means an image, which is then excluded.
    """
    try:
        yield
    except UnreadableInputError as error:
        raise WrongUseError(error.what, error.how) from error


@functools.lru_cache(maxsize=256)
def _sha256(path: Path, _size: int, _modified_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
