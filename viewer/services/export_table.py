"""Write a table that is on the screen to a file."""

from pathlib import Path

from viewer.domain.report import Table
from viewer.writers.tables import write_table


def export_table(table: Table, path: Path) -> None:
    """Write a table as CSV, byte for byte as the run's report has it.

    A folder that cannot be written to raises WrongUseError and leaves no half a file.
    """
    write_table(table, path)
