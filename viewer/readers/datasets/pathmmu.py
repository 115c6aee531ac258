"""PathMMU as its authors publish it (Sun et al. 2024; E003-01).

``data.json`` is ``{subset: {split: [{"No", "img", "question", "options": ["A) ...",
...], "answer": "B) ...", "explanation"?, "explanations"?}]}}`` beside a folder
``images``; the last has one per option. ``test`` does not include ``test_tiny``.
``img`` may be a list, for questions on several images. Experts' choices and reviews of
questions may lie beside it (``expert_choices``, ``item_reviews``).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from viewer.domain.case import Dataset, Notice, View
from viewer.domain.documents import read_json
from viewer.domain.errors import UnreadableInputError
from viewer.domain.item import Item
from viewer.readers.datasets.annotated import Collection
from viewer.readers.datasets.beside import Row, about_others, rows_beside, unrelated
from viewer.readers.datasets.choice_rows import (
    ChoiceRow,
    RejectedRowError,
    items_of,
    option_named,
)
from viewer.readers.datasets.files import Progress
from viewer.readers.datasets.image_files import root_of
from viewer.readers.datasets.item_reviews import with_reviews
from viewer.readers.datasets.tiles import of_tiles
from viewer.readers.files.text_files import bounded_text

TABLE: Final = "data.json"
_START: Final = 65_536


def looks(path: Path) -> bool:
    """Tell whether a folder or file is such a table, by name and first bytes."""
    table = path / TABLE if path.is_dir() else path
    if table.name != TABLE or not table.is_file():
        return False
    with table.open("rb") as stream:
        start = stream.read(_START)
    return b'"options"' in start and b'"question"' in start


def read(
    root: Path, name: str, view: View | None = None, progress: Progress | None = None
) -> Dataset:
    """Read the questions of a folder with the images they name.

    Parameters
    ----------
    root : Path
        The folder, or the table itself.
    name : str
        The name the data set is registered under.
    view : View, optional
        The view of its images; they are not radiographs.
    progress : callable, optional
        Called with the number of files read so far.

    Raises
    ------
    UnreadableInputError
        The table is missing or has another form, or no question can be asked.
    """
    table = root / TABLE if root.is_dir() else root
    rows = tuple(_rows(_loaded(table), table.name))
    items, notices = items_of(rows)
    if not items:
        raise UnreadableInputError(
            f"{table.name} contains no usable question.",
            "Each needs a question, 2 to 26 options and an answer among them.",
        )
    folder = root_of(root)
    items, about_experts = with_experts(table.parent, items)
    items, about_reviews = with_reviews(table.parent, items)
    notices += [*about_experts, *about_reviews]
    keys = dict.fromkeys(image for item in items for image in item.images)
    collection = Collection(name, "pathmmu", folder, view or View.OTHER)
    return of_tiles(collection, keys, items, notices, progress)


def _loaded(table: Path) -> object:
    try:
        return read_json(bounded_text(table, "utf-8"))
    except OSError as error:
        raise UnreadableInputError(
            f"{table.name} cannot be read: {error.strerror}.",
            f"Name the folder that holds {TABLE}.",
        ) from error
    except ValueError as error:
        raise UnreadableInputError(
            f"{table.name} is not JSON.", "Copy or download it again."
        ) from error


def _rows(document: object, name: str) -> Iterator[ChoiceRow]:
    for subset, splits in _members(document, name):
        # A question in both parts of the test counts with the smaller one.
        for split, listed in sorted(_members(splits, name), key=_test_last):
            if not isinstance(listed, list):
                raise _odd(name)
            for place, entry in enumerate(listed, start=1):
                if not isinstance(entry, dict):
                    raise _odd(name)
                yield _row(subset, split, place, entry)


def _row(subset: str, split: str, place: int, entry: dict[str, object]) -> ChoiceRow:
    options, reasons = entry.get("options"), entry.get("explanations")
    return ChoiceRow(
        subset=subset,
        split=split,
        number=_text(entry.get("No")),
        place=place,
        images=_images(entry.get("img")),
        question=_text(entry.get("question")),
        options=tuple(_text(one) for one in options)
        if isinstance(options, list)
        else (),
        answer=_text(entry.get("answer")),
        explanation=_text(entry.get("explanation")),
        explanations=tuple(map(_text, reasons)) if isinstance(reasons, list) else (),
    )


def _images(written: object) -> tuple[str, ...]:
    names = written if isinstance(written, list) else [written]
    return tuple(text for name in names if (text := _text(name)))


def _members(document: object, name: str) -> Iterator[tuple[str, object]]:
    if not isinstance(document, dict):
        raise _odd(name)
    return iter(document.items())


def _test_last(member: tuple[str, object]) -> bool:
    return member[0] == "test"


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _odd(name: str) -> UnreadableInputError:
    return UnreadableInputError(
        f"{name} is not laid out as PathMMU's table.",
        "It must be {subset: {split: [question, ...]}} in JSON.",
    )


FILES: Final = ("experts.csv", "experts.json")
COLUMNS: Final = ("group", "reader", "item", "answer")


def with_experts(
    folder: Path, items: Sequence[Item]
) -> tuple[tuple[Item, ...], list[Notice]]:
    """Return items with experts' choices in their references, ``experts``.

    Each is ``[group, reader, option]``. A row about an unknown item, an answer outside
    its options, and a second answer by a reader are left out, each with a notice.

    Raises
    ------
    UnreadableInputError
        A file exists but has another form.
    """
    by_key = {item.key: item for item in items}
    chosen: dict[str, dict[tuple[str, str], int]] = {}
    notices: list[Notice] = []
    rows = tuple(rows_beside(folder, FILES, COLUMNS))
    if unrelated([row["item"] for _, _, row in rows], by_key):
        text = about_others(len(rows))
        return tuple(items), [Notice("expert_answer", rows[0][0], text)]
    for name, place, row in rows:
        try:
            item = by_key.get(row["item"])
            _take(row, item, chosen.setdefault(row["item"], {}))
        except RejectedRowError as why:
            text = f"Row {place} of {name} is not used: {why}"
            notices.append(Notice("expert_answer", row["item"] or name, text))
    return tuple(_joined(item, chosen.get(item.key, {})) for item in items), notices


def _take(row: Row, item: Item | None, chosen: dict[tuple[str, str], int]) -> None:
    who = row["group"], row["reader"]
    if item is None:
        raise RejectedRowError("there is no such item.")
    if not all(who):
        raise RejectedRowError("it lacks a group or a reader.")
    if who in chosen:
        raise RejectedRowError("this reader has already answered the item.")
    options = item.facts["options"]
    chosen[who] = option_named(
        row["answer"], [str(o) for o in options] if isinstance(options, list) else []
    )


def _joined(item: Item, chosen: Mapping[tuple[str, str], int]) -> Item:
    if not chosen:
        return item
    experts = [[group, reader, option] for (group, reader), option in chosen.items()]
    return replace(item, reference={**item.reference, "experts": experts})
