"""Archives that are no bundle: what would leave its folder, or fill the memory."""

import io
import json
import os
import stat
import zipfile
from pathlib import Path

import pytest

from viewer.writers.verify import archive
from viewer.writers.verify.archive import Bundle, opened
from viewer.writers.verify.main import UNREADABLE_FILE, verify_file


def packed(*names: str, mode: int = 0o600, data: bytes = b"x") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for name in names:
            entry = zipfile.ZipInfo("plain")
            entry.filename = name
            entry.external_attr = mode << 16
            made.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def said(data: bytes) -> str:
    bundle, wrong = opened(data)
    assert bundle is None
    return wrong[-1]


@pytest.mark.parametrize(
    "name",
    [
        "../a", "a/../../b", "..", "/etc/passwd", "//server/a", "C:/a", "c:a",
        "a\\..\\b", "\\a", "a:stream", "folder/", "", "a\0b",
    ],
)  # fmt: skip
def test_that_no_file_leaves_its_folder(name: str) -> None:
    assert "outside its folder" in said(packed("manifest.json", name))


def test_that_a_link_is_no_file_of_a_bundle() -> None:
    assert "outside its folder" in said(packed("a", mode=stat.S_IFLNK | 0o777))


@pytest.mark.parametrize("other", ["a.json", "A.json"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_that_no_name_stands_twice_on_any_system(other: str) -> None:
    assert "appears twice" in said(packed("a.json", other))


def test_that_no_more_is_unpacked_than_fits_into_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(archive, "MOST_BYTES", 3 << 20)
    assert "unpacks to more than 3 MB" in said(packed("a", "b", data=bytes(2 << 20)))
    monkeypatch.setattr(archive, "MOST_FILES", 1)
    assert "more than 1 files" in said(packed("a", "b"))


def test_that_a_file_that_hides_its_length_is_not_unpacked_further() -> None:
    data = bytearray(packed("a", data=bytes(1 << 20)))
    length = (1 << 20).to_bytes(4, "little")
    while (at := data.find(length)) >= 0:
        data[at : at + 4] = (10).to_bytes(4, "little")
    assert "cannot be read" in said(bytes(data))


def test_that_other_ways_of_packing_are_refused() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_LZMA) as made:
        made.writestr("a", b"x")
    assert "in an unsupported way" in said(stream.getvalue())


def test_that_nested_json_is_a_sentence() -> None:
    assert said(packed("manifest.json", data=b"[" * 100_000)) == (
        "manifest.json cannot be read."
    )


def test_that_only_files_of_bounded_length_are_read(
    tmp_path: Path,
) -> None:
    os.mkfifo(tmp_path / "pipe.zip")
    huge = tmp_path / "huge.zip"
    with huge.open("wb") as stream:
        stream.truncate(100 << 30)
    for name, says in (("pipe.zip", "is not a file."), ("huge.zip", "is too large")):
        told: list[str] = []
        assert verify_file(tmp_path / name, told.append) == UNREADABLE_FILE
        assert says in told[0]


def test_that_a_reply_may_have_the_line_separators_of_unicode() -> None:
    rows = [{"text": "one\u2028two\u2029three\x85four"}, {"text": "five"}]
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    bundle = Bundle({"replies.jsonl": text.encode()}, {})
    assert list(bundle.lines("replies.jsonl")) == rows
