"""The tables of a page in the words of the study that they are of."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from viewer.domain.report import Section, Table
from viewer.domain.study_words import StudyWords, capital, spoken

_OF_COLUMN: Final[Mapping[str, str]] = {
    "condition": "condition",
    "arm": "condition",
    "way": "condition",
    "finding": "finding",
    "view": "view",
    "kind": "view",
}
"""By a column's name in small letters: what its values are."""


def in_words(section: Section, words: StudyWords) -> Section:
    """Return a section as people read it; one of a study that places stays as it is.

    Files keep the names that programs read.
    """
    if words.places:
        return section
    table = section.table
    kinds = [_OF_COLUMN.get(name.lower()) for name in table.header]
    rows = tuple(
        tuple(
            words.called(kind, value) if kind and isinstance(value, str) else value
            for kind, value in zip(kinds, row, strict=True)
        )
        for row in table.rows
    )
    header = tuple(capital(spoken(name)) for name in table.header)
    return replace(section, table=Table(table.name, header, rows))
