"""SIIM-ACR Pneumothorax 2019: radiographs with run-length coded masks.

``train-rle.csv`` has a row for each annotated part: ``ImageId`` and ``EncodedPixels``,
pairs of numbers down the columns or -1 if there is no pneumothorax. The challenge
counts each run from the end of the one before; other editions count from the first
pixel. Impossible values decide which it is, and a notice says so; if both are possible,
the user must choose (formats ``siim-relative`` and ``siim-absolute``). Images are
``<ImageId>.dcm``.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from viewer.domain.case import Dataset, Notice, View
from viewer.domain.errors import OverreadError, UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.readers.catalog import read_headers
from viewer.readers.datasets.annotated import Annotated, Collection, MakeMask, assembled
from viewer.readers.datasets.csv_tables import (
    CsvRow,
    required_tables,
    rows_of,
    split_of,
    tables_below,
)
from viewer.readers.datasets.files import Progress
from viewer.readers.datasets.image_files import ImageFiles, root_of
from viewer.readers.datasets.run_pairs import Runs, evidence, mask_of_runs, pairs_of

COLUMNS = ("ImageId", "EncodedPixels")
FINDING = "Pneumothorax"
_NOTHING = frozenset({"-1", ""})


@dataclass
class _Rows:
    """The rows of one image."""

    codes: list[tuple[int, ...]] = field(default_factory=list)
    denied: bool = False
    problem: str = ""


def looks(path: Path) -> bool:
    """Tell whether a folder or file contains such tables."""
    return bool(tables_below(path, COLUMNS))


def reader_of(
    runs: Runs | None,
) -> Callable[[Path, str, View | None, Progress | None], Dataset]:
    """Return ``read`` for the convention chosen by the user; None to detect it."""
    return partial(_read, runs)


def _read(
    runs: Runs | None,
    root: Path,
    name: str,
    view: View | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Read the tables below a folder, or one of them, with the images they name.

    Raises UnreadableInputError if no table has the columns, or if both conventions, or
    neither, fit all of its codes.
    """
    folder = root_of(root)
    tables = required_tables(root, COLUMNS)
    images: dict[str, _Rows] = defaultdict(_Rows)
    notices: list[Notice] = []
    for table in tables:
        for row in rows_of(table):
            notices += _take(row, images, table)
    format_name = f"siim-{runs}" if runs else "siim"
    if runs is None:
        runs, about = _decided(images, ImageFiles(folder), tables[0])
        notices += about
    entries = [_entry(key, rows, runs) for key, rows in images.items()]
    notices += [
        _torn(key) for key, rows in images.items() if rows.denied & bool(rows.codes)
    ]
    collection = Collection(
        name,
        format_name,
        folder,
        view or View.FRONTAL,
        split_of(tables),
    )
    return assembled(collection, entries, notices, progress)


def _take(row: CsvRow, images: Mapping[str, _Rows], table: Path) -> list[Notice]:
    key, code = row.cells.get("ImageId", ""), row.cells.get("EncodedPixels", "")
    if not key:
        text = f"Line {row.line} names no image and is not used."
        return [Notice("odd_row", table.name, text)]
    rows = images[key]
    if code in _NOTHING:
        rows.denied = True
        return []
    try:
        numbers = pairs_of(code)
    except UnreadableInputError as error:
        rows.problem = f"line {row.line} of {table.name}: {error.what.rstrip('.')}"
        return []
    if numbers in rows.codes:
        text = f"Line {row.line} of {table.name} repeats its mask; it counts once."
        return [Notice("repeated_masks", key, text)]
    rows.codes.append(numbers)
    return []


def _decided(
    images: Mapping[str, _Rows], files: ImageFiles, table: Path
) -> tuple[Runs, list[Notice]]:
    """Return the only convention in which all codes are valid."""
    codes = [
        (code, size)
        for key, rows in images.items()
        if rows.codes and (size := _size(files.find(key)))
        for code in rows.codes
    ]
    found = evidence(codes)
    if not codes or bool(found.not_relative) == bool(found.not_absolute):
        raise _undecided(table, both_fit=not found.not_relative)
    relative = bool(found.not_absolute)
    runs = Runs.RELATIVE if relative else Runs.ABSOLUTE
    n = found.not_absolute if relative else found.not_relative
    why = found.why_not_absolute if relative else found.why_not_relative
    other = "the first pixel" if relative else "the end of the previous run"
    this = "the end of the previous run" if relative else "the first pixel, which is 1"
    text = (
        f"Its runs are counted from {this}: counted from {other}, {n} of {len(codes)} "
        f"masks would be invalid ({why})."
    )
    return runs, [Notice(f"runs_{runs.value}", table.name, text)]


def _undecided(table: Path, *, both_fit: bool) -> UnreadableInputError:
    what = "both fit every mask" if both_fit else "neither fits every mask"
    return UnreadableInputError(
        f"'{table.name}' does not show whether its runs are counted from the end of "
        f"the previous run or from the first pixel: {what}.",
        "Import it as siim-relative (the challenge's own way) or siim-absolute.",
    )


def _size(path: Path | None) -> SizePx | None:
    if path is None:
        return None
    try:
        headers = read_headers(path)
    except OverreadError:
        return None  # assembled() says of each image why it cannot be read
    return headers[0].size if headers else None


def _entry(key: str, rows: _Rows, runs: Runs) -> Annotated:
    masks: dict[str, MakeMask] = {}
    if rows.codes:
        masks[FINDING] = partial(mask_of_runs, tuple(rows.codes), runs)
    broken = {FINDING: rows.problem} if rows.problem else {}
    return Annotated(
        key=key,
        file=key,
        labels={FINDING: bool(rows.codes or rows.problem)},
        masks={} if broken else masks,
        broken=broken,
    )


def _torn(key: str) -> Notice:
    text = (
        "One row says that there is nothing, but another has a mask; the mask is used."
    )
    return Notice("contradiction", key, text)
