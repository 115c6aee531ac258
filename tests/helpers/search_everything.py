"""A search of all that the program keeps for what must not be there any more."""

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from viewer.settings import Settings


def everything_kept(settings: Settings) -> Iterator[tuple[Path, bytes]]:
    """Yield each file of the home folder and beside the store, with its bytes."""
    beside = settings.store.parent.glob(f"{settings.store.name}*")
    for path in sorted({*settings.home.rglob("*"), *beside}):
        if path.is_file():
            yield path, path.read_bytes()


def found(settings: Settings, needles: Iterable[bytes]) -> list[tuple[str, bytes]]:
    """Return each file that holds a needle, and the needle."""
    wanted = tuple(needles)
    return [
        (path.name, needle)
        for path, content in everything_kept(settings)
        for needle in wanted
        if needle in content
    ]


def sent_bytes(store: Path) -> list[bytes]:
    """Return 48 bytes from the middle of each image and document as it was sent."""
    with sqlite3.connect(store) as connection:
        rows = connection.execute(
            "SELECT bytes FROM blob UNION ALL SELECT document FROM request"
            " UNION ALL SELECT body FROM reply WHERE length(body) > 200"
        ).fetchall()
    connection.close()
    middles = (bytes(row[0]) for row in rows)
    return [one[len(one) // 2 - 24 :][:48] for one in middles]
