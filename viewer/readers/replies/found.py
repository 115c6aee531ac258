"""Conversion of rows to replies, and problems with invalid rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.domain.written_reply import FIELDS, WrittenReply, reply_of_row
from viewer.readers.replies.rows import Row

__all__ = ["FoundReplies", "Row", "made_replies", "replies_of_rows"]


@dataclass(frozen=True)
class FoundReplies:
    """The replies of a file; ``problems`` are sentences on invalid lines."""

    replies: tuple[WrittenReply, ...]
    problems: tuple[str, ...] = ()


def replies_of_rows(
    file: Path, rows: Sequence[Row], columns: Mapping[str, str]
) -> FoundReplies:
    """Return the replies of a table or of JSON lines.

    A file without a row raises UnreadableInputError; one without items or replies, or
    with an unknown column or field in ``columns``, WrongUseError.
    """
    if not rows:
        raise UnreadableInputError(
            f"'{file.name}' has no rows.", "Name a file with a row for each reply."
        )
    there = list(dict.fromkeys(name for row in rows for name in row.values))
    named = {name.lower(): name for name in there if name.lower() in FIELDS}
    named |= _mapped(file, there, columns)
    for needed in ("item", "reply"):
        if needed not in named and not (needed == "reply" and "body" in named):
            raise WrongUseError(
                f"'{file.name}' has no column '{needed}'; its columns are "
                f"{', '.join(there)}.",
                f"Name it with --map COLUMN={needed}.",
            )
    renamed = (
        Row(row.place, {field: row.values.get(name) for field, name in named.items()})
        for row in rows
    )
    return made_replies(file, renamed)


def made_replies(file: Path, rows: Iterable[Row]) -> FoundReplies:
    """Return the replies of rows with the standard column names."""
    made = list(_made(file, rows))
    return FoundReplies(
        tuple(one for one in made if isinstance(one, WrittenReply)),
        tuple(one for one in made if isinstance(one, str)),
    )


def _made(file: Path, rows: Iterable[Row]) -> Iterator[WrittenReply | str]:
    for row in rows:
        try:
            reply = reply_of_row(row.values)
        except (ValueError, TypeError) as error:
            yield f"{row.place.capitalize()} of '{file.name}' is not used: {error}"
        else:
            yield reply


def _mapped(
    file: Path, there: Sequence[str], columns: Mapping[str, str]
) -> dict[str, str]:
    for column, field in columns.items():
        if field not in FIELDS:
            raise WrongUseError(
                f"No column can be mapped to '{field}'.",
                f"Choose one of {', '.join(FIELDS)}.",
            )
        if column not in there:
            raise WrongUseError(
                f"'{file.name}' has no column '{column}'.",
                f"Its columns are {', '.join(there)}.",
            )
    return {field: column for column, field in columns.items()}
