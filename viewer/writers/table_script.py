"""Tables as Python scripts that print the same numbers."""

from importlib.resources import files
from pathlib import Path
from pprint import pformat
from typing import Final

from viewer.domain.plain import plain
from viewer.results.spec import OF_WHOM, TRIALS, Cell, Spec, TableSpec

_KNOWN: Final = ("size", "share", "rate", "mean", "chance level")
"""The estimators of :mod:`viewer.writers.table_numbers`."""
_SHORT: Final = '''"""The table {name} of run {run}, computed from its items.csv.

It needs pandas and scipy: python {name}.py items.csv > {name}.csv
"""
'''
_LONG: Final = '''"""The table {name} of run {run}, computed by Overread.

It needs a Python with Overread installed: python {name}.py > {name}.csv
"""

import sys
from pathlib import Path

from viewer.services.exporting.export_table import table_as_csv
from viewer.services.inspecting.runs import run_table

STORE = Path({store!r})
sys.stdout.write(table_as_csv(run_table(STORE, {run}, {name!r})))
'''


def table_script(spec: Spec | None, name: str, store: Path, run: int) -> str:
    """Return a script that prints a table of a run as CSV.

    It needs pandas and scipy alone where the specification asks for nothing but counts,
    rates and means of trials; of other tables it calls Overread with the run's store.
    """
    if not isinstance(spec, TableSpec) or not _is_short(spec):
        return _LONG.format(name=name, run=run, store=str(store))
    table = {
        "keys": [(key.column, key.name, key.total) for key in spec.keys],
        "outer": spec.outer,
        "every": spec.every,
        "sets": spec.inner,
        "only_several": spec.only_several,
        "cells": [(c.estimator, c.names, c.of, dict(c.where)) for c in spec.cells],
    }
    source = files("viewer.writers").joinpath("table_numbers.py").read_text("utf-8")
    # Without the module's docstring: the script has one of its own.
    body = source.partition('"""\n\n')[2]
    written = pformat(plain(table), width=88, sort_dicts=False)
    last = f'\nTABLE = {written}\nshow(TABLE, (*sys.argv[1:], "items.csv")[0])\n'
    return f"{_SHORT.format(name=name, run=run)}\n{body}\n{last}"


def _is_short(spec: TableSpec) -> bool:
    """Tell whether a script without Overread can compute a table."""
    plain = not any(key.values or key.ascending for key in spec.keys)
    apart = spec.where or spec.needs_several or spec.below or spec.lines
    whole = spec.frame == TRIALS and not apart
    return whole and plain and all(map(_is_simple, spec.cells))


def _is_simple(cell: Cell) -> bool:
    beside = cell.against or cell.options or cell.frame or cell.blank or cell.total
    single = len(cell.of) <= 1 or cell.of[1:] == OF_WHOM
    return cell.estimator in _KNOWN and single and not beside
