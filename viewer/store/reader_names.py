"""Readers are told apart by their names, which two persons never share."""

import re
import unicodedata
from collections.abc import Collection
from itertools import count

from viewer.domain.reading import KnownReader, NameTakenError, SessionId
from viewer.store.database import Row, Store


def earlier_sessions(
    store: Store, name: str, *, returning: bool
) -> tuple[SessionId, ...]:
    """Return the sessions of a reader; raise NameTakenError if it may be another's."""
    people = namesakes(store, name)
    known = {one.name: one.sessions for one in people}
    if returning and name in known:
        return known[name]
    if folded(name) in map(folded, known):
        raise NameTakenError(people, free_name(people[0].name, known))
    return ()


def namesakes(store: Store, name: str) -> tuple[KnownReader, ...]:
    """Return the readers of a name, who may have numbers, the one named first.

    Case and width of letters make no other name. Who withdrew has none any more, and
    readers of sessions that another store sealed are known there.
    """
    rows = store.rows(
        "SELECT s.id, s.reader, s.opened_at FROM reading_session s"
        " LEFT JOIN reading_withdrawal w ON w.session_id = s.id"
        " WHERE w.session_id IS NULL AND json_extract(s.spec, '$.seal') IS NULL"
        " ORDER BY s.id"
    )
    found: dict[str, list[Row]] = {}
    for row in rows:
        if folded(_bare(row["reader"])) == folded(_bare(name)):
            found.setdefault(row["reader"], []).append(row)
    people = [
        KnownReader(reader, tuple(SessionId(one["id"]) for one in of), of[-1][2])
        for reader, of in found.items()
    ]
    return tuple(sorted(people, key=lambda one: folded(one.name) != folded(name)))


def free_name(name: str, known: Collection[str]) -> str:
    """Return a name with the first number, from 2, that nobody has."""
    taken = {folded(one) for one in known}
    names = (f"{_bare(name)} ({number})" for number in count(2))
    return next(one for one in names if folded(one) not in taken)


def _bare(name: str) -> str:
    """Return a name without the number that tells it from another's."""
    return re.sub(r" \(\d+\)$", "", name)


def folded(name: str) -> str:
    """Return what two spellings of one name have in common."""
    return unicodedata.normalize("NFKC", name).casefold()
