"""Rows of question tables in Parquet, JSON, JSON lines or CSV."""

from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from json import JSONDecodeError
from pathlib import Path
from typing import Any, Final, TypeVar

from viewer.domain.documents import read_json
from viewer.domain.errors import (
    MissingDependencyError,
    UnreadableInputError,
    where_to_get,
)
from viewer.readers.datasets.csv_tables import header_of, rows_of
from viewer.readers.datasets.files import files_below
from viewer.readers.files.isolation import isolated
from viewer.readers.files.regular import regular_file
from viewer.readers.files.text_files import bounded_text

Row = Mapping[str, object]
"""A row's cells by column; a cell is a plain value, a list or a mapping."""
_T = TypeVar("_T")
_BLANK: Final = object()
_AT_A_TIME: Final = 64
"""Rows of Parquet in memory."""
_begun: Final[dict[tuple[Path, int], Iterator[Any]]] = {}
"""Batches of a Parquet file by the position at which they continue."""
_CUT_SHORT: Final = "It may be cut short; copy or download it again."


def question_tables(path: Path, fields: Collection[str]) -> tuple[Path, ...]:
    """Return the tables below a folder, or the named one, that have all fields."""
    files = (path,) if path.is_file() else files_below(path)
    return tuple(p for p in files if _has(p, fields))


def question_rows(path: Path) -> Iterable[Row]:
    """Return a table's rows in order; a broken file raises.

    An entry that is not a row has no cells, so that the caller can report it. Parquet
    rows are read in batches, as they may contain images.
    """
    return _READERS[path.suffix.lower()](path)


def _has(path: Path, fields: Collection[str]) -> bool:
    suffix = path.suffix.lower()
    if suffix == ".csv":
        return set(fields) <= set(header_of(path))
    if suffix == ".parquet":
        return set(fields) <= set(_parquet_columns(path))
    if suffix in {".json", ".jsonl"}:
        first = next(iter(question_rows(path)), {})
        return set(fields) <= set(first)
    return False


@isolated
def _parquet_columns(path: Path) -> Sequence[str]:
    import_parquet()
    from pyarrow.parquet import read_schema

    names: Sequence[str] = _arrow(lambda: read_schema(path).names, path)
    return names


def _parquet(path: Path) -> Iterator[Row]:
    done = 0
    while rows := _parquet_rows(path, done):
        yield from rows
        done += len(rows)


@isolated
def _parquet_rows(path: Path, first: int) -> Sequence[Row]:
    """Return a batch of rows beginning with number ``first``; empty after the last."""
    import_parquet()
    batches = _begun.pop((path, first), None)
    if batches is None:
        batches = _arrow(lambda: _batches_from(path, first), path)
    rows = _arrow(lambda: _listed(next(batches, None)), path)
    # Whoever reads on finds the file open; only the last one is kept so.
    _begun.clear()
    _begun[path, first + len(rows)] = batches
    return rows


def _batches_from(path: Path, first: int) -> Iterator[Any]:
    from pyarrow.parquet import ParquetFile

    regular_file(path)
    batches: Iterator[Any] = iter(ParquetFile(path).iter_batches(_AT_A_TIME))
    done = 0
    while done < first:
        done += next(batches).num_rows
    return batches


def _listed(batch: Any) -> Sequence[Row]:  # noqa: ANN401 - pyarrow has no types
    """Return the rows of a batch, empty after the last."""
    rows: Sequence[Row] = batch.to_pylist() if batch is not None else ()
    return rows


def import_parquet() -> None:
    """Raise MissingDependencyError if the library that reads Parquet is missing."""
    try:
        import pyarrow.parquet  # noqa: F401 - whether it is there is the question
    except ImportError as error:
        raise MissingDependencyError(
            f"Reading Parquet needs pyarrow ({where_to_get('overread[datasets]')})."
        ) from error


def _arrow(read: Callable[[], _T], path: Path) -> _T:
    from pyarrow import ArrowException

    try:
        return read()
    except (ArrowException, OSError) as error:
        raise UnreadableInputError(
            f"'{path.name}' is not a complete Parquet file.", _CUT_SHORT
        ) from error


def _json(path: Path) -> Sequence[Row]:
    try:
        content = read_json(bounded_text(path))
    except JSONDecodeError as error:
        where = f"{error.msg} at line {error.lineno}, column {error.colno}"
        raise UnreadableInputError(
            f"'{path.name}' is not complete JSON: {where}.", _CUT_SHORT
        ) from error
    except (OSError, ValueError) as error:
        raise _no_text(path, "JSON") from error
    lists = (
        [v for v in content.values() if isinstance(v, list)]
        if isinstance(content, dict)
        else [content]
    )
    rows = lists[0] if len(lists) == 1 and isinstance(lists[0], list) else []
    return [row if isinstance(row, dict) else {} for row in rows]


def _json_lines(path: Path) -> Sequence[Row]:
    rows: list[Row] = []
    try:
        # splitlines() would also split at U+2028, which JSON allows inside a text.
        lines = bounded_text(path).split("\n")
    except (OSError, ValueError) as error:
        raise _no_text(path, "JSON lines") from error
    for number, line in enumerate(lines, start=1):
        try:
            row = read_json(line) if line.strip() else _BLANK
        except ValueError as error:
            raise UnreadableInputError(
                f"Line {number} of '{path.name}' is not JSON.", _CUT_SHORT
            ) from error
        if row is not _BLANK:
            rows.append(row if isinstance(row, dict) else {})
    return rows


def _csv(path: Path) -> Sequence[Row]:
    return [row.cells for row in rows_of(path)]


def _no_text(path: Path, what: str) -> UnreadableInputError:
    return UnreadableInputError(f"'{path.name}' cannot be read as {what}.", _CUT_SHORT)


_READERS: Final[Mapping[str, Callable[[Path], Iterable[Row]]]] = {
    ".csv": _csv,
    ".json": _json,
    ".jsonl": _json_lines,
    ".parquet": _parquet,
}
