import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.small_datasets import write_picture
from viewer.domain.case import Dataset
from viewer.domain.errors import UnreadableInputError
from viewer.domain.report import Table
from viewer.readers.datasets.catalog import read_dataset
from viewer.readers.datasets.labelled_tiles import MOST_OPTIONS, QUESTION
from viewer.readers.files.xlsx import rows_of_sheet
from viewer.writers.tables import workbook_bytes


def collection(root: Path, *paths: str) -> Dataset:
    for shade, path in enumerate(paths):
        write_picture(root / path, np.full((6, 8), shade, dtype=np.uint8))
    return read_dataset("labelled-tiles", root, "tiles")


@pytest.mark.statement("E003-16")
def test_that_the_label_is_right_and_codes_are_written_out(tmp_path: Path) -> None:
    dataset = collection(
        tmp_path, "TUM/a.png", "NORM/b.png", "well_differentiated/c.png"
    )
    by_image = {item.images[0]: item for item in dataset.items}
    right = {}
    for path, item in by_image.items():
        options, correct = item.facts["options"], item.reference["option"]
        assert isinstance(options, list)
        assert isinstance(correct, int)
        assert len(set(options)) == 3
        assert item.facts["question"] == QUESTION
        assert (item.kind, item.facts["split"]) == ("PathCLS", "test")
        right[path] = options[correct]
    assert right == {
        "TUM/a.png": "Colorectal adenocarcinoma epithelium",
        "NORM/b.png": "Normal colon mucosa",
        "well_differentiated/c.png": "well differentiated",
    }


@pytest.mark.statement("E003-16")
def test_that_splits_are_folders_above_the_labels(tmp_path: Path) -> None:
    dataset = collection(tmp_path, "Train/HP/a.png", "val/SSA/b.png", "set/HP/c.png")
    splits = {item.images[0]: item.facts["split"] for item in dataset.items}
    assert splits["Train/HP/a.png"] == "train"
    assert splits["val/SSA/b.png"] == "val"
    assert splits["set/HP/c.png"] == "test"


@pytest.mark.statement("E003-03", "E003-16")
def test_that_no_question_has_more_than_ten_options_and_letters_are_spread(
    tmp_path: Path,
) -> None:
    paths = [f"label {n}/{i}.png" for n in range(14) for i in range(6)]
    dataset = collection(tmp_path, *paths)
    options = [item.facts["options"] for item in dataset.items]
    sizes = Counter(len(one) for one in options if isinstance(one, list))
    assert sizes == {MOST_OPTIONS: 84}
    letters = Counter(item.reference["option"] for item in dataset.items)
    assert set(letters) == set(range(MOST_OPTIONS))
    again = read_dataset("labelled-tiles", tmp_path, "tiles")
    assert again == dataset


@pytest.mark.statement("E003-16")
def test_that_one_label_alone_is_no_question(tmp_path: Path) -> None:
    with pytest.raises(
        UnreadableInputError, match="not have images in at least two folders"
    ):
        collection(tmp_path, "TUM/a.png", "top.png")


def answers(dataset: Dataset) -> dict[str, tuple[str, str, int]]:
    """Return of each image the split, the right option, and how many there are."""
    found = {}
    for item in dataset.items:
        options, right = item.facts["options"], item.reference["option"]
        assert isinstance(options, list)
        assert isinstance(right, int)
        split = str(item.facts["split"])
        found[item.images[0]] = split, str(options[right]), len(options)
    return found


@pytest.mark.statement("E003-16")
def test_that_mhist_is_read_as_it_is_published(tmp_path: Path) -> None:
    votes = "Number of Annotators who Selected SSA (Out of 7)"
    rows = (
        f"Image Name,Majority Vote Label,{votes},Partition",
        "MHIST_aaa.png,SSA,6,train",
        "MHIST_aab.png,HP,0,test",
    )
    (tmp_path / "annotations.csv").write_text("\n".join(rows))
    dataset = collection(
        tmp_path, *(f"images/MHIST_aa{c}.png" for c in ("a", "b", "c"))
    )
    assert answers(dataset) == {
        "images/MHIST_aaa.png": ("train", "Sessile serrated adenoma", 2),
        "images/MHIST_aab.png": ("test", "Hyperplastic polyp", 2),
    }
    assert [n.kind for n in dataset.notices] == ["not_in_tables"]


def workbook(path: Path, *rows: tuple[str, ...]) -> None:
    """Write a workbook as spreadsheets do: texts shared, numbers in their cells."""
    cells = (cell for row in rows for cell in row if not cell.isdecimal())
    texts = list(dict.fromkeys(cells))
    shared = "".join(f"<si><t>{text}</t></si>" for text in texts)
    lines = "".join(
        f"<row r='{n}'>"
        + "".join(
            f"<c r='{chr(65 + i)}{n}'><v>{cell}</v></c>"
            if cell.isdecimal()
            else f"<c r='{chr(65 + i)}{n}' t='s'><v>{texts.index(cell)}</v></c>"
            for i, cell in enumerate(row)
        )
        + "</row>"
        for n, row in enumerate(rows, 1)
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/sharedStrings.xml", f"<sst>{shared}</sst>")
        sheet = f"<worksheet><sheetData>{lines}</sheetData></worksheet>"
        archive.writestr("xl/worksheets/sheet1.xml", sheet)


@pytest.mark.statement("E003-16")
def test_that_sicapv2_is_read_as_it_is_published(tmp_path: Path) -> None:
    header = ("image_name", "NC", "G3", "G4", "G5", "G4C")
    root = tmp_path / "SICAPv2"
    workbook(
        root / "partition/Test/Train.xlsx",
        header,
        ("a_1.jpg", "1", "0", "0", "0", "0"),
        ("a_2.jpg", "0", "0", "1", "0", "1"),
        ("a_3.jpg", "0", "1", "1", "0", "0"),
    )
    workbook(
        root / "partition/Test/Test.xlsx", header, ("b_1.jpg", "0", "1", "0", "0", "0")
    )
    names = ("a_1", "a_2", "a_3", "b_1")
    paths = [
        *(f"SICAPv2/images/{name}.jpg" for name in names),
        *(f"SICAPv2/masks/{name}.png" for name in names),
    ]
    dataset = collection(tmp_path, *paths)
    assert answers(dataset) == {
        "SICAPv2/images/a_1.jpg": ("train", "Non-cancerous prostate tissue", 3),
        "SICAPv2/images/a_2.jpg": ("train", "Gleason grade 4", 3),
        "SICAPv2/images/b_1.jpg": ("test", "Gleason grade 3", 3),
    }
    notice, *others = dataset.notices
    assert [one.kind for one in others] == ["not_in_tables"]
    assert (notice.kind, notice.subject) == ("several_labels", paths[2])
    assert "2 labels (G3, G4)" in notice.text


@pytest.mark.statement("E003-16")
def test_that_wsss4luad_is_read_as_it_is_published(tmp_path: Path) -> None:
    dataset = collection(
        tmp_path,
        "1.training/1-2-3-[1, 0, 0].png",
        "1.training/1-2-4-[0, 1, 0].png",
        "1.training/1-2-5-[0, 0, 1].png",
        "1.training/1-2-6-[1, 1, 0].png",
        "2.validation/img/01.png",
        "2.validation/mask/01.png",
    )
    assert answers(dataset) == {
        "1.training/1-2-3-[1, 0, 0].png": ("train", "Tumor epithelium", 3),
        "1.training/1-2-4-[0, 1, 0].png": ("train", "Tumor-associated stroma", 3),
        "1.training/1-2-5-[0, 0, 1].png": ("train", "Normal tissue", 3),
    }
    kinds = Counter(notice.kind for notice in dataset.notices)
    assert kinds == {"several_labels": 1, "not_in_tables": 1}


@pytest.mark.statement("E003-16")
def test_that_lc25000_asks_lung_and_colon_apart(tmp_path: Path) -> None:
    base = "lung_colon_image_set"
    dataset = collection(
        tmp_path,
        *(f"{base}/lung_image_sets/lung_{c}/a.jpeg" for c in ("aca", "n", "scc")),
        *(f"{base}/colon_image_sets/colon_{c}/a.jpeg" for c in ("aca", "n")),
    )
    found = answers(dataset)
    lung = found[f"{base}/lung_image_sets/lung_scc/a.jpeg"]
    assert lung == ("test", "Lung squamous cell carcinoma", 3)
    colon = found[f"{base}/colon_image_sets/colon_n/a.jpeg"]
    assert colon == ("test", "Benign colonic tissue", 2)


@pytest.mark.statement("E003-16")
def test_that_crc_100k_has_its_training_and_its_test_set(tmp_path: Path) -> None:
    dataset = collection(
        tmp_path,
        "NCT-CRC-HE-100K/ADI/ADI-AAAFLCLY.tif",
        "NCT-CRC-HE-100K/TUM/TUM-AAAFLCLY.tif",
        "CRC-VAL-HE-7K/ADI/ADI-TCGA-AAICEQFN.tif",
    )
    found = answers(dataset)
    assert found["NCT-CRC-HE-100K/ADI/ADI-AAAFLCLY.tif"] == (
        "train",
        "Adipose tissue",
        2,
    )
    assert found["CRC-VAL-HE-7K/ADI/ADI-TCGA-AAICEQFN.tif"][0] == "test"


@pytest.mark.parametrize(
    "paths",
    [
        ("images/a.png", "masks/a.png"),
        ("TUM/a.png", "NORM/b.png", "1.training/c.png"),
        ("train/img/a.png", "val/img/a.png"),
    ],
)
def test_that_a_layout_that_is_not_understood_is_refused_in_a_sentence(
    tmp_path: Path, paths: tuple[str, ...]
) -> None:
    with pytest.raises(UnreadableInputError, match="not recognised: images are in"):
        collection(tmp_path, *paths)


def test_that_a_workbook_of_our_own_and_a_broken_one_are_told_apart(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(workbook_bytes([Table("t", ("name", "n"), (("é & <", 3),))]))
    assert rows_of_sheet(path) == ({"name": "é & <", "n": "3"},)
    path.write_bytes(b"PK no workbook")
    with pytest.raises(UnreadableInputError, match=r"'a\.xlsx' cannot be read"):
        rows_of_sheet(path)
