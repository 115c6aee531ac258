"""Output of the command line, escaped so that it cannot control the terminal."""

import io
import json
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Final

import click

from viewer.domain.escapes import json_visible, one_line
from viewer.domain.secret_values import without_secrets

_PIPE_WIDTH: Final = 400
"""Columns of a table that is not printed on a screen, so that nothing is cut."""


def echo(*lines: object, err: bool = False) -> None:
    """Print lines on standard output, or on standard error."""
    for line in lines:
        click.echo(one_line(str(line)), err=err)


def print_text(text: str) -> None:
    """Print a multi-line text on standard output."""
    echo(*text.removesuffix("\n").split("\n"))


def say(sentence: str) -> None:
    """Print one line on standard error."""
    from viewer.models.keys import known_keys

    echo(without_secrets(" ".join(sentence.split()), known_keys()), err=True)


def print_json(value: object) -> None:
    """Print a value as JSON on standard output."""
    click.echo(json_visible(json.dumps(value, indent=2, ensure_ascii=False)))


def print_rows(rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> None:
    """Print some columns of rows as a table, or a note if there are no rows."""
    if not rows:
        echo("Nothing yet.")
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, highlight=False)
    for column in columns:
        numeric = isinstance(rows[0][column], int | float)
        table.add_column(
            Text(one_line(column.replace("_", " "))),
            no_wrap=not sys.stdout.isatty(),
            justify="right" if numeric else "left",
        )
    for row in rows:
        # rich reads [words] in brackets of a plain string as markup.
        table.add_row(*(Text(one_line(cell_text(row[column]))) for column in columns))
    Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH).print(table)


def cell_text(value: object) -> str:
    """Return a value as displayed text."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{k} {v}" for k, v in value.items())
    return str(value)


def prepare_streams() -> None:
    """Make the standard streams tolerate unencodable characters, and hide warnings."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    warnings.formatwarning = _warning_line


def _warning_line(
    message: Warning | str,
    category: type[Warning],
    filename: str,  # noqa: ARG001 - as warnings.formatwarning
    lineno: int,  # noqa: ARG001
    line: str | None = None,  # noqa: ARG001
) -> str:
    return one_line(f"{category.__name__}: {message}") + "\n"
