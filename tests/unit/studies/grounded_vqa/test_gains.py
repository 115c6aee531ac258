"""What a region adds to F1, beside what the paper says that it adds."""

import pytest

from viewer.domain.report import Table
from viewer.studies.grounded_vqa.gains import gain_table, relative_gain
from viewer.studies.grounded_vqa.report import sections

HEADER = ("dataset", "model", "condition", "note", "yes_no_f1", "open_f1")


def table(*rows: tuple[object, ...]) -> list[dict[str, object]]:
    found = gain_table(Table("table_2_accuracy", HEADER, rows))
    return [dict(zip(found.header, row, strict=True)) for row in found.rows]


@pytest.mark.statement("E002-19", "E002-15")
def test_that_a_gain_is_held_against_the_model_s_own_plain_answers() -> None:
    rows = table(
        ("q", "a", "plain", "", 0.5, 0.4),
        ("q", "a", "contour", "LobA-approximation", 0.6, 0.3),
        ("q", "a", "loba-3", "", 0.55, None),
        ("q", "b", "plain", "", 0.0, 0.2),
        ("q", "b", "loba-3", "", 0.7, 0.2),
        ("q", "c", "loba-3", "", 0.7, 0.2),
    )
    own = [r for r in rows if r["source"] == "this run"]
    gains = {(r["model"], r["condition"], r["questions"]): r for r in own}
    assert len(gains) == len(own) == 6
    assert {r["model"] for r in own} == {"a", "b"}
    contour = gains["a", "contour", "Yes/No"]
    assert contour["gain_percent"] == pytest.approx(20.0)
    assert contour["note"] == "LobA-approximation"
    assert gains["a", "contour", "Open"]["gain_percent"] == pytest.approx(-25.0)
    assert gains["a", "loba-3", "Open"]["gain_percent"] is None
    assert gains["b", "loba-3", "Yes/No"]["gain_percent"] is None
    assert gains["b", "loba-3", "Open"]["gain_percent"] == 0.0


@pytest.mark.statement("E002-19")
def test_that_the_paper_s_gains_stand_beside_where_there_are_any() -> None:
    rows = table(("q", "a", "plain", "", 0.5, 0.4), ("q", "a", "crop", "", 0.5, 0.4))
    printed = {r["questions"]: r for r in rows if r["source"] != "this run"}
    told = {name: f"{r['gain_percent']:.2f}" for name, r in printed.items()}
    assert told == {
        "MIMIC Yes/No": "4.16",
        "MIMIC Open": "5.44",
        "VinDr Yes/No": "3.56",
        "VinDr Open": "3.63",
    }
    assert table(("q", "a", "plain", "", 0.5, 0.4)) == []
    assert relative_gain(0.0, 0.5) is None


@pytest.mark.statement("E002-16")
def test_that_a_page_has_the_start_of_a_long_table_and_says_so() -> None:
    rows = tuple((f"q{i}", "m", 0, "Yes", True, 0.5) for i in range(101))
    header = ("item", "model", "repeat", "answer_plain", "lit", "dice")
    long, short = sections(
        [Table("passes", header, rows), Table("passes", header, rows[:1])]
    )
    assert long.table is not None
    assert len(long.table.rows) == 100
    assert long.text.endswith("The first 100 of 101; passes.csv has all.")
    assert short.table is not None
    assert short.table.rows == (("q0", "m", 0, "Yes", "yes", "0.500"),)
    assert "The first" not in short.text
