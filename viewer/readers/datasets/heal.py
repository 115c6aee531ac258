"""HEAL-MedVQA: questions about findings in anatomies, with the anatomies' masks.

Rows have the fields ``image``, ``question``, ``answer`` and ``location`` (E002-04), or
those of the other edition, see `heal_rows`, in Parquet, JSON, JSON lines or CSV.
``image`` is a file's name or path. ``location`` is the name of an anatomy, its mask as
a run-length code, or both:

- ``"Left lower lung"``
- ``{"size": [h, w], "counts": …}`` with COCO's string or a list of runs
- ``{"Left lower lung": {"size": …, "counts": …}}``

Whether runs go down the columns or along the rows differs between editions. A check of
all masks together decides it, and a notice says so; if it is inconclusive, the user
must choose (formats ``heal-columns`` and ``heal-rows``).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from viewer.domain import rle
from viewer.domain.case import Dataset, DatasetImage, Notice, View
from viewer.domain.documents import read_json
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.domain.item import Item
from viewer.domain.plain import plain
from viewer.domain.reference import Mask
from viewer.readers.datasets.annotated import Annotated, Collection, assembled
from viewer.readers.datasets.csv_tables import split_of
from viewer.readers.datasets.files import Progress, content_sha256
from viewer.readers.datasets.heal_rows import LOCATED, MASKED, HealRows, heal_tables
from viewer.readers.datasets.image_files import root_of, stem_of
from viewer.readers.datasets.question_rows import Row
from viewer.readers.datasets.run_order import Order, Runs, Votes, mask_of, votes

_NAME: Final = re.compile(r"[^\W\d_]{2}")
"""Two letters: what has none is not a name of an anatomy."""
_HOW: Final = (
    "Write location as an anatomy's name, or as a mask with its size and counts."
)


@dataclass
class _Rows:
    """The rows of one image; ``codes`` by anatomy."""

    codes: dict[str, Runs] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)


@dataclass
class _Read:
    """Everything in the tables, before the order of their runs is known."""

    images: dict[str, _Rows] = field(default_factory=lambda: defaultdict(_Rows))
    files: dict[str, str] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)


def looks(path: Path) -> bool:
    """Tell whether a folder or file contains such rows."""
    try:
        return bool(heal_tables(path))
    except UnreadableInputError:
        return False


def reader_of(
    order: Order | None,
) -> Callable[[Path, str, View | None, Progress | None], Dataset]:
    """Return ``read`` for the order chosen by the user; None means to detect it."""
    return partial(_read, order)


def _read(
    order: Order | None,
    root: Path,
    name: str,
    view: View | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Read the tables below a folder, or one of them, with the images they name.

    Raises
    ------
    UnreadableInputError
        No table has the fields, one cannot be read, or its masks do not show the
        order of their runs.
    """
    tables = heal_tables(root)
    if not tables:
        raise UnreadableInputError(
            f"No table in '{root.name}' has the fields {', '.join(LOCATED)}, or image, "
            f"{', '.join(MASKED)}.",
            "Name the folder or the file of that format, or import another format.",
        )
    read = _Read()
    below = root if root.is_dir() else root.parent
    for table, called in zip(tables, _names(tables, below), strict=True):
        rows = HealRows(table)
        for number, row in enumerate(rows, start=1):
            _take(row, f"{called}#{number}", table, read)
        read.notices += rows.notices
    format_name = f"heal-{order}" if order else "heal"
    found = order or _decided(read, tables[0])
    folder = root_of(root)  # now that images that lay in rows are unpacked
    collection = Collection(
        name, format_name, folder, view or View.FRONTAL, split_of(tables)
    )
    entries = [_entry(key, read, found) for key in read.images]
    return _with_items(assembled(collection, entries, read.notices, progress), read)


def _names(tables: Sequence[Path], folder: Path) -> tuple[str, ...]:
    """Return the prefix of rows' names: their table, with its folder if not unique."""
    used = Counter(stem_of(table.name) for table in tables)
    return tuple(
        stem_of(table.name)
        if used[stem_of(table.name)] == 1
        else table.relative_to(folder).as_posix()
        for table in tables
    )


def _take(row: Row, key_of_row: str, table: Path, read: _Read) -> None:
    number = key_of_row.rpartition("#")[2]
    path, question, answer = (row.get(name) for name in LOCATED[:3])
    if not all(
        isinstance(cell, str) and cell.strip() for cell in (path, question, answer)
    ):
        text = f"Row {number} lacks an image, a question or an answer and is not used."
        read.notices.append(Notice("odd_row", table.name, text))
        return
    written = str(path).strip()
    key = stem_of(Path(written.replace("\\", "/")).name)
    if read.files.setdefault(key, written) != written:
        text = f"Row {number} has another file of its name; the first is used."
        read.notices.append(Notice("same_name", key, text))
    areas = _located(row.get("location"), read.images[key])
    read.items.append(
        Item(
            key=key_of_row,
            patient="",
            kind=_kind(str(answer)),
            images=(key,),
            facts={"question": str(question).strip()},
            reference={"answer": str(answer).strip(), "areas": list(areas)},
        )
    )


_YES_NO: Final = re.compile(r"(?:^|\bthe answer is\b)\W*(?:yes|no)\b", re.IGNORECASE)


def _kind(answer: str) -> str:
    return "closed" if _YES_NO.search(answer.strip()) else "open"


def _located(location: object, rows: _Rows) -> tuple[str, ...]:
    """Store the masks of a row's location, and return the anatomies it names."""
    value = _parsed(location)
    if value in (None, ""):
        return ()
    if isinstance(value, str) and _NAME.search(value):
        return (value,)
    if isinstance(value, str):
        rows.broken[""] = "its location has numbers without the size they fill"
        return ()
    if not isinstance(value, Mapping):
        rows.broken[""] = "its location is neither a name nor a mask"
        return ()
    named = {"": value} if {"size", "counts"} & set(value) else _there(value)
    for area, code in named.items():
        _keep(str(area), code, rows)
    return tuple(str(area) for area in named if area)


def _there(areas: Mapping[str, object]) -> Mapping[str, object]:
    """Return a row's areas without the empty ones that Parquet adds from other rows."""
    return {area: code for area, code in areas.items() if code is not None}


def _parsed(location: object) -> object:
    """Return a location, decoded if it is JSON text."""
    if not isinstance(location, str) or not location.strip().startswith("{"):
        return location.strip() if isinstance(location, str) else location
    try:
        return read_json(location)
    except ValueError:
        return []


def _keep(area: str, code: object, rows: _Rows) -> None:
    try:
        runs = _runs(area, code)
    except UnreadableInputError as error:
        rows.broken[area] = error.what.rstrip(".")
        return
    before = rows.codes.setdefault(area, runs)
    if before.runs != runs.runs:
        rows.broken[area] = "its rows have different masks of it"


def _runs(area: str, code: object) -> Runs:
    size = code.get("size") if isinstance(code, Mapping) else None
    counts = code.get("counts") if isinstance(code, Mapping) else None
    if isinstance(counts, bytes):
        counts = counts.decode("ascii", errors="replace")
    runs = rle.decode_runs(counts) if isinstance(counts, str) else counts
    shape, numbers = _whole(size), _whole(runs)
    if len(shape) != 2 or min(shape) < 1 or not numbers:
        raise UnreadableInputError(
            "A location is not a mask with size and counts.", _HOW
        )
    found = Runs(area, SizePx(*shape), numbers)
    # Whether the runs fill the image does not depend on their order.
    _ = mask_of(found, Order.COLUMNS)
    return found


def _whole(numbers: object) -> tuple[int, ...]:
    """Return a list of integers, empty if it is not one."""
    if not isinstance(numbers, list | tuple):
        return ()
    return tuple(numbers) if all(type(n) is int for n in numbers) else ()


def _decided(read: _Read, table: Path) -> Order:
    """Return the order that the masks show, and add a notice of it."""
    codes = [code for rows in read.images.values() for code in rows.codes.values()]
    if not codes:
        return Order.COLUMNS
    found = votes(codes)
    if found.order is None:
        raise UnreadableInputError(
            f"'{table.name}' does not show whether the runs of its masks go down the "
            f"columns or along the rows: {_counted(found)}.",
            "Import it as heal-columns (COCO's own order) or heal-rows.",
        )
    text = f"The runs of its masks go along the {found.order}: {_counted(found)}."
    read.notices.append(Notice(f"runs_along_{found.order}", table.name, text))
    return found.order


def _counted(found: Votes) -> str:
    return (
        f"of {found.masks} masks {found.columns} are whole and on their side only down "
        f"the columns, {found.rows} only along the rows"
    )


def _entry(key: str, read: _Read, order: Order) -> Annotated:
    rows = read.images[key]
    masks = {
        area or _UNNAMED: partial(_mask, code, order)
        for area, code in rows.codes.items()
        if area not in rows.broken
    }
    broken = {area or _UNNAMED: why for area, why in rows.broken.items()}
    return Annotated(key=key, file=read.files[key], masks=masks, broken=broken)


_UNNAMED: Final = "Location"
"""What an area is called that no row names."""


def _mask(code: Runs, order: Order, size: SizePx) -> Mask:
    del size  # assembled() compares the mask's own with the image's
    return mask_of(code, order)


def _with_items(dataset: Dataset, read: _Read) -> Dataset:
    """Return a data set with its questions, and its masks as those of anatomies."""
    images = tuple(_as_anatomy(image) for image in dataset.images)
    patients = {image.key: image.patient for image in images}
    anatomy = {image.key: image.anatomy for image in images}
    items = tuple(
        replace(
            i,
            patient=patients[i.images[0]],
            reference={**i.reference, **_area(i, anatomy[i.images[0]])},
        )
        for i in read.items
    )
    empty = [
        Notice("empty_anatomy_mask", image.key, f"Its mask of {area} is empty.")
        for image in dataset.images
        for area in sorted(image.zero_masks)
    ]
    return replace(
        dataset,
        images=images,
        items=items,
        notices=(*dataset.notices, *empty),
        root_sha256=content_sha256(images, items),
    )


def _area(item: Item, anatomy: Mapping[str, Mask]) -> dict[str, object]:
    """Return the mask of the single anatomy that a row names."""
    areas = item.reference["areas"]
    mask = (
        anatomy.get(areas[0]) if isinstance(areas, list) and len(areas) == 1 else None
    )
    return {} if mask is None else {"area": plain(mask)}


def _as_anatomy(image: DatasetImage) -> DatasetImage:
    return replace(image, anatomy=image.masks, masks={}, zero_masks=frozenset())
