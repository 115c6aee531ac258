"""Reviewers' judgements of questions' validity, in a table beside them (E003-12).

``reviews.csv`` has the columns ``reader``, ``item``, ``answerable_without_image``,
``inferable``, ``wrong_answer`` and ``atypical``, the last four with ``yes`` or ``no``
(Sun 2024, 3.2, criteria 1 to 4); ``reviews.json`` is a list of objects with these keys.
Readers answer a question before they judge it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from viewer.domain.case import Notice
from viewer.domain.item import Item
from viewer.readers.datasets.beside import Row, about_others, rows_beside, unrelated
from viewer.readers.datasets.choice_rows import RejectedRowError

FILES: Final = ("reviews.csv", "reviews.json")
WRONG_IF: Final = {
    "answerable_without_image": "yes",
    "inferable": "no",
    "wrong_answer": "yes",
    "atypical": "yes",
}
"""By criterion, what makes a question invalid."""
COLUMNS: Final = ("reader", "item", *WRONG_IF)


def with_reviews(
    folder: Path, items: Sequence[Item]
) -> tuple[tuple[Item, ...], list[Notice]]:
    """Return items with their reviews in their references, ``reviews``.

    Each is ``[reader, [criteria failed]]``. A row about an unknown item, one with
    neither yes nor no, and a second review by a reader are left out, each with a
    notice.

    Raises
    ------
    UnreadableInputError
        A file exists but has another form.
    """
    known = {item.key for item in items}
    reviews: dict[str, dict[str, list[str]]] = {key: {} for key in known}
    notices: list[Notice] = []
    rows = tuple(rows_beside(folder, FILES, COLUMNS))
    if unrelated([row["item"] for _, _, row in rows], known):
        text = about_others(len(rows))
        return tuple(items), [Notice("item_review", rows[0][0], text)]
    for name, place, row in rows:
        try:
            _take(row, reviews.get(row["item"]))
        except RejectedRowError as why:
            text = f"Row {place} of {name} is not used: {why}"
            notices.append(Notice("item_review", row["item"] or name, text))
    return tuple(_joined(item, reviews[item.key]) for item in items), notices


def _take(row: Row, reviews: dict[str, list[str]] | None) -> None:
    if reviews is None:
        raise RejectedRowError("there is no such item.")
    if not row["reader"]:
        raise RejectedRowError("it names no reader.")
    if row["reader"] in reviews:
        raise RejectedRowError("this reader has already reviewed the item.")
    by_criterion = {criterion: row[criterion].lower() for criterion in WRONG_IF}
    if not set(by_criterion.values()) <= {"yes", "no"}:
        raise RejectedRowError("every criterion must be yes or no.")
    failed = [name for name, wrong in WRONG_IF.items() if by_criterion[name] == wrong]
    reviews[row["reader"]] = failed


def _joined(item: Item, reviews: Mapping[str, list[str]]) -> Item:
    if not reviews:
        return item
    listed = [[reader, failed] for reader, failed in reviews.items()]
    return replace(item, reference={**item.reference, "reviews": listed})
