"""Questions that cannot be asked, each told in a sentence when they are imported."""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.small_datasets import write_picture
from viewer.cli import run_command_line

Told = dict[str, str]


def _entry(number: int, **changed: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    return {
        "No": number,
        "img": "a.png",
        "question": f"What is it, {number}?",
        "options": ["A) this", "B) that"],
        "answer": "B) that",
        **changed,
    }


def _imported(
    format_name: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> tuple[set[str], Told]:
    """Import a folder; return the keys of its items, and the sentences by subject."""
    store = ["--store", str(root.parent / "s.sqlite")]
    capsys.readouterr()
    words = ["import", format_name, str(root), "--name", "tiles", *store]
    assert run_command_line(words) == 0
    told = dict(line.split(": ", 1) for line in capsys.readouterr().err.splitlines())
    assert run_command_line(["cases", "tiles", *store, "--json"]) == 0
    items = json.loads(capsys.readouterr().out)["items"]
    return {one["item"] for one in items}, told


def _pictures(root: Path) -> None:
    shades = {"a": 10, "b": 90, "copy": 10}
    for name, shade in shades.items():
        pixels = np.full((6, 8), shade, dtype=np.uint8)
        write_picture(root / "images" / f"{name}.png", pixels)
    (root / "images" / "broken.png").write_text("no image")


@pytest.mark.statement("E003-01", "E003-03")
def test_that_each_bad_question_of_data_json_is_told_and_no_other_is_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "tiles"
    _pictures(root)
    many = [f"{chr(65 + i)}) {i}" for i in range(26)]
    brackets = ["A) CD3(+) CD20(-)", "B) CD3(+) CD20(+)"]
    test = [
        _entry(1, options=brackets, answer=brackets[1], img="b.png"),
        _entry(2, answer="C) else"),
        _entry(3, options=[*many, "AA) 26"], answer="A) 0"),
        _entry(4, options=["A) this"], answer="A) this"),
        _entry(5, img="gone.png"),
        _entry(6, img="broken.png"),
        _entry(7, img=None),
        _entry(8, options=many, answer="Z) 25"),
        _entry(9, question=" "),
        _entry(10, options=["A) this", "B) "]),
        _entry(11, options=["A) that", "B) that"], answer="that"),
        _entry(12, answer="A) that"),
    ]
    table = {"PubMed": {"val": [_entry(20, img="copy.png")], "test": test}}
    (root / "data.json").write_text(json.dumps(table), encoding="utf-8")
    kept, told = _imported("pathmmu", root, capsys)
    assert kept == {
        "PubMed-val-20",
        *(f"PubMed-test-{number}" for number in (1, 5, 6, 7, 8)),
    }
    letters = "2 to 26 can be lettered."
    assert told == {
        "PubMed-test-2": "Its answer is not one of its options.",
        "PubMed-test-3": f"It has 27 options; {letters}",
        "PubMed-test-4": f"It has 1 option; {letters}",
        "PubMed-test-7": "It has no image, so it can only be asked as text.",
        "PubMed-test-9": "It has no question.",
        "PubMed-test-10": "Its option B is empty.",
        "PubMed-test-11": (
            "Its answer's words are those of A and of B, and no letter decides."
        ),
        "PubMed-test-12": "Its answer's letter is A, but its words are those of B.",
        "gone.png": "Its file gone.png is not in the folder.",
        "broken.png": told["broken.png"],
        "copy.png": "The same image is in val and, as a.png, in test.",
    }
    assert told["broken.png"].startswith("broken.png cannot be read")


@pytest.mark.statement("E003-01")
def test_that_each_bad_row_of_a_tsv_is_told_by_its_question(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "table"
    path = write_picture(tmp_path / "a.png", np.full((60, 80), 7, dtype=np.uint8))
    image = base64.b64encode(path.read_bytes()).decode()
    header = ["index", "question", *"ABC", "answer", "category", "split", "image"]
    rows = [
        ["0", "Good?", "x", "y", "", "B", "P", "test", image],
        ["1", "Letters?", "x", "y", "", "B", "P", "test", "A" * 100],
        ["2", "No base64?", "x", "y", "", "B", "P", "test", "é no base64 " * 9],
        ["3", "Shares?", "x(", ")y", "", "A", "P", "test", "0"],
        ["4", "Shares none?", "x", "y", "", "A", "P", "test", "99"],
        ["5", "One option?", "x", "", "", "A", "P", "test", "0"],
        ["6", "Outside?", "x", "y", "", "C", "P", "test", "0"],
        ["7", "Elsewhere?", "x", "y", "", "A", "P", "val", image],
        ["8", "Cut image?", "x", "y", "", "A", "P", "test", image[:-30]],
        ["9", "Cut off he"],
    ]
    root.mkdir()
    text = "\n".join("\t".join(row) for row in [header, *rows])
    (root / "tiles.tsv").write_text(text, encoding="utf-8")
    kept, told = _imported("vlmevalkit", root, capsys)
    (name,) = (p.name for p in (root / "tiles_images").iterdir())
    assert kept == {"P-val-7", *(f"P-test-{n}" for n in (0, 1, 2, 3, 4, 8))}
    none = "Its base64 is not a PNG, JPEG or TIFF."
    assert told == {
        "image 1 of row 1": none,
        "image 1 of row 2": none,
        "image 1 of row 4": "Its cell is neither base64 nor the index of an earlier "
        "row.",
        "P-test-5": "It has 1 option; 2 to 26 can be lettered.",
        "P-test-6": "Its answer is not one of its options.",
        "image 1 of row 8": "Its base64 is cut off.",
        "tiles-test-9": (
            "Its row has 2 of the table's 9 cells; the file may be cut off."
        ),
        name: f"The same image is in test and, as {name}, in val.",
    }


HEADER = b"index\tquestion\tA\tB\tanswer\n"
CUT = json.dumps({"PubMed": {"test": [_entry(1)]}})[:-30].encode()


@pytest.mark.statement("E003-01")
@pytest.mark.parametrize(
    ("format_name", "name", "content", "sentence"),
    [
        ("pathmmu", "data.json", CUT, "data.json is not JSON."),
        ("pathmmu", "data.json", b"\xff\xfe{", "data.json is not JSON."),
        (
            "pathmmu",
            "data.json",
            b"[]",
            "data.json is not laid out as PathMMU's table.",
        ),
        ("pathmmu", "data.json", b"{}", "data.json contains no usable question"),
        ("vlmevalkit", "t.tsv", b"index\tA\n0\tx\n", "is not a table of questions"),
        ("vlmevalkit", "t.tsv", HEADER, "t.tsv contains no usable question"),
        (
            "vlmevalkit",
            "t.tsv",
            HEADER + b"0\t\xff",
            "cannot be read as tab-separated values",
        ),
        (
            "vlmevalkit",
            "t.tsv",
            HEADER + b'0\t"What?\tx\ty\tA\n1\tElse?\tx\ty\tB\n',
            "t.tsv has a quote that is never closed",
        ),
        (
            "labelled-tiles",
            "one/a.png",
            b"",
            "does not have images in at least two folders",
        ),
        ("captioned-tiles", "t.csv", b"image,caption\n", "images with captions"),
    ],
)
def test_that_a_file_of_no_questions_gets_one_sentence_and_code_2(
    format_name: str,
    name: str,
    content: bytes,
    sentence: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "data" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    store = ["--store", str(tmp_path / "s.sqlite")]
    words = ["import", format_name, str(tmp_path / "data"), *store]
    assert run_command_line(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert sentence in line
    assert line.count(". ") >= 1
