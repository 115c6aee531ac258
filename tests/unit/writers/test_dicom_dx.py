"""Synthetic radiographs as DX images, read back with pydicom and dciodvfy."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pydicom
import pytest

from tests.helpers.make_dicom import DX_HEADER, DX_VALUES
from tests.helpers.phantom_checks import dciodvfy_errors, recognised_iod
from viewer.domain.case import View
from viewer.writers.dicom_dx import DxHeader, derived_uid, dx_bytes, dx_dataset


def _write(path: Path, header: DxHeader) -> Path:
    path.write_bytes(
        dx_bytes(dx_dataset(DX_VALUES, header), compressed=header.compressed)
    )
    return path


@pytest.mark.parametrize("view", [View.FRONTAL, View.LATERAL])
@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("compressed", [False, True])
def test_that_every_kind_of_image_is_a_valid_dx(
    tmp_path: Path, view: View, *, inverted: bool, compressed: bool
) -> None:
    header = replace(DX_HEADER, view=view, inverted=inverted, compressed=compressed)
    path = _write(tmp_path / "image.dcm", header)
    assert dciodvfy_errors(path) == []
    assert recognised_iod(path) == "DXImageForPresentation"
    dataset = pydicom.dcmread(path)
    stored = 4095 - DX_VALUES if inverted else DX_VALUES
    np.testing.assert_array_equal(dataset.pixel_array, stored)
    transfer = dataset.file_meta.TransferSyntaxUID.name
    assert ("JPEG 2000" in transfer) == compressed


def test_that_an_inverted_image_says_so_twice(tmp_path: Path) -> None:
    dataset = pydicom.dcmread(_write(tmp_path / "a", replace(DX_HEADER, inverted=True)))
    assert dataset.PhotometricInterpretation == "MONOCHROME1"
    assert dataset.PresentationLUTShape == "INVERSE"
    assert dataset.PixelIntensityRelationshipSign == 1


def test_that_the_tags_say_what_the_picture_shows(tmp_path: Path) -> None:
    frontal = pydicom.dcmread(_write(tmp_path / "a", DX_HEADER))
    assert frontal.ViewPosition == "PA"
    assert list(frontal.PatientOrientation) == ["L", "F"]
    assert frontal.ImagerPixelSpacing == [0.875, 0.875]
    assert frontal.BitsStored == 12
    lateral = pydicom.dcmread(
        _write(tmp_path / "b", replace(DX_HEADER, view=View.LATERAL))
    )
    assert lateral.ViewPosition == "LL"
    assert list(lateral.PatientOrientation) == ["P", "F"]


def test_that_the_tags_say_phantom(tmp_path: Path) -> None:
    dataset = pydicom.dcmread(_write(tmp_path / "a", DX_HEADER))
    for tag in ("PatientName", "PatientID", "ImageComments", "StudyDescription"):
        assert str(dataset[tag].value).startswith("PHANTOM")


def test_that_uids_depend_on_the_names_alone_and_are_valid() -> None:
    one = derived_uid("a", "b")
    assert one == derived_uid("a", "b")
    assert one != derived_uid("ab", "")
    assert pydicom.uid.UID(one).is_valid


def test_that_the_same_image_gives_the_same_bytes() -> None:
    header = replace(DX_HEADER, compressed=True)
    first = dx_bytes(dx_dataset(DX_VALUES, header), compressed=True)
    assert first == dx_bytes(dx_dataset(DX_VALUES, header), compressed=True)
