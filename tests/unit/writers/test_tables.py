import csv
import io
import sys
import zipfile
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from viewer.domain.errors import MissingDependencyError
from viewer.domain.escapes import unguarded
from viewer.domain.report import Section, Table
from viewer.writers.tables import (
    csv_bytes,
    html_section,
    latex_table,
    parquet_bytes,
    workbook_bytes,
)
from viewer.writers.verify.comparing import read_csv


def test_that_values_are_printed_at_full_precision() -> None:
    rows = [("a", 1, 0.1 + 0.2, None, float("nan")), ("b", 2, 1.0, "", 1e-17)]
    text = csv_bytes(("name", "n", "x", "y", "z"), rows).decode()
    assert text == "name,n,x,y,z\na,1,0.30000000000000004,,\nb,2,1.0,,1e-17\n"


def test_that_every_float_reads_back_the_same() -> None:
    values = [1 / 3, 5 / 9, 2**-1074, 123456789.123456789]
    lines = csv_bytes(("x",), [(value,) for value in values]).decode().splitlines()
    assert [float(line) for line in lines[1:]] == values


def test_that_separators_quotes_and_line_ends_are_quoted() -> None:
    rows = [("a,b", 'say "x"', "two\nlines", "‘ü’")]
    text = csv_bytes(("1", "2", "3", "4"), rows).decode()
    assert list(csv.reader(io.StringIO(text, newline="")))[1] == list(rows[0])


def test_that_no_text_begins_a_formula_and_every_text_reads_back() -> None:
    names = ("=1+1", "+a", "-a", "@a", "\t=1", "\r=1", "'=1", "-1", "plain")
    data = csv_bytes(names, [(*names[:-1], -1.5), (*names[:-1], -2)])
    cells = list(csv.reader(io.StringIO(data.decode(), newline="")))
    assert cells[0][:4] == ["'=1+1", "'+a", "'-a", "'@a"]
    assert [row[-2:] for row in cells] == [[*names[-2:]], ["-1", "-1.5"], ["-1", "-2"]]
    assert read_csv(data) == [[*names], [*names[:-1], "-1.5"], [*names[:-1], "-2"]]
    assert [unguarded(cell) for cell in cells[0]] == list(names)


def test_that_a_workbook_holds_control_characters_and_no_formula() -> None:
    table = Table("t", ("a\x1bb",), (("=1+1",), ("\ud800<b>&",), (-1,)))
    with zipfile.ZipFile(io.BytesIO(workbook_bytes([table]))) as book:
        root = ET.fromstring(book.read("xl/worksheets/sheet1.xml"))  # noqa: S314 - our own
    texts = [node.text for node in root.iter() if node.tag.endswith("}t")]
    assert texts == ["a_x001B_b", "'=1+1", "_xD800_<b>&"]
    assert [node.text for node in root.iter() if node.tag.endswith("}v")] == ["-1"]


def test_that_a_numpy_float_is_printed_as_a_number() -> None:
    import numpy as np

    assert csv_bytes(("x",), [(np.float64(0.5),)]) == b"x\n0.5\n"


def test_that_parquet_holds_numbers_and_texts_of_every_kind() -> None:
    from pyarrow.parquet import read_table

    table = Table(
        "t",
        ("n", "x", "name", "mixed"),
        ((1, 0.1 + 0.2, "=1+1", "a"), (None, None, "ü", 2), (3, 4, "", None)),
    )
    read = read_table(io.BytesIO(parquet_bytes(table)))
    assert read.column_names == list(table.header)
    assert read.to_pydict() == {
        "n": [1, None, 3],
        "x": [0.1 + 0.2, None, 4.0],
        "name": ["=1+1", "ü", ""],
        "mixed": ["a", "2", None],
    }
    empty = read_table(io.BytesIO(parquet_bytes(replace(table, rows=()))))
    assert (empty.column_names, empty.num_rows) == (list(table.header), 0)


def test_that_parquet_without_its_library_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingDependencyError, match="Writing Parquet needs pyarrow"):
        parquet_bytes(Table("t", ("a",), ((1,),)))


def test_that_the_best_is_bold_and_the_second_best_underlined() -> None:
    table = Table("t", ("Model", "Rate <b>"), (("a & b", "1.0"), ("c", "2.0")))
    best, second = frozenset({(1, 1)}), frozenset({(0, 1)})
    section = Section("T", "", table, best=best, second=second)
    latex = latex_table(section).decode()
    assert "a \\& b & \\underline{1.0} \\\\\n" in latex
    assert "c & \\textbf{2.0} \\\\\n" in latex
    html = str(html_section(section))
    assert '<td>a &amp; b</td><td class="right"><u>1.0</u></td>' in html
    assert '<td class="right"><strong>2.0</strong></td>' in html
    assert "Rate &lt;b&gt;" in html
