"""The medsyn2026 pack of 24 invented cases: every cell is its closed form."""

import csv
from pathlib import Path
from time import perf_counter

import pytest

from tests.helpers.evidence_pack import Made, make_pack
from tests.helpers.evidence_run_cells import check_every_cell
from viewer.domain.geometry import SizePx

pytestmark = [pytest.mark.proof, pytest.mark.xdist_group("pack")]
SMALL = SizePx(128, 128)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make_pack(tmp_path_factory.mktemp("medsyn"), 6, 2, SMALL)


@pytest.mark.statement(
    *("E004-06", "E004-07", "E004-08", "E004-09", "E004-10", "E004-11", "E004-12"),
    *("E004-13", "E004-14", "E004-15", "E004-17", "E004-18", "E004-19", "E004-20"),
)
def test_that_every_cell_of_24_cases_tables_is_its_closed_form(tmp_path: Path) -> None:
    start = perf_counter()
    made = make_pack(tmp_path, 24, 3, SMALL)
    seconds = perf_counter() - start
    cells = check_every_cell(made)
    for name, count in cells.items():
        print(f"{name}: {count} cells")
    print(
        f"the pack in {seconds:.0f} s; {sum(cells.values())} cells are as they must be"
    )
    assert sum(cells.values()) > 63_000


def test_that_a_cell_that_is_another_is_found_in_every_file(small: Made) -> None:
    folders = ("tables/*.csv", "figures/fig_1*.csv", "run/results.csv")
    files = [path for name in folders for path in sorted(small.folder.glob(name))]
    assert len(files) == 30
    for path in files:
        before = path.read_bytes()
        rows = list(csv.reader(before.decode().splitlines()))
        for row, column in ((1, 0), (len(rows) // 2, 2)):
            changed = [list(line) for line in rows]
            changed[row][column] = "0.123" if changed[row][column] != "0.123" else "x"
            _write(path, changed)
            with pytest.raises((AssertionError, ValueError, KeyError)):
                check_every_cell(small)
        path.write_bytes(before)
    assert check_every_cell(small)


def test_that_a_column_or_a_table_that_nobody_checks_is_an_error(small: Made) -> None:
    path = small.folder / "tables" / "table_09.csv"
    before = path.read_bytes()
    rows = list(csv.reader(before.decode().splitlines()))
    _write(path, [[*line, "new"] for line in rows])
    with pytest.raises(AssertionError, match="table_09"):
        check_every_cell(small)
    path.write_bytes(before)
    more = path.with_name("table_15.csv")
    more.write_text("a\n1\n")
    with pytest.raises(AssertionError):
        check_every_cell(small)
    more.unlink()
    assert check_every_cell(small)


def _write(path: Path, rows: list[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(rows)
