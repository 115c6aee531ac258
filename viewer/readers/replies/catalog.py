"""Detection of the kind of reply file, by its name and first line."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from viewer.domain.documents import read_json
from viewer.domain.errors import UnreadableInputError
from viewer.readers.replies import inspect_log, lmms_samples
from viewer.readers.replies.found import FoundReplies, Row, replies_of_rows
from viewer.readers.replies.rows import csv_rows, json_line_rows


def read_replies(
    files: Sequence[Path], columns: Mapping[str, str] | None = None
) -> FoundReplies:
    """Return the replies of several files together, in their order.

    ``columns`` is the meaning of a table's columns or a line's members, one of
    ``viewer.domain.written_reply.FIELDS`` each.

    Raises
    ------
    UnreadableInputError
        If a file cannot be read, or is of no known kind.
    WrongUseError
        If a table has no column for the item or for the reply.
    """
    found = [_read(file, columns or {}) for file in files]
    return FoundReplies(
        tuple(reply for one in found for reply in one.replies),
        tuple(problem for one in found for problem in one.problems),
    )


def _read(file: Path, columns: Mapping[str, str]) -> FoundReplies:
    suffix = file.suffix.lower()
    if suffix == ".csv":
        return replies_of_rows(file, csv_rows(file), columns)
    if suffix == ".jsonl":
        rows = json_line_rows(file)
        if rows and lmms_samples.is_sample(rows[0].values):
            return lmms_samples.replies_of(file, rows)
        return replies_of_rows(file, rows, columns)
    if suffix == ".eval":
        return inspect_log.replies_of(file, inspect_log.samples_of_zip(file))
    if suffix == ".json":
        return inspect_log.replies_of(file, _samples(file))
    raise _unknown(file)


def _samples(file: Path) -> list[Row]:
    try:
        log = read_json(file.read_bytes())
    except (OSError, ValueError) as error:
        raise UnreadableInputError(
            f"'{file.name}' cannot be read as JSON.", "Choose a complete file."
        ) from error
    samples = log.get("samples") if isinstance(log, dict) else None
    if not isinstance(samples, list) or "eval" not in log:
        raise _unknown(file)
    return inspect_log.rows_of_log(log)


def _unknown(file: Path) -> UnreadableInputError:
    return UnreadableInputError(
        f"'{file.name}' is not a file of replies.",
        "Choose a CSV table or JSON lines with item and reply, a log of inspect_ai "
        "(.eval or .json), or samples of lmms-eval (*_samples_*.jsonl).",
    )
