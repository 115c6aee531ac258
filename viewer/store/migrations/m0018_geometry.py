"""The geometry of a data set's images: pixel spacing and aspect, place in the patient.

JSON of what is known beside rows and columns; ``{}`` for square pixels of no known
size, which is what was taken for granted of every image before.
"""

from typing import Final

VERSION: Final = 18


def statements() -> str:
    """Return the SQL that takes version 17 to this version."""
    return "ALTER TABLE image ADD COLUMN geometry TEXT NOT NULL DEFAULT '{}';"
