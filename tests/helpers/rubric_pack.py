"""A rexecution2025 pack by commands alone, and each of its cells held to its form."""

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from tests.helpers.rubric_printed import printed, published
from tests.helpers.rubric_tables import Rows, tables
from tests.helpers.rubric_truth import Truth
from tests.helpers.rubric_words import TARGETS, Hexadecimal, Said, Shifted
from viewer.cli import run_command_line
from viewer.settings import HOME_VARIABLE

TOLERANCE = 1e-9


@dataclass(frozen=True)
class MadeReadings:
    """A pack, the collection that it is of, and how long the pack took."""

    collection: Path
    folder: Path
    truth: Truth
    seconds: float


def make_pack(folder: Path, studies: int) -> MadeReadings:
    """Write studies, import them, ask the scripted models and write the pack."""
    collection, pack = folder / "studies", folder / "pack"
    store = ["--store", folder / "s.sqlite"]
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(HOME_VARIABLE, str(folder / "home"))
        where = ["--out", collection, "--n", studies, "--size", "100x125"]
        _command("phantom", "--study", "rubric_reading", *where)
        _command("import", "report-studies", collection, *store)
        start = perf_counter()
        _command("run", collection / "study.toml", *store)
        _command("pack", "rexecution2025", "--run", "last", "--out", pack, *store)
        seconds = perf_counter() - start
    return MadeReadings(collection, pack, Truth(studies), seconds)


def check_every_cell(made: MadeReadings) -> int:
    """Compare every cell of every table file; return how many there were.

    A file that nobody expects fails, as do a row or a column too many.
    """
    said = Said.of(made.collection, made.truth)
    wanted = {
        **tables(made.truth),
        **said.tables(),
        "published": published(tuple(TARGETS)),
    }
    cells = _check_folder(made.folder / "tables", wanted)
    cells += _check_folder(made.folder / "figures", said.figures())
    latex = printed(wanted)
    assert {p.stem for p in (made.folder / "tables").glob("*.tex")} == set(latex)
    for name, rows in latex.items():
        found = _latex(made.folder / "tables" / f"{name}.tex")
        cells += _check(name, found, rows)
    for path in (made.folder / "run").glob("*.csv"):
        assert path.read_bytes() == (made.folder / "tables" / path.name).read_bytes()
    assert {p.suffix for p in (made.folder / "tables").iterdir()} == {".csv", ".tex"}
    return cells


def _check_folder(folder: Path, wanted: dict[str, Rows]) -> int:
    files = {path.stem: path for path in folder.glob("*.csv")}
    assert set(files) == set(wanted)
    return sum(_check(name, _rows(path), wanted[name]) for name, path in files.items())


def _check(
    name: str, found: Sequence[Sequence[str]], wanted: Sequence[Sequence[Any]]
) -> int:
    assert len(found) == len(wanted), name
    for number, (cells, values) in enumerate(zip(found, wanted, strict=True)):
        assert len(cells) == len(values), (name, number)
        for column, cell, value in zip(found[0], cells, values, strict=True):
            assert _same(cell, value), (name, number, column, cell, value)
    return sum(len(cells) for cells in found[1:])


def _same(cell: str, wanted: Any) -> bool:  # noqa: ANN401 - any expected value
    if wanted is None or (isinstance(wanted, float) and math.isnan(wanted)):
        return cell == ""
    if isinstance(wanted, Hexadecimal):
        return wanted.fits(cell)
    if isinstance(wanted, Shifted):
        return abs(float(cell) - wanted.score) <= 0.3
    if isinstance(wanted, int | float | Fraction):
        return bool(cell) and abs(float(cell) - float(wanted)) <= TOLERANCE
    return cell == str(wanted)


def _rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def _latex(path: Path) -> list[list[str]]:
    """Return the head and the run's own rows of a LaTeX table, cell by cell."""
    lines = path.read_text(encoding="utf-8").splitlines()
    start = lines.index("\\midrule")
    ends = ("\\midrule", "\\bottomrule")
    stop = next(i for i in range(start + 1, len(lines)) if lines[i] in ends)
    own = [lines[start - 1], *lines[start + 1 : stop]]
    return [line.removesuffix(" \\\\").split(" & ") for line in own]


def _command(*words: object) -> None:
    assert run_command_line([str(word) for word in words]) == 0
