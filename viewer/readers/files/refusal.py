"""The one place where any decoder error becomes a message."""

import logging
import lzma
import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from viewer.domain.errors import OverreadError, UnreadableInputError

_DECODERS = r"(pydicom|PIL|nibabel)(\.|$)"
_LOGGERS = ("imagecodecs", "tifffile")
"""What they log is mended by them, or refused here."""
DAMAGED = "The file is damaged or incomplete: copy or export it again."


_WHY: Final[tuple[tuple[tuple[type[Exception], ...], str], ...]] = (
    ((EOFError,), "it ends too early"),
    ((zlib.error, lzma.LZMAError), "what is compressed in it is damaged"),
    ((UnicodeError,), "a text in it has characters that do not exist"),
    ((NotImplementedError,), "it is of a kind that is not read"),
    ((RecursionError,), "it is nested too deeply"),
    ((OSError,), "its bytes are not those of its format"),
    (
        (ValueError, TypeError, AttributeError, LookupError, ArithmeticError,
         struct.error),
        "what it says contradicts its format",
    ),
)  # fmt: skip
"""What kinds of errors mean; the first that fits counts."""


class ContradictionError(ValueError):
    """Values in a file that contradict each other, worded to follow the file's name."""


@contextmanager
def refusing(
    path: Path, what: str = "cannot be read", how: str = DAMAGED
) -> Iterator[None]:
    """Convert any failure inside to an UnreadableInputError that names ``path``.

    Only the file's name is given, never its folder or any of its content, which could
    identify the patient. Our own errors pass unchanged.
    """
    _quieten()
    try:
        yield
    except OverreadError:
        raise
    except FileNotFoundError as error:
        raise UnreadableInputError(
            f"{path.name} does not exist.", "Check the path, or whether it was moved."
        ) from error
    except PermissionError as error:
        raise UnreadableInputError(
            f"{path.name} cannot be read: permission denied.",
            "Give yourself permission to read it.",
        ) from error
    except MemoryError as error:
        raise UnreadableInputError(
            f"{path.name} needs more memory than a decoder may use.",
            "Open a smaller image, or set OVERREAD_DECODER_MEMORY_MB to more.",
        ) from error
    except ContradictionError as error:
        raise UnreadableInputError(f"{path.name} {error}.", how) from error
    except Exception as error:
        raise UnreadableInputError(
            f"{path.name} {what}: {_why(error)}.", how
        ) from error


def _why(error: Exception) -> str:
    """Return in a clause what a decoder's error means for the file."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    words = (words for kinds, words in _WHY if isinstance(error, kinds))
    return next(words, "its decoder gives up on it")


def _quieten() -> None:
    """Hide decoders' warnings about odd files from users; their logs have them.

    ``warnings.catch_warnings`` is not thread-safe, and many threads read at once, so
    the filter is installed once and stays.
    """
    for name in _LOGGERS:
        logging.getLogger(name).disabled = True
    if not any(
        getattr(entry[3], "pattern", None) == _DECODERS for entry in warnings.filters
    ):
        warnings.filterwarnings("ignore", module=_DECODERS)
