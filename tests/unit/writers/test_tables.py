import csv
import io
from pathlib import Path

from viewer.domain.report import Table
from viewer.writers.tables import csv_bytes, write_table


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


def test_that_a_numpy_float_is_printed_as_a_number() -> None:
    import numpy as np

    assert csv_bytes(("x",), [(np.float64(0.5),)]) == b"x\n0.5\n"


def test_that_a_table_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_table(Table("t", ("a",), ((1,),)), path)
    assert path.read_bytes() == b"a\n1\n"
