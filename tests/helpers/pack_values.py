"""The five packs of invented collections, made and compared value by value.

``python -m tests.helpers.pack_values make FOLDER`` makes them;
``python -m tests.helpers.pack_values compare BEFORE AFTER`` prints what differs between
two such folders, and fails where anything does. Times and what follows from a folder's
place are left out.
"""

import argparse
import csv
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.helpers import (
    evidence_pack,
    heal_pack,
    mcq_pack,
    pack_checks,
    rubric_pack,
)
from viewer.cli import run_command_line
from viewer.domain.geometry import SizePx

_VOLATILE: Final = re.compile(
    r"second|duration|time|started|finished|_at$|hash|sha256|request|version|path|file"
)
"""Columns whose values hang on the clock, the folder or the program's own revision."""
_Row = Mapping[str, str]


def _grid(folder: Path) -> None:
    collection = folder / "phantom"
    size = ("--n", "6", "--seed", "0", "--size", "400x500")
    if run_command_line(["phantom", "--out", str(collection), *size]):
        raise SystemExit("no phantom could be made")
    pack_checks.make_pack(collection, folder)


_PACKS: Final[Mapping[str, Callable[[Path], object]]] = {
    "grid2025": _grid,
    "rexecution2025": lambda folder: rubric_pack.make_pack(folder, 12),
    "heal2025": lambda folder: heal_pack.make_pack(folder, 50, every_way=False),
    "heal2025_ways": lambda folder: heal_pack.make_pack(folder, 12, every_way=True),
    "pathmmu2024": lambda folder: mcq_pack.make_pack(folder, 25, SizePx(128, 128)),
    "medsyn2026": lambda folder: evidence_pack.make_pack(
        folder, 12, 3, SizePx(128, 128)
    ),
}


def make(folder: Path, names: Sequence[str]) -> None:
    """Make the packs of these names in folders of these names."""
    for name in names:
        (folder / name).mkdir(parents=True)
        _PACKS[name](folder / name)


def differing(before: Path, after: Path) -> Iterator[str]:
    """Yield a line for each table, row, column or value that only one folder has."""
    olds, news = _tables(before), _tables(after)
    yield from (f"{name}: only before" for name in sorted(olds.keys() - news.keys()))
    yield from (f"{name}: only after" for name in sorted(news.keys() - olds.keys()))
    for name in sorted(olds.keys() & news.keys()):
        yield from (f"{name}: {line}" for line in _between(olds[name], news[name]))


def values(folder: Path) -> int:
    """Return how many values are compared."""
    return sum(len(row) for rows in _tables(folder).values() for row in rows)


def _tables(folder: Path) -> dict[str, list[_Row]]:
    return {
        str(path.relative_to(folder)): list(_rows(path))
        for path in sorted(folder.glob("*/pack/**/*.csv"))
    }


def _rows(path: Path) -> Iterator[_Row]:
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield {
                name: value for name, value in row.items() if not _VOLATILE.search(name)
            }


def _between(olds: Sequence[_Row], news: Sequence[_Row]) -> Iterator[str]:
    """Yield what of a table differs; a column that was added is no difference."""
    if len(olds) != len(news):
        yield f"{len(olds)} rows before, {len(news)} after"
    for number, (old, new) in enumerate(zip(olds, news, strict=False), 1):
        for name in old:
            if old[name] != new.get(name):
                yield f"row {number}, {name}: {old[name]!r} -> {new.get(name)!r}"


def main() -> int:
    """Make or compare; 1 where anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("make", "compare"))
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--only", nargs="*", choices=tuple(_PACKS))
    options = parser.parse_args()
    if options.what == "make":
        make(options.folders[0], options.only or tuple(_PACKS))
        return 0
    before, after = options.folders
    found = list(differing(before, after))
    for line in found[:200]:
        sys.stdout.write(f"{line}\n")
    tables = len(_tables(before))
    sys.stdout.write(f"{tables} tables, {values(before)} values, {len(found)} differ\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
