from viewer.domain.report import Table
from viewer.results.evaluate import evaluate
from viewer.results.frame import frame_of
from viewer.results.page import sections
from viewer.results.spec import P_VALUE, Cell, Key, ListSpec, Shown, TableSpec


def test_that_distinct_values_are_counted_and_shared_among_all() -> None:
    frame = frame_of({"region": ["lung", "lung", "pleura"], "task": ["t1", "t1", None]})
    more = frame_of({"region": ["lung", "lung", "", "none"], "task": [1, 1, 2, 3]})
    cell = Cell("distinct", ("tasks", "share"), ("task",), against={"region": None})
    spec = TableSpec("t", (Key("region"),), (cell,))
    assert evaluate(spec, {"trials": frame}).rows == (
        ("lung", 1, 1.0),
        ("pleura", 0, 0.0),
    )
    assert evaluate(spec, {"trials": more}).rows[0] == ("lung", 1, 1 / 3)


def test_that_no_p_value_is_printed_as_0() -> None:
    spec = ListSpec("t", title="T", shown=(Shown("p", "p", P_VALUE), "effect"))
    table = Table("t", ("p", "effect"), ((0.0004, 0.0004), (0.0451, -1.0), (None, 1)))
    (section,) = sections([spec], [table])
    assert section.table is not None
    assert section.table.rows == (("< 0.01", "0.00"), ("0.05", "-1.00"), ("-", 1))
