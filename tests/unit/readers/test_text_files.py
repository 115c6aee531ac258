"""Tables are measured before they are read."""

import os
from pathlib import Path

import pytest

from viewer.domain.errors import UnreadableInputError
from viewer.readers.datasets.csv_tables import header_of, rows_of
from viewer.readers.datasets.image_files import missing_path
from viewer.readers.files import text_files
from viewer.readers.files.json_files import document
from viewer.readers.files.text_files import bounded_lines


def test_that_a_table_of_too_many_values_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, listed = tmp_path / "a.csv", tmp_path / "a.json"
    table.write_text("a,b\n" + "1,2\n" * 50)
    listed.write_text("[" + "[]," * 100 + "[]]")
    assert len(list(rows_of(table))) == 50
    assert len(document(listed)) == 101  # type: ignore[arg-type] # a list
    monkeypatch.setattr(text_files, "MOST_VALUES", 90)
    says = r"'a\.(csv|json)' contains more than 90 values"
    with pytest.raises(UnreadableInputError, match=says):
        list(rows_of(table))
    with pytest.raises(UnreadableInputError, match=says):
        document(listed)


def test_that_a_table_without_an_end_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(UnreadableInputError, match=r"pipe\.json is a pipe"):
        document(tmp_path / "pipe.json")
    huge = tmp_path / "huge.csv"
    with huge.open("wb") as stream:
        stream.truncate(100 << 30)
    with pytest.raises(UnreadableInputError, match="are read from one file"):
        list(rows_of(huge))


def test_that_a_header_of_any_length_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x" * 3_000_000)
    assert len("".join(header_of(path))) <= 1 << 20
    path.write_text('image,"two\nlines"\n1,2\n')
    assert header_of(path) == ["image", "two\nlines"]


def test_that_a_line_of_any_length_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_files, "LONGEST_LINE", 10)
    path = tmp_path / "a.tsv"
    path.write_text("short\n" + "x" * 50)
    with path.open() as stream, pytest.raises(ValueError, match="too long"):
        list(bounded_lines(stream))


@pytest.mark.parametrize(
    ("written", "lies"),
    [
        ("a/b.png", "a/b.png"),
        ("/etc/passwd", "passwd"),
        ("../../b.png", "b.png"),
        ("a/..", "_"),
        ("C:\\b.png", "b.png"),
    ],
)
def test_that_a_missing_image_should_lie_below_the_folder(
    tmp_path: Path, written: str, lies: str
) -> None:
    assert missing_path(tmp_path, written) == tmp_path / lies
