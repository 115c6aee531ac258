"""What a person measured or drew on images."""

from typing import Final

VERSION: Final = 16


def statements() -> str:
    """Return the SQL that takes version 15 to this version.

    ``points`` is JSON, a list of [x, y] in native pixels; images are known by file and
    frame, because a person measures on files of no data set too.
    """
    return """
CREATE TABLE image_mark (
    path TEXT NOT NULL,
    frame INTEGER NOT NULL,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    points TEXT NOT NULL,
    PRIMARY KEY (path, frame, position)
) STRICT, WITHOUT ROWID;
"""
