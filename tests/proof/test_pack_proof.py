"""The grid2025 pack of 200 synthetic patients: every cell is its closed form."""

from pathlib import Path
from time import perf_counter

import pytest

from tests.helpers.pack_checks import check_every_cell, make_pack
from viewer.domain.geometry import SizePx
from viewer.services.synthetic.make_phantom import make_phantom

pytestmark = [pytest.mark.proof, pytest.mark.xdist_group("pack")]
PATIENTS = 200


@pytest.mark.statement("E000-16", "E000-19", "E000-20", "E000-21", "E000-28", "X-04")
def test_that_every_cell_of_200_patients_tables_is_its_closed_form(
    tmp_path: Path,
) -> None:
    collection, size = tmp_path / "phantom", SizePx(500, 400)
    make_phantom(collection, PATIENTS, 0, size, lambda *_: None, compress=False)
    start = perf_counter()
    made = make_pack(collection, tmp_path)
    seconds = perf_counter() - start
    cells = check_every_cell(made)
    files = sum(path.is_file() for path in made.folder.rglob("*"))
    print(f"{PATIENTS} patients, {len(made.pairs)} pairs, 2 grids, 3 models:")
    print(f"{files} files in {seconds:.0f} s; {cells} cells equal their closed form")
    assert cells > 2000
