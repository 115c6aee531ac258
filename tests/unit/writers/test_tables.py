import csv
import io
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

from viewer.domain.escapes import unguarded
from viewer.domain.report import Table
from viewer.writers.tables import csv_bytes, write_table
from viewer.writers.verify.comparing import read_csv
from viewer.writers.workbook import workbook_bytes


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


def test_that_a_table_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_table(Table("t", ("a",), ((1,),)), path)
    assert path.read_bytes() == b"a\n1\n"
