"""Pathology images with the captions they were published with (E003-15).

A table with the columns ``image`` and ``caption``, and optionally ``subset`` and
``split``, anywhere in a folder. A model makes multiple-choice questions from them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from viewer.domain.case import Dataset, Notice, View
from viewer.domain.errors import UnreadableInputError
from viewer.domain.item import Item
from viewer.readers.datasets.annotated import Collection
from viewer.readers.datasets.csv_tables import (
    CsvRow,
    required_tables,
    rows_of,
    tables_below,
)
from viewer.readers.datasets.files import Progress
from viewer.readers.datasets.image_files import root_of
from viewer.readers.datasets.tiles import of_tiles

COLUMNS: Final = ("image", "caption")
SUBSET, SPLIT = "Captioned", "test"
"""Of rows that name none."""


def looks(path: Path) -> bool:
    """Tell whether a folder or file has such a table."""
    return bool(tables_below(path, COLUMNS))


def read(
    root: Path, name: str, view: View | None = None, progress: Progress | None = None
) -> Dataset:
    """Read every captioned image of the tables of a folder.

    Parameters
    ----------
    root : Path
        The folder, or one table.
    name : str
        The name the data set is registered under.
    view : View, optional
        The view of its images; they are not radiographs.
    progress : callable, optional
        Called with the number of files read so far.

    Raises
    ------
    UnreadableInputError
        There is no such table, or none of its rows has an image and a caption.
    """
    notices: list[Notice] = []
    items = _items(required_tables(root, COLUMNS), notices)
    if not items:
        raise UnreadableInputError(
            f"No table in '{root.name}' has images with captions.",
            "Each row needs both.",
        )
    collection = Collection(name, "captioned-tiles", root_of(root), view or View.OTHER)
    images = [item.key for item in items]
    return of_tiles(collection, images, items, notices, progress)


def _items(tables: Sequence[Path], notices: list[Notice]) -> tuple[Item, ...]:
    items: dict[str, Item] = {}
    for table in tables:
        for row in rows_of(table):
            image = row.cells.get("image", "")
            if problem := _problem(row, image in items):
                subject = image or table.name
                text = f"Line {row.line} of {table.name} is not used: {problem}"
                notices.append(Notice("rejected_item", subject, text))
            else:
                items[image] = _item(row, image)
    return tuple(items.values())


def _problem(row: CsvRow, again: bool) -> str:
    facts = (
        ("it names no image.", not row.cells.get("image")),
        ("it has no caption.", not row.cells.get("caption")),
        ("it has more cells than there are columns.", row.overlong),
        ("its image already has a caption.", again),
    )
    return next((text for text, holds in facts if holds), "")


def _item(row: CsvRow, image: str) -> Item:
    subset = row.cells.get("subset") or SUBSET
    split = row.cells.get("split") or SPLIT
    return Item(
        key=image,
        patient=image,
        kind=subset,
        images=(image,),
        facts={"caption": row.cells["caption"], "subset": subset, "split": split},
    )
