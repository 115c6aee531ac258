"""The heal2025 pack on generated radiographs: every cell is its closed form."""

from pathlib import Path
from time import perf_counter

import pytest

from tests.helpers.heal_cells import check_every_cell
from tests.helpers.heal_pack import Made, make_pack

pytestmark = [pytest.mark.proof, pytest.mark.xdist_group("pack")]


@pytest.mark.statement("E002-07", "E002-08", "E002-09", "E002-10", "E002-11", "E002-12")
def test_that_every_cell_of_the_paper_s_own_tests_is_its_closed_form(
    tmp_path: Path,
) -> None:
    made, cells = timed(tmp_path, 50, every_way=False)
    assert cells > 20_000
    nets = [row for row in made.sheets["tables/sham_control.csv"].rows if row["net"]]
    assert {float(r["net"]) for r in nets if r["model"] == "denies"} == {0.0}
    assert all(float(r["net_low"]) > 0.5 for r in nets if r["model"] == "sees")


@pytest.mark.statement("E002-13", "E002-14", "E002-15", "E002-16", "E002-19")
def test_that_every_cell_of_regions_pointed_out_is_its_closed_form(
    tmp_path: Path,
) -> None:
    made, cells = timed(tmp_path, 16, every_way=True)
    assert cells > 60_000
    assert {"tables/table_8_weights.csv", "tables/passes.csv"} <= set(made.sheets)


def timed(folder: Path, patients: int, *, every_way: bool) -> tuple[Made, int]:
    """Make a pack and check it; print how long that took."""
    start = perf_counter()
    made = make_pack(folder, patients, every_way=every_way)
    seconds = perf_counter() - start
    cells = check_every_cell(made)
    print(f"{len(made.truth.asked)} questions, {len(made.verdicts)} trials:")
    print(f"the pack in {seconds:.0f} s; {cells} cells equal their closed form")
    return made, cells
