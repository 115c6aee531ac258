"""The collection on disk: layout, truth, sameness and refusals."""

import csv
from pathlib import Path

import numpy as np
import pydicom
import pytest

from tests.helpers.phantom_checks import (
    dciodvfy_errors,
    disagreements,
    folder_hash,
    json_masks,
)
from viewer.domain.case import View
from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import SizePx
from viewer.imaging.bitmap_font import text_mask
from viewer.readers.datasets.chexlocalize import read
from viewer.services.synthetic import folder as phantom_folder
from viewer.services.synthetic.make_phantom import PhantomSummary, make_phantom
from viewer.services.synthetic.phantom.patient import Finding, make_patient
from viewer.services.synthetic.phantom.projection import cast
from viewer.services.synthetic.phantoms import phantom_for
from viewer.services.synthetic.write_patients import CHEXPERT_LABELS

SIZE = SizePx(200, 160)
N = 4


def _quiet(done: int, total: int) -> None:
    assert done <= total


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> PhantomSummary:
    return make_phantom(tmp_path_factory.mktemp("ph") / "D", N, 0, SIZE, _quiet)


def test_that_the_layout_is_chexperts_and_chexlocalizes(made: PhantomSummary) -> None:
    names = {
        p.relative_to(made.folder).as_posix()
        for p in made.folder.rglob("*")
        if p.is_file()
    }
    expected = {
        "phantom.json",
        "CheXpert/test_labels.csv",
        "CheXlocalize/gt_segmentations_test.json",
        "CheXlocalize/anatomy_test.json",
    }
    for i in range(1, N + 1):
        for view in ("view1_frontal", "view2_lateral"):
            expected.add(f"CheXpert/test/patient{i:05d}/study1/{view}.dcm")
            expected.add(f"seg/patient{i:05d}_study1_{view}.dcm")
    assert names == expected
    assert (made.patients, made.images) == (N, 2 * N)


def test_that_the_mask_files_and_the_segmentations_agree(made: PhantomSummary) -> None:
    assert disagreements(made.folder) == []


def test_that_each_positive_image_has_all_ten_tasks(made: PhantomSummary) -> None:
    truth = json_masks(made.folder / "CheXlocalize" / "gt_segmentations_test.json")
    assert truth
    for masks in truth.values():
        assert set(masks) == {str(f) for f in Finding}
        assert any(m.any() for m in masks.values())
        assert {m.shape for m in masks.values()} == {(SIZE.rows, SIZE.columns)}


def test_that_a_label_is_positive_exactly_where_a_mask_is(made: PhantomSummary) -> None:
    truth = json_masks(made.folder / "CheXlocalize" / "gt_segmentations_test.json")
    with (made.folder / "CheXpert" / "test_labels.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["Path", *CHEXPERT_LABELS]
    assert len(rows) == 2 * N
    for row in rows:
        path = row["Path"]
        assert (made.folder / path).is_file()
        key = "_".join(Path(path).with_suffix("").parts[2:])
        masks = {k: bool(v.any()) for k, v in truth.get(key, {}).items()}
        masks["Lung Opacity"] = masks.pop("Airspace Opacity", False)
        for label in CHEXPERT_LABELS[1:]:
            assert row[label] == ("1.0" if masks.get(label) else "0.0")
        ill = any(v for k, v in masks.items() if k != "Support Devices")
        assert row["No Finding"] == ("0.0" if ill else "1.0")


def test_that_the_files_are_valid_and_of_several_kinds(made: PhantomSummary) -> None:
    images = sorted(made.folder.rglob("view*.dcm"))
    segmentations = sorted((made.folder / "seg").glob("*.dcm"))
    assert [e for p in (*images, *segmentations) for e in dciodvfy_errors(p)] == []
    headers = [pydicom.dcmread(p, stop_before_pixels=True) for p in images]
    assert len({h.PhotometricInterpretation for h in headers}) == 2
    assert len({h.file_meta.TransferSyntaxUID for h in headers}) == 2
    assert len({h.StudyInstanceUID for h in headers}) == N
    assert len({h.SOPInstanceUID for h in headers}) == 2 * N


def test_that_phantom_stands_in_the_pixels_outside_the_body(
    made: PhantomSummary,
) -> None:
    path = made.folder / "CheXpert/test/patient00001/study1/view1_frontal.dcm"
    values = pydicom.dcmread(path).pixel_array
    body = cast(make_patient(0, 0), View.FRONTAL, SIZE).body
    ink = text_mask("PHANTOM", 1)
    rows, columns = ink.shape
    found = [
        (r, c)
        for r in range(values.shape[0] - rows)
        for c in range(values.shape[1] - columns)
        if values[r, c] == 3600
        and (values[r : r + rows, c : c + columns][ink] == 3600).all()
    ]
    assert len(found) == 1
    row, column = found[0]
    assert not body[row : row + rows, column : column + columns].any()


def test_that_another_seed_gives_other_pixels(
    made: PhantomSummary, tmp_path: Path
) -> None:
    path = "CheXpert/test/patient00001/study1/view1_frontal.dcm"
    make_phantom(tmp_path, 1, 1, SIZE, _quiet)
    one, two = (
        pydicom.dcmread(at / path).pixel_array for at in (made.folder, tmp_path)
    )
    assert not np.array_equal(one, two)


def test_that_an_uncompressed_collection_has_no_jpeg(tmp_path: Path) -> None:
    make_phantom(tmp_path / "D", 3, 0, SIZE, _quiet, compress=False)
    images = tmp_path.rglob("view*.dcm")
    headers = [pydicom.dcmread(p, stop_before_pixels=True) for p in images]
    assert not any(h.file_meta.TransferSyntaxUID.is_compressed for h in headers)


def test_that_a_folder_with_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("mine")
    with pytest.raises(WrongUseError, match="already contains something else"):
        make_phantom(tmp_path, 1, 0, SIZE, _quiet)
    assert [p.name for p in tmp_path.iterdir()] == ["letters.txt"]


def test_that_a_collection_of_another_seed_is_refused(made: PhantomSummary) -> None:
    with pytest.raises(WrongUseError, match="same seed"):
        make_phantom(made.folder, N, 1, SIZE, _quiet)


@pytest.mark.parametrize(
    ("n", "seed", "size"),
    [(0, 0, SIZE), (1, -1, SIZE), (1, 0, SizePx(20, 20)), (1, 0, SizePx(9999, 100))],
)
def test_that_numbers_out_of_range_are_refused(
    tmp_path: Path, n: int, seed: int, size: SizePx
) -> None:
    with pytest.raises(WrongUseError):
        make_phantom(tmp_path / "D", n, seed, size, _quiet)
    assert not (tmp_path / "D").exists()


def test_that_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WrongUseError, match="cannot be"):
        make_phantom(tmp_path / "file" / "D", 1, 0, SIZE, _quiet)


def test_that_an_interrupted_collection_is_completed_by_the_same_call(
    made: PhantomSummary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt
        _quiet(done, total)

    with pytest.raises(KeyboardInterrupt):
        make_phantom(tmp_path / "D", N, 0, SIZE, interrupt)
    assert not list(tmp_path.rglob(".*"))
    monkeypatch.setattr(phantom_folder, "_MANY", 2)  # in other processes
    make_phantom(tmp_path / "D", N, 0, SIZE, _quiet)
    # and so is what the same seed draws again, wherever it is drawn
    assert folder_hash(tmp_path / "D") == folder_hash(made.folder)


@pytest.mark.statement("E000-11")
def test_that_a_validation_split_has_other_patients_and_serves_as_examples(
    made: PhantomSummary, tmp_path: Path
) -> None:
    kind = phantom_for("grid_localization", "val")
    other = kind.write(tmp_path / "val", 2, 0, SIZE, _quiet)
    assert kind.then(other.folder) == (f"overread import chexlocalize {other.folder}",)
    test, val = (read(one.folder, one.folder.name) for one in (made, other))
    assert (test.split, val.split) == ("test", "val")
    assert not {i.patient for i in test.images} & {i.patient for i in val.images}
    assert all(image.masks for image in val.images)
    with pytest.raises(WrongUseError, match="pathology_mcq has no val split"):
        phantom_for("pathology_mcq", "val")
