"""Runs that ask again what has a reply: the last reply that was there before them.

NULL for a run that takes any reply to the very same question.
"""

from typing import Final

VERSION: Final = 19


def statements() -> str:
    """Return the SQL that takes version 18 to this version."""
    return "ALTER TABLE run ADD COLUMN replies_after INTEGER;"
