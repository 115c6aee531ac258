"""Plain folders of images and masks."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.helpers.make_dicom import make_dicom
from tests.helpers.make_presentation import write_state
from tests.helpers.small_datasets import square, write_dicom, write_picture
from viewer.domain.case import Dataset, DatasetImage, ImageRef, View
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.readers.datasets.folder import read, read_image
from viewer.readers.datasets.naming import named_view
from viewer.readers.folders import list_files
from viewer.readers.pixels import load_pixels
from viewer.writers.mark_files import key_objects

MASK = square().astype(np.uint8) * 255


def _kinds(dataset: Dataset) -> set[tuple[str, str]]:
    return {(notice.kind, notice.subject) for notice in dataset.notices}


def _image(dataset: Dataset, key: str) -> DatasetImage:
    return next(image for image in dataset.images if image.key == key)


def test_that_a_png_named_after_a_finding_is_its_mask(tmp_path: Path) -> None:
    write_picture(tmp_path / "one_frontal.jpg")
    write_picture(tmp_path / "one_frontal.Lung Lesion.png", MASK)
    write_picture(tmp_path / "one_frontal.lung_opacity.png", MASK // 255)
    dataset = read(tmp_path, "x")
    assert [image.key for image in dataset.images] == ["one_frontal"]
    masks = _image(dataset, "one_frontal").masks
    assert set(masks) == {"Lung Lesion", "Lung Opacity"}
    assert np.array_equal(masks["Lung Lesion"].array(), square())
    assert np.array_equal(masks["Lung Opacity"].array(), square())


@pytest.mark.parametrize(
    ("image", "mask", "finding"),
    [
        ("images/a_b.jpg", "lung_masks/a_b_lungmask.png", "lung"),
        ("images/a_b.jpg", "lung_masks/a_b.png", "lung"),
        ("images/a_b.jpg", "masks/a_b.Lung Lesion.png", "Lung Lesion"),
        ("images/a_b.jpg", "masks/pleural effusion/a_b.png", "Pleural Effusion"),
        ("images/train/a_b.jpg", "masks/train/a_b.png", "Finding"),
        ("a_b.jpg", "Masks/a_b_mask_1.png", "Finding"),
        ("train/images/a_b.jpg", "train/nodule-masks/a_b.png", "nodule"),
        ("images/1.2.840.7", "segmentations/1.2.840.7_nodule.png", "nodule"),
    ],
)
def test_that_a_picture_in_a_folder_of_masks_is_the_mask_of_its_image(
    tmp_path: Path, image: str, mask: str, finding: str
) -> None:
    write_picture(tmp_path / mask, MASK)
    write_picture(tmp_path / "images" / "a.png")
    if image.endswith(".7"):
        write_dicom(tmp_path / image)
    else:
        write_picture(tmp_path / image)
    dataset = read(tmp_path, "x")
    keys = {image.removesuffix(".jpg"), "images/a"}
    assert {image.key for image in dataset.images} == keys
    assert set(_image(dataset, image.removesuffix(".jpg")).masks) == {finding}
    assert {file.path for file in list_files([tmp_path])} == {
        image.ref.path for image in dataset.images
    }


def test_that_masks_in_a_folder_that_name_no_finding_or_image_are_noticed(
    tmp_path: Path,
) -> None:
    for name in ("images/a.png", "images/b.png", "other/b.png"):
        write_picture(tmp_path / name)
    for name in ("masks/a.png", "masks/b.png", "masks/c.png"):
        write_picture(tmp_path / name, MASK)
    dataset = read(tmp_path, "x")
    assert _kinds(dataset) >= {
        ("finding_unnamed", ""),
        ("mask_without_image", "masks/c.png"),
    }
    assert set(_image(dataset, "images/a").masks) == {"Finding"}
    assert _image(dataset, "images/b").defects == {"Finding": "mask_unreadable"}


def test_that_pictures_of_no_image_are_images_whatever_their_folder_is_called(
    tmp_path: Path,
) -> None:
    write_picture(tmp_path / "masks" / "a.png")
    write_picture(tmp_path / "b.png")
    assert [image.key for image in read(tmp_path, "x").images] == ["b", "masks/a"]
    assert len(list(list_files([tmp_path]))) == 2


@pytest.mark.parametrize("suffix", ["jpg", "tif", "bmp", "gif", "webp"])
def test_that_a_mask_of_another_format_is_no_film(tmp_path: Path, suffix: str) -> None:
    write_picture(tmp_path / "ref.png")
    write_picture(tmp_path / f"ref.nodule.{suffix}", MASK)
    dataset = read(tmp_path, "x", View.FRONTAL)
    assert [image.key for image in dataset.images] == ["ref"]
    (mask,) = _image(dataset, "ref").masks.values()
    overlap = (mask.array() & square()).sum() / (mask.array() | square()).sum()
    assert overlap > 0.95


def test_that_a_number_in_a_name_is_no_finding(tmp_path: Path) -> None:
    for name in ("1.2.840.jpg", "1.2.840.7.jpg", "1.2.840.7.png", "scan.001.png"):
        write_picture(tmp_path / name)
    keys = [image.key for image in read(tmp_path, "x").images]
    assert keys == ["1.2.840", "1.2.840.7.jpg", "1.2.840.7.png", "scan.001"]


def test_that_what_is_odd_about_a_mask_is_told(tmp_path: Path) -> None:
    write_picture(tmp_path / "a_pa.png")
    write_picture(tmp_path / "a_pa.Edema.jpg", MASK)
    write_picture(tmp_path / "a_pa.Mass.png", 255 - MASK)
    texts = [notice.text for notice in read(tmp_path, "x").notices]
    jpeg = (
        "The mask of Edema is a JPEG, which alters values and edges; write it as PNG."
    )
    assert jpeg in texts
    share = f"{1 - square().mean():.0%}"
    large = f"The mask of Mass covers {share} of the image; it may mark what is not "
    assert f"{large}the finding." in texts


def test_that_a_mask_that_leaves_the_finding_open_is_no_reference(
    tmp_path: Path,
) -> None:
    write_picture(tmp_path / "a_pa.png")
    write_picture(tmp_path / "a_pa.Edema.png", MASK // 255 + 1)
    dataset = read(tmp_path, "x")
    assert _image(dataset, "a_pa").defects == {"Edema": "mask_unreadable"}
    (text,) = [n.text for n in dataset.notices if n.kind == "mask_unreadable"]
    assert text == (
        "The mask of Edema cannot be used: a_pa.Edema.png contains the values 1 "
        "and 2, neither of which is 0. Write a grey PNG: 0 outside the finding, "
        "255 inside."
    )


def test_that_an_image_is_as_its_orientation_shows_it_beside_an_upright_mask(
    tmp_path: Path,
) -> None:
    marked = np.zeros((30, 30), np.uint8)
    marked[3:9, 4:20] = 255
    exif = Image.Exif()
    exif[0x0112] = 6
    stored = Image.fromarray(np.rot90(marked))  # a quarter turn against the clock
    stored.save(tmp_path / "a_pa.jpg", quality=95, exif=exif)
    Image.fromarray(marked).save(tmp_path / "a_pa.Mass.png")
    dataset = read(tmp_path, "x")
    image = _image(dataset, "a_pa")
    shown = load_pixels(image.ref).values > 127
    assert np.array_equal(shown, image.masks["Mass"].array())
    assert ("turned", "a_pa") in _kinds(dataset)


def test_that_an_upright_mask_has_the_size_of_the_turned_image(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 8
    Image.new("L", (50, 30)).save(tmp_path / "a_pa.jpg", exif=exif)
    write_picture(tmp_path / "a_pa.Mass.png", np.eye(50, 30, dtype=np.uint8))
    image = _image(read(tmp_path, "x"), "a_pa")
    assert (image.size, dict(image.defects)) == (SizePx(50, 30), {})


def test_that_a_dot_in_an_image_name_does_not_make_it_a_mask(tmp_path: Path) -> None:
    write_picture(tmp_path / "scan.v2_pa.png")
    write_picture(tmp_path / "scan.v2_pa.Edema.png", MASK)
    dataset = read(tmp_path, "x")
    assert [image.key for image in dataset.images] == ["scan.v2_pa"]
    assert set(_image(dataset, "scan.v2_pa").masks) == {"Edema"}


def test_that_keys_are_paths_below_the_folder_and_never_collide(
    tmp_path: Path,
) -> None:
    for name in ("a/b_pa.png", "a_b_pa.png", "c_pa.png", "c_pa.jpg"):
        write_picture(tmp_path / name)
    keys = [image.key for image in read(tmp_path, "x").images]
    assert keys == ["a/b_pa", "a_b_pa", "c_pa.jpg", "c_pa.png"]


def test_that_a_mask_of_two_images_of_one_name_is_used_for_neither(
    tmp_path: Path,
) -> None:
    write_picture(tmp_path / "c_pa.png")
    write_picture(tmp_path / "c_pa.jpg")
    write_picture(tmp_path / "c_pa.Edema.png", MASK)
    dataset = read(tmp_path, "x")
    for image in dataset.images:
        assert image.defects == {"Edema": "mask_unreadable"}
    assert {("mask_unreadable", "c_pa.jpg"), ("mask_unreadable", "c_pa.png")} <= (
        _kinds(dataset)
    )


def test_that_a_known_mask_without_its_image_is_named(tmp_path: Path) -> None:
    write_picture(tmp_path / "gone.Edema.png", MASK)
    dataset = read(tmp_path, "x")
    assert dataset.images == ()
    assert _kinds(dataset) == {("mask_without_image", "gone.Edema.png")}


def test_that_two_masks_of_one_finding_are_named(tmp_path: Path) -> None:
    write_picture(tmp_path / "a_pa.png")
    write_picture(tmp_path / "a_pa.Lung Opacity.png", MASK)
    write_picture(tmp_path / "a_pa.lung_opacity.png", MASK * 0)
    dataset = read(tmp_path, "x")
    assert ("repeated_masks", "a_pa") in _kinds(dataset)
    assert set(_image(dataset, "a_pa").masks) == {"Lung Opacity"}


def test_that_an_empty_mask_a_wrong_size_and_a_broken_mask_are_told_apart(
    tmp_path: Path,
) -> None:
    write_picture(tmp_path / "a_pa.png")
    write_picture(tmp_path / "a_pa.Edema.png", MASK * 0)
    write_picture(tmp_path / "a_pa.Pneumothorax.png", np.full((3, 3), 1, np.uint8))
    (tmp_path / "a_pa.Atelectasis.png").write_bytes(b"\x89PNG broken")
    dataset = read(tmp_path, "x")
    image = _image(dataset, "a_pa")
    assert image.zero_masks == {"Edema"}
    assert image.defects == {
        "Pneumothorax": "mask_size",
        "Atelectasis": "mask_unreadable",
    }
    assert {("mask_size", "a_pa"), ("mask_unreadable", "a_pa")} <= _kinds(dataset)


def test_that_the_patient_is_a_pseudonym_of_the_patient_id(tmp_path: Path) -> None:
    write_dicom(tmp_path / "a.dcm", patient_id="MRN QX47", view_position="AP")
    write_dicom(tmp_path / "b.dcm", patient_id="MRN QX47", view_position="LL")
    dataset = read(tmp_path, "x")
    assert len({image.patient for image in dataset.images}) == 1
    patient = dataset.images[0].patient
    assert len(patient) == 11
    assert patient.startswith("p")
    assert "QX47" not in repr(dataset.images)


def test_that_a_patient_in_the_path_is_used_and_otherwise_each_image_is_one(
    tmp_path: Path,
) -> None:
    write_picture(tmp_path / "patient00012" / "x_pa.png")
    write_picture(tmp_path / "lone_pa.png")
    dataset = read(tmp_path, "x")
    patients = {image.key: image.patient for image in dataset.images}
    assert patients == {"patient00012/x_pa": "patient00012", "lone_pa": "lone_pa"}
    assert ("unknown_patient", "") in _kinds(dataset)


def test_that_the_view_is_the_files_then_the_names_then_the_persons(
    tmp_path: Path,
) -> None:
    write_dicom(tmp_path / "a_frontal.dcm", view_position="LL")
    write_picture(tmp_path / "b-lat.png")
    write_picture(tmp_path / "c.png")
    dataset = read(tmp_path, "x")
    views = {image.key: image.view for image in dataset.images}
    assert views == {
        "a_frontal": View.LATERAL,
        "b-lat": View.LATERAL,
        "c": View.UNKNOWN,
    }
    assert {("view_disagrees", "a_frontal"), ("unknown_view", "c")} <= _kinds(dataset)
    named = read(tmp_path, "x", View.FRONTAL)
    assert _image(named, "c").view is View.FRONTAL
    assert _image(named, "b-lat").view is View.LATERAL


@pytest.mark.parametrize(
    ("stem", "view"),
    [
        ("x_PA", View.FRONTAL),
        ("x.ap", View.FRONTAL),
        ("view2_lateral", View.LATERAL),
        ("capa", View.UNKNOWN),
        ("flat", View.UNKNOWN),
    ],
)
def test_that_only_a_whole_last_word_names_the_view(stem: str, view: View) -> None:
    assert named_view(stem) is view


def test_that_damaged_and_foreign_files_are_kept_or_named(tmp_path: Path) -> None:
    (tmp_path / "text_pa.dcm").write_text("no radiograph")
    (tmp_path / "readme.txt").write_text("hello")
    (tmp_path / ".hidden").write_text("hello")
    dataset = read(tmp_path, "x")
    assert _image(dataset, "text_pa").defects == {"*": "unreadable"}
    assert _kinds(dataset) == {
        ("unreadable", "text_pa"),
        ("not_an_image", "readme.txt"),
        ("unknown_patient", ""),
    }


def test_that_a_dicom_file_without_a_suffix_is_found(tmp_path: Path) -> None:
    write_dicom(tmp_path / "IM0001", patient_id="1", view_position="PA")
    assert [image.key for image in read(tmp_path, "x").images] == ["IM0001"]


def test_that_each_frame_is_an_image_and_a_mask_beside_them_unused(
    tmp_path: Path,
) -> None:
    write_dicom(tmp_path / "cine.dcm", frames=2, view_position="PA", patient_id="1")
    write_picture(tmp_path / "cine.Edema.png", MASK)
    dataset = read(tmp_path, "x")
    assert [(i.key, i.ref.frame) for i in dataset.images] == [
        ("cine#1", 0),
        ("cine#2", 1),
    ]
    assert dataset.images[0].defects == {"Edema": "mask_unreadable"}


def test_that_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="no folder"):
        read(tmp_path / "absent", "x")


def test_that_the_file_hash_is_that_of_its_bytes(tmp_path: Path) -> None:
    path = write_picture(tmp_path / "a_pa.png")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    assert read(tmp_path, "x").images[0].sha256 == sha256


def test_that_objects_without_a_picture_are_named_and_left_out(
    tmp_path: Path,
) -> None:
    write_dicom(tmp_path / "a.dcm", patient_id="1", view_position="PA")
    write_dicom(tmp_path / "b.dcm", patient_id="1", modality="SEG")
    dataset = read(tmp_path, "x")
    assert [image.key for image in dataset.images] == ["a"]
    assert _kinds(dataset) == {("not_an_image", "b")}


def test_that_one_file_is_a_data_set_of_its_own_with_its_masks(tmp_path: Path) -> None:
    path = write_picture(tmp_path / "a_[1]_pa.png")
    write_picture(tmp_path / "a_[1]_pa.Edema.png", MASK)
    write_picture(tmp_path / "b_pa.png")
    dataset = read_image(path)
    assert [image.key for image in dataset.images] == ["a_[1]_pa"]
    assert set(dataset.images[0].masks) == {"Edema"}
    assert dataset.name == read_image(path).name
    assert read_image(path).images[0].view is View.FRONTAL


def test_that_one_file_without_a_picture_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "liver.dcm"
    write_dicom(path, patient_id="1", modality="SEG")
    with pytest.raises(UnreadableInputError, match="contains segments"):
        read_image(path)


def test_that_one_file_that_is_no_image_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.dcm"
    path.write_text("no radiograph")
    with pytest.raises(UnreadableInputError):
        read_image(path)


def test_that_presentation_states_and_key_objects_are_no_images(tmp_path: Path) -> None:
    image = make_dicom(
        tmp_path / "a.dcm", np.zeros((8, 8), np.uint8), Modality="DX", ViewPosition="PA"
    )
    write_state(tmp_path / "state.dcm", image)
    (tmp_path / "keys.dcm").write_bytes(key_objects([ImageRef(image)]))
    dataset = read(tmp_path, "films")
    assert [found.ref.path for found in dataset.images] == [image]
    told = {(notice.kind, notice.subject) for notice in dataset.notices}
    assert {("not_an_image", "state"), ("not_an_image", "keys")} <= told
    for name, words in (("state", "presentation state"), ("keys", "key images")):
        with pytest.raises(UnreadableInputError, match=words):
            read_image(tmp_path / f"{name}.dcm")
