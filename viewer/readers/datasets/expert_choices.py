"""What readers of a group chose, in a table beside the questions (E003-11).

``experts.csv`` has the columns ``group``, ``reader``, ``item`` and ``answer``;
``experts.json`` is a list of objects with these keys. ``item`` is an item's key such as
``PubMed-test_tiny-7``, ``answer`` an option's letter, its words, or both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from viewer.domain.case import Notice
from viewer.domain.item import Item
from viewer.readers.datasets.beside import Row, about_others, rows_beside, unrelated
from viewer.readers.datasets.choice_rows import RejectedRowError, option_named

FILES: Final = ("experts.csv", "experts.json")
COLUMNS: Final = ("group", "reader", "item", "answer")


def with_experts(
    folder: Path, items: Sequence[Item]
) -> tuple[tuple[Item, ...], list[Notice]]:
    """Return items with what experts chose in their references, ``experts``.

    Each is ``[group, reader, option]``. A row about an item that is not there, an
    answer outside its options, and a second answer of one reader are left out, each
    with a notice.

    Raises
    ------
    UnreadableInputError
        A file is there and not of this shape.
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
        raise RejectedRowError("it names no group or no reader.")
    if who in chosen:
        raise RejectedRowError("this reader has answered the item before.")
    options = item.facts["options"]
    chosen[who] = option_named(
        row["answer"], [str(o) for o in options] if isinstance(options, list) else []
    )


def _joined(item: Item, chosen: Mapping[tuple[str, str], int]) -> Item:
    if not chosen:
        return item
    experts = [[group, reader, option] for (group, reader), option in chosen.items()]
    return replace(item, reference={**item.reference, "experts": experts})
