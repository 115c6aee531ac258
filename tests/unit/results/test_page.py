"""What a page shows of tables."""

import pytest

from viewer.domain.report import Section, Table
from viewer.results.page import sections
from viewer.results.spec import ListSpec

HEADER = ("item", "answer_plain", "lit", "dice", "none")
PASSES = ListSpec("passes", title="Passes", text="Side by side.")


def shown(table: Table) -> Section:
    (found,) = sections([PASSES], [table])
    return found


@pytest.mark.statement("E002-16")
def test_that_a_page_has_the_start_of_a_long_table_and_says_so() -> None:
    rows = tuple((f"q{i}", "Yes", True, 0.5, None) for i in range(101))
    long = shown(Table("passes", HEADER, rows))
    whole = shown(Table("passes", HEADER, rows[:100]))
    assert long.table is not None
    assert [row[0] for row in long.table.rows] == [f"q{i}" for i in range(100)]
    assert long.text == "Side by side. The first 100 of 101; passes.csv has all."
    assert (whole.table, whole.text) == (long.table, "Side by side.")


def test_that_values_are_printed_for_people() -> None:
    rows = (("q0", "", True, 0.12345, None), ("q1", "No", False, 2, 1.0))
    section = shown(Table("passes", HEADER, rows))
    assert section.title == "Passes"
    assert section.table == Table(
        "passes",
        ("item", "answer plain", "lit", "dice", "none"),
        (("q0", "", "yes", "0.123", ""), ("q1", "No", "no", 2, "1.000")),
    )


def test_that_tables_without_a_title_or_a_row_are_not_shown() -> None:
    specs = [PASSES, ListSpec("b", title="B"), ListSpec("items")]
    tables = [
        Table("items", ("a",), ((1,),)),
        Table("b", ("a",), ((1,),)),
        Table("passes", ("a",), ((1,),)),
        Table("unknown", ("a",), ((1,),)),
    ]
    found = list(sections(specs, tables))
    assert [section.title for section in found] == ["B", "Passes"]
    assert list(sections([PASSES], [Table("passes", HEADER, ())])) == []
