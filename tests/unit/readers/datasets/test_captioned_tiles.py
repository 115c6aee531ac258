from pathlib import Path

import pytest

from tests.helpers.small_datasets import write_picture
from viewer.domain.case import Dataset
from viewer.domain.errors import UnreadableInputError
from viewer.readers.datasets.catalog import formats_of, read_dataset

TABLE = """image,caption,subset,split
a.png,Crowded glands.,Atlas,train
b.png,"Fat, and nothing else.",,
a.png,Again.,,
c.png,,,
,No image.,,
d.png,Bone.,,,more
gone.png,Muscle.,,
"""


def read(root: Path, table: str = TABLE) -> Dataset:
    for name in "abcd":
        write_picture(root / "images" / f"{name}.png")
    (root / "captions.csv").write_text(table, encoding="utf-8")
    return read_dataset("captioned-tiles", root, "tiles")


@pytest.mark.statement("E003-15")
def test_that_each_image_with_its_caption_is_an_item(tmp_path: Path) -> None:
    dataset = read(tmp_path)
    assert formats_of(tmp_path)[0] == "captioned-tiles"
    first, second, missing = dataset.items
    assert first.kind == "Atlas"
    assert first.images == ("a.png",)
    assert first.facts == {
        "caption": "Crowded glands.",
        "subset": "Atlas",
        "split": "train",
    }
    assert second.facts["caption"] == "Fat, and nothing else."
    assert (second.kind, second.facts["split"]) == ("Captioned", "test")
    assert not first.reference
    assert missing.key == "gone.png"
    defects = {image.key: dict(image.defects) for image in dataset.images}
    assert defects == {"a.png": {}, "b.png": {}, "gone.png": {"*": "missing_file"}}


@pytest.mark.statement("E003-15")
def test_that_every_row_that_cannot_be_used_is_told_with_its_line(
    tmp_path: Path,
) -> None:
    told = [
        (notice.subject, notice.text)
        for notice in read(tmp_path).notices
        if notice.kind == "rejected_item"
    ]
    unused = "of captions.csv is not used:"
    assert told == [
        ("a.png", f"Line 4 {unused} its image already has a caption."),
        ("c.png", f"Line 5 {unused} it has no caption."),
        ("captions.csv", f"Line 6 {unused} it names no image."),
        ("d.png", f"Line 7 {unused} it has more cells than there are columns."),
    ]


@pytest.mark.statement("E003-15")
@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("image,caption\na.png,\n", "has images with captions"),
        ("image,words\na.png,Glands.\n", "has the columns image, caption"),
    ],
)
def test_that_a_table_without_captions_gets_a_sentence(
    table: str, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(UnreadableInputError, match=sentence):
        read(tmp_path, table)
