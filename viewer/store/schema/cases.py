"""The tables of data sets: images, labels, references and items."""

from typing import Final

# A data set that is not ``complete`` is still being imported. ``geometry`` is JSON of
# what is known beside rows and columns: spacing, aspect, place in the patient; "{}" for
# square pixels of unknown size.
TABLES: Final = """
CREATE TABLE dataset (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    format TEXT NOT NULL,
    root TEXT NOT NULL,
    root_sha256 TEXT NOT NULL,
    adhoc INTEGER NOT NULL CHECK (adhoc IN (0, 1)),
    imported_at TEXT NOT NULL,
    restricted INTEGER NOT NULL DEFAULT 0 CHECK (restricted IN (0, 1)),
    split TEXT NOT NULL DEFAULT '',
    complete INTEGER NOT NULL DEFAULT 1 CHECK (complete IN (0, 1))
) STRICT;
CREATE TABLE image (
    id INTEGER PRIMARY KEY,
    dataset_id INTEGER NOT NULL REFERENCES dataset (id),
    position INTEGER NOT NULL,
    key TEXT NOT NULL,
    patient TEXT NOT NULL,
    study TEXT NOT NULL,
    view TEXT NOT NULL,
    path TEXT NOT NULL,
    frame INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    columns INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    geometry TEXT NOT NULL DEFAULT '{}',
    UNIQUE (dataset_id, key)
) STRICT;
CREATE INDEX image_by_path ON image (path, frame);
CREATE TABLE label (
    image_id INTEGER NOT NULL REFERENCES image (id),
    finding TEXT NOT NULL,
    positive INTEGER NOT NULL CHECK (positive IN (0, 1)),
    PRIMARY KEY (image_id, finding)
) STRICT, WITHOUT ROWID;
CREATE TABLE mask (
    image_id INTEGER NOT NULL REFERENCES image (id),
    kind TEXT NOT NULL CHECK (kind IN ('finding', 'zero', 'anatomy')),
    name TEXT NOT NULL,
    rows INTEGER NOT NULL,
    columns INTEGER NOT NULL,
    counts TEXT NOT NULL,
    PRIMARY KEY (image_id, kind, name)
) STRICT;
CREATE TABLE defect (
    image_id INTEGER NOT NULL REFERENCES image (id),
    finding TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (image_id, finding)
) STRICT, WITHOUT ROWID;
CREATE TABLE notice (
    id INTEGER PRIMARY KEY,
    dataset_id INTEGER NOT NULL REFERENCES dataset (id),
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX notice_of_dataset ON notice (dataset_id);
CREATE TABLE reference_box (
    image_id INTEGER NOT NULL REFERENCES image (id),
    position INTEGER NOT NULL,
    finding TEXT NOT NULL,
    reader TEXT NOT NULL,
    x0 REAL NOT NULL,
    y0 REAL NOT NULL,
    x1 REAL NOT NULL,
    y1 REAL NOT NULL,
    PRIMARY KEY (image_id, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE image_reader (
    image_id INTEGER NOT NULL REFERENCES image (id),
    position INTEGER NOT NULL,
    reader TEXT NOT NULL,
    PRIMARY KEY (image_id, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    dataset_id INTEGER NOT NULL REFERENCES dataset (id),
    position INTEGER NOT NULL,
    key TEXT NOT NULL,
    patient TEXT NOT NULL,
    kind TEXT NOT NULL,
    images TEXT NOT NULL,
    facts TEXT NOT NULL,
    reference TEXT NOT NULL,
    UNIQUE (dataset_id, key)
) STRICT;
"""
