import pytest

from viewer.studies.consistency import badge_of, flagged, published_table
from viewer.studies.pathology_mcq.consistency import checks
from viewer.studies.pathology_mcq.params import KINDS
from viewer.studies.pathology_mcq.published import (
    EXPERTS,
    corruption_rows,
    every_row,
    rows_of,
)
from viewer.studies.pathology_mcq.scopes import ALL, OVERALL, TINY, VAL, Scope
from viewer.studies.published import Badge

MODELS = 25


@pytest.mark.statement("E003-02", "E003-13")
def test_that_the_checks_find_exactly_what_is_known_of_the_paper() -> None:
    found = {
        (row.table, row.who, row.subject): check
        for check in flagged(checks())
        for row in check.about
    }
    assert set(found) == {
        ("Table 1", "Otter", "Overall, test"),
        ("Table 1", "BLIP-2 FLAN-T5-XXL", "Overall, tiny test"),
        ("Table 1", "GPT-4 Turbo (text)", "Overall, tiny test"),
        ("Table 2", "BLIP-2 FLAN-T5-XL", "overall"),
        ("Table 2", "Qwen-VL-7B", "hue"),
        ("Table 2", "InstructBLIP FLAN-T5-XXL", "jpeg"),
    }
    assert all(check.problem and check.tolerance for check in found.values())
    otter = found["Table 1", "Otter", "Overall, test"]
    assert "27.94" in otter.problem
    assert "28.1" in otter.problem
    expert = next(c for c in checks() if c.about[0].who == EXPERTS)
    assert not expert.problem


@pytest.mark.statement("E003-14")
def test_that_every_printed_row_is_there_with_its_columns() -> None:
    table = rows_of(1)
    assert len(table) == MODELS + 1
    assert table[EXPERTS][Scope(TINY, OVERALL)].value == 71.8
    assert Scope(VAL, OVERALL) not in table[EXPERTS]
    assert all(len(of) == 13 for name, of in table.items() if name != EXPERTS)
    assert table["GPT-4V-1106"][Scope(ALL, "PathCLS")].printed == "33.8"
    assert rows_of(3)["LLaVA-1.5-13B"][Scope(ALL, OVERALL)].value == 33.2
    assert len(rows_of(4)) == 6
    accuracy, change = corruption_rows()["Qwen-VL-7B"]["motion"]
    assert (accuracy.value, change.value) == (33.8, 1.7)
    kinds = (*KINDS, "overall")
    assert {tuple(of) for of in corruption_rows().values()} == {kinds}


@pytest.mark.statement("E003-13")
def test_that_published_rows_have_a_source_a_badge_and_no_claimed_size() -> None:
    rows, found = every_row(), checks()
    assert len(rows) == 25 * 13 + 6 + 7 * 9 * 2 + 7 * 12 + 6 * 12
    table = published_table(rows, found)
    assert len(table.rows) == len(rows)
    badges = [badge_of(row, found) for row in rows]
    assert badges.count(Badge.INCONSISTENT) == 6
    assert all(row.n_claimed is None and row.source and row.note for row in rows)
