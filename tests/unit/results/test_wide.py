"""Wide tables: what long ones tell stands side by side, a paper's own rows too."""

import pytest

from viewer.domain.report import Table
from viewer.results.spec import Block, Column, WideSpec
from viewer.results.wide import lay_out

RATES = Table(
    "rates",
    ("who", "part", "how", "rate", "by"),
    (
        ("b", "tiny", "plain", 0.5, 0.1),
        ("a", "all", "plain", 0.25, None),
        ("b", "all", "plain", None, -0.1),
        ("b", "all", "blind", 0.75, 0.2),
        ("c", "val", "plain", 1.0, 0.0),
    ),
)
PAPER = Table(
    "published",
    ("table", "of", "who", "value"),
    (
        ("Table 1", "tiny test", "theirs", 34.9),
        ("Table 2", "test", "theirs", 99.0),
        ("Table 1", "training", "theirs", 99.0),
    ),
)
COLUMNS = (Column("Tiny", ("tiny",), "tiny test"), Column("All", ("all",), "test"))
PLAIN = Block(
    "rates", ("rate",), {"model": "who"}, {"input": "image"}, {"how": ("plain",)}
)
PUBLISHED = Block(
    "published",
    ("value",),
    {"model": "who"},
    {"input": "as published"},
    {"table": ("Table 1",)},
    per=100,
    across=("of",),
)


@pytest.mark.statement("E003-14")
def test_that_rows_of_several_tables_stand_below_each_other() -> None:
    blocks = (PLAIN, Block("nowhere", ("x",)), PUBLISHED)
    spec = WideSpec("wide", ("model", "input"), ("part",), COLUMNS, blocks)
    assert lay_out(spec, [RATES, PAPER]) == Table(
        "wide",
        ("model", "input", "Tiny", "All"),
        (
            ("b", "image", 0.5, None),
            ("a", "image", None, 0.25),
            ("theirs", "as published", 34.9 / 100, None),
        ),
    )
    assert lay_out(spec, []).rows == ()


def test_that_a_column_may_hold_several_numbers() -> None:
    blind = Block("rates", ("rate", "by"), {"model": "who"}, where={"how": ("blind",)})
    spec = WideSpec("t", ("model",), ("part",), COLUMNS, (blind,), ends=("", "_change"))
    assert lay_out(spec, [RATES]) == Table(
        "t",
        ("model", "Tiny", "Tiny_change", "All", "All_change"),
        (("b", None, None, 0.75, 0.2),),
    )
