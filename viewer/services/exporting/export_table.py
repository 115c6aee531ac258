"""Export of a displayed table to a file."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from viewer.domain.errors import WrongUseError
from viewer.domain.report import Section, Table
from viewer.results.page import printed
from viewer.writers.files import write_atomically
from viewer.writers.tables import (
    csv_bytes,
    latex_table,
    parquet_bytes,
    tab_separated,
    workbook_bytes,
)

_KINDS: Final[Mapping[str, Callable[[Table], bytes]]] = {
    ".csv": lambda table: csv_bytes(table.header, table.rows),
    ".xlsx": lambda table: workbook_bytes([table]),
    ".parquet": parquet_bytes,
    ".tex": lambda table: latex_table(Section("", "", printed(table))),
}
TABLE_FILES: Final = ";;".join(
    f"{words} (*{ending})"
    for ending, words in zip(
        _KINDS, ("Tables", "Excel workbooks", "Parquet", "LaTeX"), strict=True
    )
)
"""The files that a table can be written to, as a dialog offers them."""


def table_as_csv(table: Table) -> str:
    """Return a table as the text of the CSV file that is written of it."""
    return _KINDS[".csv"](table).decode()


def table_as_tsv(table: Table) -> str:
    """Return a table separated by tabs, for spreadsheets; None becomes empty."""
    return tab_separated(table)


def export_table(table: Table, path: Path) -> None:
    """Write a table in the format given by the file's suffix.

    CSV is byte for byte that of the run's report; LaTeX is rounded as on pages.

    Raises
    ------
    WrongUseError
        The suffix is none of these, or the folder cannot be written to; no partial file
        is left.
    """
    made = _KINDS.get(path.suffix.lower())
    if made is None:
        raise WrongUseError(
            f"'{path.name}' does not have a file ending for tables.",
            f"Choose one of {', '.join(_KINDS)}.",
        )
    write_atomically(path, made(table))
