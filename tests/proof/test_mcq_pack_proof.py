"""The pathmmu2024 pack of generated tiles: every cell is its closed form."""

from pathlib import Path
from time import perf_counter

import pytest

from tests.helpers.mcq_cells import check_every_cell
from tests.helpers.mcq_pack import MODELS, make_pack
from viewer.domain.geometry import SizePx

pytestmark = [pytest.mark.proof, pytest.mark.xdist_group("pack")]


@pytest.mark.statement(
    *("E003-02", "E003-03", "E003-05", "E003-06", "E003-07", "E003-08", "E003-10"),
    *("E003-11", "E003-14", "E003-17"),
)
@pytest.mark.parametrize("tiles", [25, 50])
def test_that_every_cell_of_every_table_is_its_closed_form(
    tiles: int, tmp_path: Path
) -> None:
    pytest.importorskip("torch", reason="the next-sentence baseline needs torch")
    pytest.importorskip("transformers", reason="the next-sentence baseline needs it")
    start = perf_counter()
    made = make_pack(tmp_path, tiles, SizePx(192, 256))
    seconds = perf_counter() - start
    cells = check_every_cell(made)
    print(f"{len(made.questions)} questions, {len(MODELS)} models, 44 conditions:")
    print(f"the pack in {seconds:.0f} s; {sum(cells.values()):,} cells are right:")
    print("\n".join(f"  {name}: {n:,}" for name, n in cells.items()))
    assert sum(cells.values()) > 80_000
    assert min(cells.values()) >= 40
