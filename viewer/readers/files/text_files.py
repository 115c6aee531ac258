"""Size limits for text tables and documents.

They are parsed in this process: the result is needed here, and would take the same
memory after a decoding process had made it. So they are measured first.
"""

import csv
import gzip
import zlib
from collections.abc import Iterator
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final, TextIO, cast

from viewer.domain.errors import UnreadableInputError
from viewer.readers.files.regular import regular_file

MOST_BYTES: Final = 1 << 30
MOST_VALUES: Final = 20_000_000
"""About a gigabyte of memory at the least, as Python keeps values."""
LONGEST_LINE: Final = 1 << 29
_HEADER_LINES: Final = 64
_PIECE: Final = 1 << 20
BROKEN_GZIP: Final = (gzip.BadGzipFile, zlib.error, EOFError)
"""What a compressed file raises that is damaged or was not downloaded in full."""
_BETWEEN: Final = (b",", b"\n", b"[", b"{")
"""What stands between or before values of CSV and JSON."""


def bounded_text(
    path: Path, encoding: str = "utf-8-sig", errors: str = "strict"
) -> str:
    """Return the text of a file after checking it with `check_text`."""
    check_text(path)
    return path.read_text(encoding=encoding, errors=errors)


def whole_text(path: Path) -> str:
    """Return the text of a UTF-8 file; one that is not raises UnreadableInputError."""
    try:
        return bounded_text(path)
    except (OSError, ValueError) as error:
        raise UnreadableInputError(
            f"{path.name} cannot be read as text.", "Save it as UTF-8."
        ) from error


def header_cells(path: Path, delimiter: str = ",") -> list[str]:
    """Return the cells of a table's first row, empty if it cannot be read."""
    try:
        with open_text(path, errors="replace") as stream:
            # A file may be one line of any length, or one cell of any number of them.
            lines = islice(iter(lambda: stream.readline(_PIECE), ""), _HEADER_LINES)
            return next(csv.reader(lines, delimiter=delimiter), [])
    except (OSError, csv.Error, *BROKEN_GZIP):
        return []


def open_text(path: Path, errors: str = "strict") -> TextIO:
    """Open UTF-8 text; a file named .gz is decompressed while it is read."""
    stream = _open_bytes(path)
    return TextIOWrapper(stream, encoding="utf-8-sig", errors=errors, newline="")


def _open_bytes(path: Path) -> BinaryIO:
    if path.suffix.lower() == ".gz":
        return cast("BinaryIO", gzip.GzipFile(path, "rb"))
    return path.open("rb")


def bounded_lines(stream: TextIO) -> Iterator[str]:
    """Yield a text's lines; one longer than ``LONGEST_LINE`` raises ValueError."""
    while line := stream.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE:
            raise ValueError("a line is too long")
        yield line


def check_text(path: Path) -> None:
    """Check that a table's values fit into memory.

    Raises
    ------
    UnreadableInputError
        If it is not a file, or has too many bytes or values.
    """
    regular_file(path, MOST_BYTES)
    values = 0
    size = 0
    with _open_bytes(path) as stream:
        while max(values - MOST_VALUES, size - MOST_BYTES) <= 0 and (
            piece := stream.read(_PIECE)
        ):
            size += len(piece)
            values += sum(map(piece.count, _BETWEEN))
    if size > MOST_BYTES:
        raise UnreadableInputError(
            f"'{path.name}' unpacks to more than {MOST_BYTES / 1e9:.1f} GB.",
            "Split it into several files.",
        )
    if values > MOST_VALUES:
        raise UnreadableInputError(
            f"'{path.name}' contains more than {MOST_VALUES:,} values.",
            "Split it into several files.",
        )
