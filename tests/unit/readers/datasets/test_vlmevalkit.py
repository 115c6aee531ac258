import base64
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.small_datasets import write_picture
from viewer.domain.case import Dataset
from viewer.domain.errors import UnreadableInputError
from viewer.readers.datasets.catalog import formats_of, read_dataset
from viewer.readers.datasets.choice_rows import REJECTED
from viewer.readers.datasets.embedded_images import write_image
from viewer.readers.datasets.vlmevalkit import looks

HEADER = ("index", "question", "A", "B", "C", "answer", "category", "split", "image")


def coded(folder: Path, shade: int, suffix: str = ".png") -> str:
    """Return a picture of one grey as base64."""
    path = write_picture(
        folder / f"p{shade}{suffix}", np.full((6, 8), shade, dtype=np.uint8)
    )
    return base64.b64encode(path.read_bytes()).decode()


def written(table: Path, *rows: tuple[str, ...]) -> Dataset:
    table.parent.mkdir(parents=True, exist_ok=True)
    lines = "\n".join("\t".join(row) for row in (HEADER, *rows))
    table.write_text(lines + "\n", encoding="utf-8")
    return read_dataset("vlmevalkit", table, "tiles")


@pytest.mark.statement("E003-01")
def test_that_rows_become_items_and_their_images_files_beside_the_table(
    tmp_path: Path,
) -> None:
    one, two = coded(tmp_path, 1), coded(tmp_path, 2, ".jpg")
    dataset = written(
        tmp_path / "d" / "PathMMU_VAL.tsv",
        ("0", "What?", "this", "that", "", "B", "PubMed", "val", one),
        ("1", "Else?", "x", "y", "z", "C", "Atlas", "", "0"),
        ("2", "Both?", "x", "y", "", "A", "", "test-tiny", f"['{one}', '{two}']"),
    )
    first, second, third = dataset.items
    assert (first.key, first.reference["option"]) == ("PubMed-val-0", 1)
    assert first.facts["options"] == ["this", "that"]
    assert first.reference["written"] == ["A) this", "B) that"]
    assert second.key == "Atlas-val-1"
    assert second.images == first.images
    assert third.key == "PathMMU_VAL-test_tiny-2"
    assert third.images[0] == first.images[0]
    assert third.images[1].endswith(".jpg")
    files = {p.name for p in (tmp_path / "d" / "PathMMU_VAL_images").iterdir()}
    assert files == set(third.images)
    assert formats_of(tmp_path / "d")[0] == "vlmevalkit"
    assert not dataset.images[0].defects


@pytest.mark.statement("E003-01")
def test_that_odd_cells_are_named_and_nothing_is_guessed(tmp_path: Path) -> None:
    dataset = written(
        tmp_path / "test.tsv",
        ("0", "What?", "x", "", "z", "A", "P", "", coded(tmp_path, 1)),
        ("1", "What?", "x", "y", "", "C", "P", "", ""),
        ("2", "What?", "x", "y", "", "A", "P", "", "9"),
        ("3", "What?", "x", "y", "", "A", "P", "", "[" + "?" * 80),
        ("5", "What?", "x", "y", "", "A", "P", "", "no base64 é " * 9),
        ("4", "What?", "x", "y", "", "A", "P", "", ""),
    )
    kinds = {(n.kind, n.subject) for n in dataset.notices}
    assert {s for kind, s in kinds if kind == REJECTED} == {"P-test-0", "P-test-1"}
    assert ("missing_file", "image 1 of row 2") in kinds
    assert ("no_image", "P-test-4") in kinds
    assert ("unreadable", "image 1 of row 3") in kinds
    assert ("unreadable", "image 1 of row 5") in kinds
    assert {dict(image.defects)["*"] for image in dataset.images} == {
        *("missing_file", "unreadable"),
    }


@pytest.mark.statement("E003-01")
def test_that_a_second_import_writes_nothing_and_reads_the_same(
    tmp_path: Path,
) -> None:
    table = tmp_path / "val.tsv"
    row = ("0", "What?", "x", "y", "", "A", "P", "", coded(tmp_path, 1))
    before = written(table, row)
    path = before.images[0].ref.path
    time = path.stat().st_mtime_ns
    assert read_dataset("vlmevalkit", tmp_path, "tiles") == before
    assert path.stat().st_mtime_ns == time


@pytest.mark.statement("E003-01")
def test_that_other_tables_and_folders_get_one_sentence(tmp_path: Path) -> None:
    other = tmp_path / "other.tsv"
    other.write_bytes(b"a\tb\n1\t2\n")
    assert not looks(other)
    with pytest.raises(UnreadableInputError, match="not a table of questions"):
        read_dataset("vlmevalkit", other, "x")
    broken = tmp_path / "broken.tsv"
    broken.write_bytes("\t".join(HEADER).encode() + b"\n0\t\xff\xfe\n")
    with pytest.raises(
        UnreadableInputError, match="cannot be read as tab-separated values"
    ):
        read_dataset("vlmevalkit", broken, "x")
    with pytest.raises(UnreadableInputError, match="contains no usable"):
        written(tmp_path / "none" / "none.tsv")
    binary = tmp_path / "binary.tsv"
    binary.write_bytes(b"\xff\xfe\x00")
    assert not looks(binary)


@pytest.mark.statement("E003-01")
def test_that_images_that_cannot_be_unpacked_get_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "val_images").write_text("a file where the folder should be")
    row = ("0", "What?", "x", "y", "", "A", "P", "", coded(tmp_path / "p", 1))
    with pytest.raises(UnreadableInputError, match="cannot be unpacked") as raised:
        written(tmp_path / "val.tsv", row)
    assert raised.value.how


@pytest.mark.statement("E003-01")
@pytest.mark.parametrize("suffix", [".png", ".jpg", ".tif"])
def test_that_an_image_that_is_cut_off_is_no_image(suffix: str, tmp_path: Path) -> None:
    whole = coded(tmp_path / "p", 1, suffix)
    cut = whole if suffix == ".tif" else whole[:-20]
    rows = [
        (str(i), f"What {i}?", "x", "y", "", "A", "P", "", image)
        for i, image in enumerate((whole, cut, whole[:5] + "." * 80))
    ]
    dataset = written(tmp_path / "d" / "val.tsv", *rows)
    told = [(n.subject, n.text) for n in dataset.notices if n.kind == "unreadable"]
    sentence = "Its base64 is cut off."
    both = [("image 1 of row 1", sentence)] if suffix != ".tif" else []
    assert told == [*both, ("image 1 of row 2", sentence)]
    assert [p.suffix for p in (tmp_path / "d" / "val_images").iterdir()] == [suffix]


@pytest.mark.statement("E003-01")
def test_that_images_named_by_path_lie_anywhere_beside_the_table(
    tmp_path: Path,
) -> None:
    write_picture(tmp_path / "shown" / "a.png")
    table = tmp_path / "val.tsv"
    table.write_text(
        "index\tquestion\tA\tB\tanswer\timage_path\n0\tWhat?\tx\ty\tB\tshown/a.png\n"
    )
    (image,) = read_dataset("vlmevalkit", table, "tiles").images
    assert image.size.columns == 8
    assert not image.defects


@pytest.mark.statement("E003-01")
def test_that_a_table_without_images_is_asked_in_words(tmp_path: Path) -> None:
    table = tmp_path / "val.tsv"
    table.write_text("index\tquestion\tA\tB\tanswer\n0\tWhat?\tx\ty\tB\n")
    dataset = read_dataset("vlmevalkit", table, "tiles")
    assert [item.key for item in dataset.items] == ["val-val-0"]
    assert dataset.images == ()


@pytest.mark.statement("E003-01")
def test_that_a_row_of_too_many_cells_is_not_guessed_at(tmp_path: Path) -> None:
    dataset = written(
        tmp_path / "val.tsv",
        ("0", "What?", "x", "y", "", "A", "P", "", "", "more"),
        ("1", "What?", "x", "y", "", "A", "P", "", ""),
    )
    assert [item.key for item in dataset.items] == ["P-val-1"]
    assert dataset.notices[0].text == (
        "Its row has more cells than the table has columns."
    )


@pytest.mark.statement("E003-03")
def test_that_27_options_are_more_than_letters_tell_apart(tmp_path: Path) -> None:
    letters = [*(chr(65 + i) for i in range(26)), "AA"]
    lines = [
        "\t".join(("index", "question", *letters, "answer")),
        "\t".join(("0", "Which?", *map(str, range(27)), "AA")),
        "\t".join(("1", "Which?", *map(str, range(26)), "", "Z")),
    ]
    table = tmp_path / "val.tsv"
    table.write_text("\n".join(lines) + "\n")
    dataset = read_dataset("vlmevalkit", table, "tiles")
    assert [item.reference["option"] for item in dataset.items] == [25]
    assert "27 options" in dataset.notices[0].text


def test_that_images_are_not_unpacked_through_links(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    kept = elsewhere / "kept.txt"
    kept.write_text("mine")
    folder = tmp_path / "images"
    folder.mkdir()
    (folder / "a.part").symlink_to(kept)
    write_image(folder / "a.png", b"picture")
    assert kept.read_text() == "mine"
    assert (folder / "a.png").read_bytes() == b"picture"
    (tmp_path / "link").symlink_to(elsewhere)
    with pytest.raises(UnreadableInputError, match="link, which is a link"):
        write_image(tmp_path / "link" / "a.png", b"picture")
    assert list(elsewhere.iterdir()) == [kept]
