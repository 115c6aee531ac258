"""A page's tables in the terms of their study."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from viewer.domain.report import Section, Table
from viewer.domain.study_words import StudyWords, capital, spoken

_OF_COLUMN: Final[Mapping[str, str]] = {
    "condition": "condition",
    "control": "condition",
    "arm": "condition",
    "way": "condition",
    "finding": "finding",
    "view": "view",
    "kind": "view",
}
"""By a column's name in small letters: what its values are."""


def in_words(
    section: Section, words: StudyWords, models: Collection[str] = ()
) -> Section:
    """Return a section in display terms; unchanged for a study of locations.

    Files keep the names that programs read, and columns of ``models`` theirs.
    """
    if words.places:
        return section
    table = section.table
    kinds = [_OF_COLUMN.get(name.lower()) for name in table.header]

    def called(row: Sequence[object]) -> tuple[object, ...]:
        return tuple(
            words.called(kind, value) if kind and isinstance(value, str) else value
            for kind, value in zip(kinds, row, strict=True)
        )

    header = tuple(_head(name, models) for name in table.header)
    return replace(
        section,
        table=Table(table.name, header, tuple(map(called, table.rows))),
        published=tuple(
            replace(paper, rows=tuple(map(called, paper.rows)))
            for paper in section.published
        ),
    )


def _head(name: str, models: Collection[str]) -> str:
    """Return a column's head; a model's name, ``n`` and ``p`` stay as they are."""
    symbol = len(name.partition(" ")[0]) == 1
    if symbol or any(name == m or name.startswith(f"{m} (") for m in models):
        return name
    return capital(spoken(name))
