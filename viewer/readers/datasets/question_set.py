"""Your own benchmark: a table of questions with images, and a TOML file.

The table is CSV, JSON, JSON lines or Parquet, or the files of a Hugging Face data set
as they are on disk: Parquet with its images inside, or ``metadata.csv`` beside images.
``question_set.toml`` names its columns (`question_set_file`). Questions that cannot be
asked or judged are left out with a sentence; the rest is used.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Final

from viewer.domain.case import Dataset, DatasetImage, Notice, View
from viewer.domain.counting import counted
from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.domain.item import Item
from viewer.domain.plain import did_you_mean
from viewer.domain.question_kinds import PLACED, AnswerKind, Units
from viewer.readers.datasets.annotated import Annotated, Collection, assembled
from viewer.readers.datasets.choice_rows import (
    REJECTED,
    RejectedRowError,
    option_texts,
)
from viewer.readers.datasets.embedded_images import unpacked
from viewer.readers.datasets.files import Progress, content_sha256
from viewer.readers.datasets.image_files import stem_of
from viewer.readers.datasets.naming import patient_key
from viewer.readers.datasets.question_rows import Row, question_rows, question_tables
from viewer.readers.datasets.question_set_file import (
    NAME,
    Description,
    description_path,
    read_description,
)
from viewer.readers.datasets.question_set_gold import gold_of, listed

FORMAT: Final = "question-set"
NO_GROUP: Final = "question"
"""What an item falls into where the benchmark names no column to tabulate by."""
_SUFFIXES: Final = (".csv", ".json", ".jsonl", ".parquet")


def looks(path: Path) -> bool:
    """Tell whether a folder has such a TOML file, or a file is one."""
    return description_path(path) is not None


def read(
    root: Path, name: str, view: View | None = None, progress: Progress | None = None
) -> Dataset:
    """Read the questions that a TOML file describes.

    Parameters
    ----------
    root : Path
        The TOML file, or the folder with ``question_set.toml``.
    name : str
        The name the data set is registered under.
    view : View, optional
        The view of images that do not say it.
    progress : callable, optional
        Called with the number of files read so far.

    Raises
    ------
    UnreadableInputError
        There is no such file, it is not TOML, or none of its questions can be used.
    WrongUseError
        It names an unknown column, kind or placeholder.
    """
    path = description_path(root)
    if path is None:
        raise UnreadableInputError(
            f"There is no {NAME} in '{root.name}'.",
            "Write one that names the table's columns, or name the TOML file.",
        )
    found, rows = read_description(path), _Rows()
    for table in _tables(path, found):
        _read_table(table, path.parent, found, rows)
    items = rows.usable()
    items = _chosen(items, path, found, rows.notices)
    if not items:
        raise UnreadableInputError(
            f"No question of '{path.parent.name}' can be used.",
            _first(rows.notices) or "Its tables have no rows.",
        )
    shown = dict.fromkeys(key for item in items for key in item.images)
    entries = [Annotated(k, k, patient=rows.patients.get(k, "")) for k in shown]
    collection = Collection(name, FORMAT, path.parent, view or View.OTHER)
    dataset = assembled(collection, entries, rows.notices, progress)
    return _with_items(dataset, items)


@dataclass
class _Rows:
    """The state while reading; ``sent`` maps an image's name to its bytes' hash."""

    items: dict[str, Item] = field(default_factory=dict)
    patients: dict[str, str] = field(default_factory=dict)
    sent: dict[str, int] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)

    def reject(self, key: str, why: str) -> None:
        """Record why a question is left out."""
        self.notices.append(Notice(REJECTED, key, why))

    def usable(self) -> tuple[Item, ...]:
        """Return the distinct items with exactly one right answer each."""
        asked: dict[str, list[Item]] = {}
        for item in self.items.values():
            # In another group it is still the same question.
            facts = {**item.facts, "groups": ""}
            asked.setdefault(json.dumps([item.images, facts]), []).append(item)
        distinct = []
        for same in asked.values():
            first, *others = same
            if all(one.reference == first.reference for one in others):
                distinct.append(first)
                for one in others:
                    self.reject(one.key, f"It repeats {first.key}.")
                continue
            for one, other in zip(same, (*others, first), strict=True):
                self.reject(
                    one.key,
                    f"{other.key} asks the same but has another right answer; neither "
                    "is used.",
                )
        return tuple(distinct)


def _tables(path: Path, found: Description) -> Sequence[Path]:
    """Return the tables described; raises if there are none."""
    columns = (found.columns.question, found.columns.answer)
    pattern = found.data.table
    if not pattern:
        tables = [t for t in question_tables(path.parent, columns) if t != path]
        if tables:
            return tables
        raise UnreadableInputError(
            f"No table beside {path.name} has the columns {', '.join(columns)}.",
            "Name the table in [data], or correct the names in [columns].",
        )
    tables = [one for one in _matching(path.parent, pattern) if one.is_file()]
    if not tables:
        raise UnreadableInputError(
            f"{path.name} names the table '{pattern}', which is not in its folder.",
            "Correct data.table.",
        )
    for table in tables:
        if table.suffix.lower() not in _SUFFIXES:
            raise UnreadableInputError(
                f"'{table.name}' is not a table that can be read.",
                f"It must end in {', '.join(_SUFFIXES)}.",
            )
    return tables


def _matching(folder: Path, pattern: str) -> Sequence[Path]:
    """Return a pattern's files below a folder; raises for one that leads outside."""
    parts = PurePosixPath(pattern.replace("\\", "/"))
    if ".." in parts.parts or parts.is_absolute() or PureWindowsPath(pattern).drive:
        raise WrongUseError(
            f"The table '{pattern}' lies outside the folder of its TOML file.",
            "Move it there.",
        )
    return sorted(folder.glob(str(parts)))


def _read_table(table: Path, root: Path, found: Description, rows: _Rows) -> None:
    every = question_rows(table)
    listed_rows = every if isinstance(every, Sequence) else None
    names = dict.fromkeys(n for row in listed_rows or () for n in row)
    stem = table.relative_to(root).with_suffix("").as_posix()
    for number, row in enumerate(every, 1):
        if number == 1:
            _check_columns(table, names or dict.fromkeys(row), found)
        key = _written(row.get(found.columns.item)) or f"{stem}#{number}"
        if key in rows.items:
            rows.reject(key, "Another row has its name; the first one is used.")
            continue
        try:
            rows.items[key] = _item(key, row, table, root, found, rows)
        except RejectedRowError as why:
            rows.reject(key, str(why))


def _check_columns(table: Path, known: Iterable[str], found: Description) -> None:
    there, of = tuple(known), found.columns
    named = (of.question, of.answer, of.item, of.patient, of.kind)
    for column in (*named, *of.images, *of.choices, *found.report.groups):
        if column and column not in there:
            raise WrongUseError(
                f"'{table.name}' has no column '{column}'.",
                f"{did_you_mean(column, there)}It has {', '.join(there)}.",
            )


def _item(
    key: str, row: Row, table: Path, root: Path, found: Description, rows: _Rows
) -> Item:
    """Return the item of a row; raises if it cannot be asked or judged."""
    columns, kind = found.columns, _kind(row, found)
    question = _written(row.get(columns.question))
    if not question:
        raise RejectedRowError("It has no question.")
    options = _options(row, columns.choices) if kind is AnswerKind.CHOICE else ()
    gold = gold_of(kind, row.get(columns.answer), options, found.answer)
    images = tuple(_images(row, columns.images, table, root, rows))
    if kind in PLACED and not images:
        raise RejectedRowError("It asks for a place but names no image.")
    patient = _written(row.get(columns.patient))
    for image in images if patient else ():
        if rows.patients.setdefault(image, patient) != patient:
            text = "Its rows name different patients; the first one is used."
            rows.notices.append(Notice("patients_differ", image, text))
    if not images:
        text = "It has no image, so it can only be asked as text."
        rows.notices.append(Notice("no_image", key, text))
    # TOML's multi-line strings end with a line break if their quotes do.
    prompt = found.prompts.get(kind, "").removesuffix("\n")
    groups = {name: _written(row.get(name)) or "none" for name in found.report.groups}
    return Item(
        key=key,
        patient=patient_key(patient, key),
        kind=next(iter(groups.values()), NO_GROUP),
        images=images,
        facts={
            "question": question,
            "answer_kind": kind.value,
            "groups": json.dumps(groups, ensure_ascii=False),
            **({"options": list(options)} if options else {}),
            **({"grid": gold.pop("grid")} if "grid" in gold else {}),
            **({"prompt": prompt} if prompt else {}),
        },
        reference={**gold, **_measured(found)},
    )


def _measured(found: Description) -> dict[str, object]:
    return {} if found.measured is None else {"measured": list(found.measured)}


def _kind(row: Row, found: Description) -> AnswerKind:
    written = _written(row.get(found.columns.kind))
    try:
        return AnswerKind(written) if written else found.answer.kind
    except ValueError:
        raise RejectedRowError(
            f"Its answer is of the unknown kind '{written[:40]}'; the kinds are "
            f"{', '.join(AnswerKind)}."
        ) from None


def _options(row: Row, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the options' texts; columns after the last nonempty one are ignored."""
    if len(columns) == 1:
        cell = row.get(columns[0])
        members = list(cell.values()) if isinstance(cell, Mapping) else listed(cell)
        if len(members) == 1 and isinstance(members[0], str):
            members = members[0].split("|")
    else:
        members = [row.get(name) for name in columns]
    texts = [_written(one) for one in members]
    while texts and not texts[-1]:
        texts.pop()
    return option_texts(texts)


def _images(
    row: Row, columns: Sequence[str], table: Path, root: Path, rows: _Rows
) -> Iterator[str]:
    for column in columns:
        for cell in listed(row.get(column)):
            name = _image(cell, table, root, rows)
            if name:
                yield name


def _image(cell: Any, table: Path, root: Path, rows: _Rows) -> str:  # noqa: ANN401 - any cell of a table
    """Return an image's name; an image inside the row is unpacked."""
    if not isinstance(cell, Mapping):
        return _written(cell)
    data, path = cell.get("bytes"), str(cell.get("path") or "")
    if not isinstance(data, bytes) or not data:
        return path
    # The hash and not the bytes: images of a whole table would stay in memory.
    if rows.sent.setdefault(path, hash(data)) != hash(data):
        path = ""  # another image of the table has its name
    folder = table.relative_to(root).parent / f"{stem_of(table.stem)}_images"
    return (folder / unpacked(table, data, path)).as_posix()


def _written(cell: object) -> str:
    return "" if cell is None else str(cell).strip()


def _chosen(
    items: tuple[Item, ...], path: Path, found: Description, notices: list[Notice]
) -> tuple[Item, ...]:
    """Return the items listed in the table ``only``, all without such a table."""
    if not found.data.only:
        return items
    tables = [one for one in _matching(path.parent, found.data.only) if one.is_file()]
    column = found.columns.item or "item"
    names = dict.fromkeys(
        _written(row.get("item", row.get(column)))
        for table in tables
        for row in question_rows(table)
    )
    if not names:
        raise UnreadableInputError(
            f"'{found.data.only}' names no item.",
            "It must be a table beside the TOML file with a column item.",
        )
    known = {item.key for item in items}
    for name in names.keys() - known:
        text = f"{found.data.only} names it, but no question that can be used has it."
        notices.append(Notice("unknown_item", name, text))
    chosen = tuple(item for item in items if item.key in names)
    if len(chosen) < len(items):
        n = len(items) - len(chosen)
        text = f"It leaves out {counted(n, 'question')}."
        notices.append(Notice("left_out", found.data.only, text))
    return chosen


def _first(notices: Sequence[Notice]) -> str:
    return next((f"{one.subject}: {one.text}" for one in notices), "")


def _with_items(dataset: Dataset, items: Sequence[Item]) -> Dataset:
    """Return a data set with its questions, assigned to their images' patients."""
    images = {image.key: image for image in dataset.images}
    found, notices = list[Item](), list(dataset.notices)
    for item in items:
        first = images[item.images[0]] if item.images else None
        try:
            gold = _in_pixels(item.reference, first)
        except RejectedRowError as why:
            notices.append(Notice(REJECTED, item.key, str(why)))
            continue
        patient = first.patient if first else item.patient
        facts = {**item.facts, **_size(item, first)}
        found.append(replace(item, patient=patient, facts=facts, reference=gold))
    return replace(
        dataset,
        items=tuple(found),
        notices=tuple(notices),
        root_sha256=content_sha256(dataset.images, found),
    )


def _size(item: Item, image: DatasetImage | None) -> dict[str, object]:
    """Return rows and columns of the image in which a location is asked for."""
    if image is None or item.facts["answer_kind"] not in PLACED:
        return {}
    return {"size": [image.size.rows, image.size.columns]}


def _in_pixels(
    gold: Mapping[str, Any], image: DatasetImage | None
) -> Mapping[str, object]:
    """Return a right answer with its locations in pixels of the image."""
    if "units" not in gold:
        return gold
    values = {name: value for name, value in gold.items() if name != "units"}
    if gold["units"] == Units.PIXELS or image is None:
        return values
    if not image.size.rows:
        raise RejectedRowError(
            "Its answer is a fraction of an image whose size is not known."
        )
    sides = (image.size.columns, image.size.rows) * 2

    def scaled(numbers: Sequence[float]) -> list[float]:
        return [n * side for n, side in zip(numbers, sides, strict=False)]

    if "boxes" in values:
        return {**values, "boxes": [scaled(box) for box in values["boxes"]]}
    place = "point" if "point" in values else "point_in"
    return {**values, place: scaled(values[place])}
