"""The readers whom the files of a data set name, told apart from those of sessions.

A name in a file and in a session here is that of one reader only if somebody said so
when the session was opened.
"""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from viewer.domain.case import Dataset
from viewer.domain.errors import UnreadableInputError
from viewer.domain.item import Item
from viewer.domain.reading import KnownReader, NameTakenError
from viewer.domain.report_study import is_study
from viewer.store import reading_audit, readings
from viewer.store.database import Store
from viewer.store.reader_names import folded, free_name, namesakes
from viewer.store.readings import RETURNING

_READER_AT: Final[Mapping[str, int | str]] = {
    "experts": 1,
    "physicians": 0,
    "reviews": 0,
    "validations": "reader",
}
"""Lists of an item's truth whose entries name a reader, and where."""


def readers_in_files(dataset: Dataset) -> frozenset[str]:
    """Return the readers whom the files of a data set name.

    ``dataset`` is as it was imported, without what was locked here.
    """
    named = {name for item in dataset.items for name in _named_in(item)}
    if any(is_study(item) for item in dataset.items):
        from viewer.readers.grades import grades_below  # with tables, for reports alone

        with contextlib.suppress(UnreadableInputError):  # the report says so
            named.update(grades_below(dataset.root).readers)
    return frozenset(named)


def _named_in(item: Item) -> Iterator[str]:
    for name, place in _READER_AT.items():
        listed: Any = item.reference.get(name)
        yield from (one[place] for one in listed or ())


def is_filed(store: Store, dataset: Dataset, name: str, *, returning: bool) -> bool:
    """Tell whether it is the reader of this name in a file of a data set.

    Raises
    ------
    NameTakenError
        If a file has this name, and the reader is not said to be ``returning``.
    """
    filed = readers_in_files(dataset)
    if returning and name in filed:
        return True
    if alike := [one for one in sorted(filed) if folded(one) == folded(name)]:
        people = [KnownReader(one, dataset=dataset.name) for one in alike]
        here = (one.name for one in namesakes(store, name))
        raise NameTakenError(people, free_name(name, {*filed, *here}))
    return False


def names_in_results(store: Store, dataset: Dataset) -> Mapping[str, str]:
    """Return what the readers of sessions are called beside those of files.

    Only those whose name a file has too, and who are not said to be the same, get
    another one.
    """
    filed = readers_in_files(dataset)
    if not filed:
        return {}
    rows = readings.task_sessions(store, dataset.name, dataset.root_sha256)
    here = dict.fromkeys(row.reader for row in rows)
    same = {
        row.reader
        for row in rows
        for event in reading_audit.events_of(store, row.id, RETURNING)
        if event.get("filed")
    }
    spelled = {folded(one) for one in filed}
    return {
        reader: free_name(reader, {*filed, *here})
        for reader in here
        if folded(reader) in spelled and reader not in same
    }
