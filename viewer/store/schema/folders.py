"""The tables of opened folders, and of files that deletions have still to remove."""

from typing import Final

# ``listing`` is a SHA-256 of the names, sizes and times of a folder's files when its
# data set was read; without a row the data set was imported, and is left as it is.
TABLES: Final = """
CREATE TABLE opened_folder (
    dataset_id INTEGER PRIMARY KEY REFERENCES dataset (id),
    listing TEXT NOT NULL
) STRICT;
CREATE TABLE corrected_view (
    path TEXT NOT NULL,
    frame INTEGER NOT NULL,
    view TEXT NOT NULL,
    PRIMARY KEY (path, frame)
) STRICT;
"""

# ``place`` is the key of a row of the case list, as in mark_edit; one without a row
# here has not been opened.
READING_STATES: Final = """
CREATE TABLE reading_state (
    place TEXT PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('open', 'done'))
) STRICT, WITHOUT ROWID;
"""

# Files of the program's own that go with deleted rows; "" is the store's own file,
# whose free pages may still hold what was deleted.
LEFTOVERS: Final = """
CREATE TABLE leftover (
    path TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
"""
