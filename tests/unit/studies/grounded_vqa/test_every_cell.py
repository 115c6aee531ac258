"""A small pack cell by cell, and that a cell which is wrong or new would be found."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.heal_cells import check_every_cell
from tests.helpers.heal_pack import Made, make_pack
from tests.helpers.sheets import Sheet, is_same, sheets_below


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make_pack(tmp_path_factory.mktemp("pack"), 6, every_way=False)


def again(made: Made, folder: Path) -> Made:
    """Return a copy of a pack of which nothing is checked yet."""
    shutil.copytree(made.folder, folder)
    return replace(made, folder=folder, sheets=sheets_below(folder))


@pytest.mark.statement("E002-07", "E002-08", "E002-09", "E002-10", "E002-11")
def test_that_every_cell_of_a_small_pack_is_its_closed_form(
    made: Made, tmp_path: Path
) -> None:
    copy = again(made, tmp_path / "pack")
    assert check_every_cell(copy) == sum(s.cells for s in copy.sheets.values()) > 5_000


@pytest.mark.parametrize(
    "table",
    [
        *("tables/table_2_accuracy", "tables/by_anatomy_and_finding"),
        *("tables/sham_control", "run/items", "run/results"),
    ],
)
def test_that_a_cell_that_is_off_is_found(
    made: Made, tmp_path: Path, table: str
) -> None:
    copy = again(made, tmp_path / "pack")
    path = copy.folder / f"{table}.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    cells = lines[-1].split(",")
    cells[-1] = "0.123" if cells[-1] != "0.123" else "0.124"
    path.write_text("\n".join([*lines[:-1], ",".join(cells)]) + "\n")
    off = replace(copy, sheets=sheets_below(copy.folder))
    with pytest.raises(AssertionError):
        check_every_cell(off)


def test_that_a_table_nobody_checks_is_found(made: Made, tmp_path: Path) -> None:
    copy = again(made, tmp_path / "pack")
    (copy.folder / "tables" / "new.csv").write_text("a,b\n1,2\n")
    more = replace(copy, sheets=sheets_below(copy.folder))
    with pytest.raises(AssertionError, match=r"tables/new\.csv"):
        check_every_cell(more)


def test_that_cells_are_compared_as_numbers_only_where_they_are(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("name,rate\na,0.5\nb,\n")
    sheet = Sheet(path)
    sheet.check(0, {"name": "a", "rate": 0.5 + 1e-13})
    assert list(sheet.unchecked) == [(1, "name"), (1, "rate")]
    sheet.check(1, {"rate": None})
    assert list(sheet.unchecked) == [(1, "name")]
    assert sheet.cells == 4
    assert not is_same("0.5", 0.6)
    assert not is_same("", 0.0)
    assert not is_same("0", None)
