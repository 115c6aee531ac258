"""What a page shows of tables."""

from dataclasses import replace
from typing import Any

import pytest

from viewer.domain.errors import WrongUseError
from viewer.domain.report import PaperRows, Section, Table
from viewer.results.page import sections
from viewer.results.spec import (
    HIGHEST,
    LOWEST,
    PERCENT,
    TIME,
    ListSpec,
    Ranking,
    Shown,
    TableSpec,
)

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


def test_that_a_page_shows_chosen_rows_of_a_table_in_several_sections() -> None:
    table = Table("t", ("model", "view"), (("a", "x"), ("b", "y"), ("a", "y")))
    specs = [
        ListSpec("t", title=title, printed=printed)
        for title, printed in (
            ("All", {}),
            ("Y", {"view": ("y",)}),
            ("A in Y", {"view": ("y",), "model": ("a",)}),
            ("None", {"model": ("c",)}),
        )
    ]
    found = {section.title: section.table for section in sections(specs, [table])}
    assert {title: one.rows for title, one in found.items() if one} == {
        "All": table.rows,
        "Y": table.rows[1:],
        "A in Y": table.rows[2:],
    }


def test_that_columns_have_groups_words_and_a_second_end() -> None:
    shown = (
        "model",
        Shown("of", "Of", words={"(all)": "All of them"}),
        Shown("low", "95 %", ".1f", 100, also="high", group="Ours"),
        Shown("k", "k / n", also="n", between=" / ", group="Ours"),
    )
    header = ("model", "of", "low", "high", "k", "n")
    rows = (("a", "(all)", 0.25, 0.5, 1, 3), ("b", "x", None, None, 0, 2))
    spec = ListSpec("t", title="T", shown=shown)
    (section,) = sections([spec], [Table("t", header, rows)])
    assert section.groups == (("", 2), ("Ours", 2))
    assert section.table is not None
    assert section.table.header == ("Model", "Of", "95 %", "k / n")
    assert section.table.rows == (
        ("a", "All of them", "25.0 to 50.0", "1 / 3"),
        ("b", "x", "-", "0 / 2"),
    )
    plain = Table("t", header, rows)
    (section,) = sections([ListSpec("t", title="T", shown=("model",))], [plain])
    assert section.groups == ()


def test_that_rates_are_in_per_cent_with_an_arrow_for_what_changes() -> None:
    rows = ((0.0625, -0.3), (0.5, None), (None, None), (1 / 3, 0.0))
    shown = (Shown("rate", "Rate", PERCENT, change="by", none=""),)
    spec = ListSpec("t", title="T", shown=shown)
    (section,) = sections([spec], [Table("t", ("rate", "by"), rows)])
    printed = [row[0] for row in section.table.rows]
    assert printed == ["6.2 ↓ 30.0", "50.0", "", "33.3 = 0.0"]
    assert (section.best, section.second) == (frozenset(), frozenset())


@pytest.mark.statement("E003-14")
def test_that_the_best_and_second_best_are_marked_among_what_is_compared() -> None:
    shown = (
        "model",
        Shown("up", "Up", PERCENT, best=HIGHEST),
        Shown("down", "Down", best=LOWEST),
    )
    ranking = Ranking(("input",), {"model": ("chance",)})
    spec = ListSpec("t", title="T", shown=shown, ranking=ranking)
    rows = (
        ("chance", "none", 0.9, 0.0),
        ("a", "image", 0.7001, 3.0),
        ("b", "image", 0.7002, 2.0),
        ("c", "image", 0.5, 1.0),
        ("d", "image", None, 2.0),
        ("e", "text", 0.1, 0.5),
    )
    (section,) = sections([spec], [Table("t", ("model", "input", "up", "down"), rows)])
    assert section.best == {(1, 1), (2, 1), (3, 2)}
    assert section.second == {(3, 1), (2, 2), (4, 2)}
    everyone = ListSpec("t", title="T", shown=shown)
    table = Table("t", ("model", "up", "down"), (("a", 0.1, 2), ("b", 0.1, 1)))
    (section,) = sections([everyone], [table])
    assert section.best == {(0, 1), (1, 1), (1, 2)}
    assert section.second == {(0, 2)}


@pytest.mark.parametrize(
    "of",
    [
        {"shown": ("gone",)},
        {"shown": (Shown("dice", "Dice", also="gone"),)},
        {"shown": (Shown("dice", "Dice", counts=("lit", "gone")),)},
        {"shown": (Shown("dice", "Dice", but={"gone": (1,)}),)},
        {"printed": {"gone": (1,)}},
        {"ranking": Ranking(("gone",))},
    ],
)
def test_that_a_column_that_the_table_lacks_is_named_in_a_sentence(
    of: dict[str, Any],
) -> None:
    spec = replace(PASSES, **of)
    with pytest.raises(WrongUseError) as raised:
        list(sections([spec], [Table("passes", HEADER, (("q0", "", 1, 2, 3),))]))
    assert raised.value.what == (
        "The page of the table 'passes' names the column 'gone', which the table does "
        "not have."
    )
    assert raised.value.how == "It has item, answer_plain, lit, dice, none."
    assert list(sections([spec], [Table("passes", HEADER, ())])) == []


def test_that_a_time_is_printed_as_people_read_it() -> None:
    spec = ListSpec("t", title="T", shown=(Shown("at", "When", TIME),))
    rows = (("2026-03-01T08:05:09.5+00:00",), (None,))
    (section,) = sections([spec], [Table("t", ("at",), rows)])
    assert section.table.rows == (("2026-03-01 08:05:09 UTC",), ("-",))


def test_that_a_papers_rows_in_a_table_stand_below_its_own_and_are_not_ranked() -> None:
    shown = ("model", Shown("rate", "Rate", PERCENT, best=HIGHEST))
    own, paper = (("a", 0.25), ("b", 0.5)), (("Paper 2025", 0.9),)
    spec = TableSpec("t", (), title="T", shown=shown, below=paper)
    (section,) = sections([spec], [Table("t", ("model", "rate"), (*own, *paper))])
    assert section.table.rows == (("a", "25.0"), ("b", "50.0"))
    assert section.published == (
        PaperRows("Paper 2025", "", (("Paper 2025", "90.0"),)),
    )
    assert section.best == {(1, 1)}
    assert section.second == {(0, 1)}
