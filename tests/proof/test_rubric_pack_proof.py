"""The rexecution2025 pack of 30 generated studies: every cell is its closed form."""

from pathlib import Path

import pytest

from tests.helpers.rubric_pack import check_every_cell, make_pack

pytestmark = [pytest.mark.proof, pytest.mark.xdist_group("pack")]
STUDIES = 30


@pytest.mark.statement("E001-07", "E001-09", "E001-11", "E001-12", "E001-13")
@pytest.mark.statement("E001-14", "E001-15", "E001-16", "E001-17", "E001-19")
@pytest.mark.statement("E001-23", "E001-24")
def test_that_every_cell_of_30_studies_tables_is_its_closed_form(
    tmp_path: Path,
) -> None:
    made = make_pack(tmp_path, STUDIES)
    cells = check_every_cell(made)
    outputs, grades = 6 * STUDIES, len(made.truth.given)
    print(f"{outputs} outputs of 3 models, {grades} grades of 2 readers:")
    print(f"run and pack in {made.seconds:.0f} s; {cells} cells equal their form")
    assert cells > 10_000
