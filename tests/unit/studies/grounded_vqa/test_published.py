"""The paper's numbers as rows, transcribed whole."""

import pytest

from viewer.studies.grounded_vqa import published
from viewer.studies.grounded_vqa.published import (
    ABLATION,
    ACCURACY,
    GAIN,
    LOBA,
    ROWS,
    TABLE_2,
    WEIGHTS,
)
from viewer.studies.published import PublishedValue


def value(measure: str, subject: str, who: str) -> PublishedValue:
    found = [
        r for r in ROWS if (r.measure, r.subject, r.who) == (measure, subject, who)
    ]
    return found[0]


@pytest.mark.statement("E002-08", "X-05")
def test_that_every_table_is_whole_and_in_the_paper_s_order() -> None:
    sizes: dict[str, int] = {}
    for row in ROWS:
        sizes[row.table] = sizes.get(row.table, 0) + 1
    assert sizes == {
        "Table 2": 13 * 12,
        "Table 3": 9 * 4,
        "Table 4": 9 * 2,
        "Table 5": 6 * 3,
        "Table 6": 4 * 2,
        "Table 7": 5 * 2,
        "Table 8": 5 * 2,
        "section 5": 1,
        "section 1": 1,
        "appendix C": 1,
    }
    assert tuple((r.measure, r.subject) for r in ACCURACY[:12]) == TABLE_2
    assert value("precision", "VinDr Open", "CheXagent").printed == "0.342"
    assert value("TPT disease", "MIMIC", LOBA).printed == "0.801"
    assert value("VPT", "VinDr", "GPT-4o").printed == "0.581"
    assert value("TPT", "perturbation", ABLATION[2]).value == 0.797
    assert value("seconds", "100 samples, one A100 80GB", LOBA).printed == "101.2"


@pytest.mark.statement("E002-19")
def test_that_the_paper_s_best_gain_is_a_relative_one() -> None:
    before = value("F1", "MIMIC Open", "LLaVA-Med").value
    after = value("F1", "MIMIC Open", LOBA).value
    assert (before, after) == (0.551, 0.581)
    gain = 100 * (after - before)
    assert f"{gain / before:.2f}" == GAIN.printed == "5.44"
    assert gain == pytest.approx(3.0)


def test_that_the_fourth_weight_of_table_8_is_loba_s_row_of_table_2() -> None:
    for form in ("Yes/No", "Open"):
        swept = value(f"F1, weight {WEIGHTS[3]:g}", form, LOBA)
        assert swept.value == value("F1", f"VinDr {form}", LOBA).value


@pytest.mark.statement("E002-05")
def test_that_rows_say_who_was_fine_tuned() -> None:
    notes = {row.who: row.note for row in ACCURACY}
    assert {who for who, note in notes.items() if note == published.NOT_TUNED} == set(
        published.PROPRIETARY
    )
    assert notes[LOBA] == published.FINE_TUNED
