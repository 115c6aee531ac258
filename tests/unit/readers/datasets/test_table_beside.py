"""A table beside the images of a folder says what their files do not."""

from pathlib import Path

import numpy as np
import pytest

from tests.helpers.small_datasets import square, write_picture
from viewer.domain.case import Dataset, View
from viewer.readers.datasets.catalog import read_dataset

_MASK = np.where(square(), np.uint8(255), np.uint8(0))
_TABLE = """image,patient,view,Edema,Lung Lesion,age
a.png,one,PA,1,0,61
sub/b.png,one,LL,0,,70
c,two,PA,,,
gone.png,three,PA,1,1,
"""


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    for name in ("a", "sub/b", "c_lat"):
        write_picture(tmp_path / f"{name}.png")
    write_picture(tmp_path / "c.png")
    write_picture(tmp_path / "a.Lung Lesion.png", _MASK)
    (tmp_path / "labels.csv").write_text(_TABLE)
    return read_dataset("folder", tmp_path, "films")


def test_that_patients_views_and_labels_come_from_the_table(dataset: Dataset) -> None:
    of = {image.key: image for image in dataset.images}
    assert {key: image.view for key, image in of.items()} == {
        "a": View.FRONTAL,
        "sub/b": View.LATERAL,
        "c": View.FRONTAL,
        "c_lat": View.LATERAL,
    }
    assert of["a"].patient == of["sub/b"].patient != of["c"].patient
    assert dict(of["a"].labels) == {"Edema": True}
    assert dict(of["sub/b"].labels) == {"Edema": False}
    assert dict(of["c"].labels) == {}


def test_that_what_a_table_contradicts_or_cannot_name_is_noticed(
    dataset: Dataset,
) -> None:
    texts = {notice.subject: notice.text for notice in dataset.notices}
    assert texts == {
        "a": "The table says that Lung Lesion is absent, but it has a mask, used here.",
        "labels.csv": "1 row of it names no image of the folder.",
    }


def test_that_a_folder_without_a_table_is_as_it_was(tmp_path: Path) -> None:
    write_picture(tmp_path / "a.png")
    (tmp_path / "other.csv").write_text("name,finding\n1,2\n")
    dataset = read_dataset("folder", tmp_path, "films")
    assert [image.view for image in dataset.images] == [View.UNKNOWN]


@pytest.mark.parametrize(
    "columns",
    [
        "file,patientid,view",
        "File Name,Patient_ID,View Position",
        "Image Index,SUBJECT-ID,ViewPosition",
        "image_path,subject,VIEW",
        "path,patient,view",
    ],
)
def test_that_the_columns_have_the_names_that_tables_use(
    tmp_path: Path, columns: str
) -> None:
    for name in ("a", "b"):
        write_picture(tmp_path / f"{name}.png")
    (tmp_path / "t.csv").write_text(f"{columns},Edema\na.png,p,PA,1\nb.png,p,LL,0\n")
    dataset = read_dataset("folder", tmp_path, "films")
    first, second = dataset.images
    assert first.patient == second.patient != first.key
    assert [i.view for i in dataset.images] == [View.FRONTAL, View.LATERAL]
    assert [dict(i.labels) for i in dataset.images] == [
        {"Edema": True},
        {"Edema": False},
    ]
    assert [notice.kind for notice in dataset.notices] == ["single_patient"]


def test_that_of_two_columns_for_one_thing_the_plainer_is_read(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_picture(tmp_path / f"{name}.png")
    table = "subject,patientid,Image Index,image\n0,p,1,a\n1,p,0,b\n"
    (tmp_path / "t.csv").write_text(table)
    first, second = read_dataset("folder", tmp_path, "films").images
    assert first.patient == second.patient
    assert dict(first.labels) == {}
