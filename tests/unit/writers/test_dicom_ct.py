"""A CT slice written is the slice read."""

from pathlib import Path

import numpy as np
import pydicom

from viewer.domain.case import ImageRef
from viewer.readers.catalog import scan
from viewer.readers.pixels import load_pixels
from viewer.writers.dicom_ct import CtSlice, ct_bytes


def test_that_slices_keep_their_values_and_their_order(tmp_path: Path) -> None:
    values = np.arange(-6, 6, dtype=np.int16).reshape(3, 4) * 200
    for number in (2, 0, 1):
        data = ct_bytes(values + number, CtSlice(number, 2.5 * number))
        (tmp_path / f"{9 - number}.dcm").write_bytes(data)
    (case,) = scan([tmp_path])
    images = case.studies[0].series[0].images
    assert [image.ref.path.name for image in images] == ["9.dcm", "8.dcm", "7.dcm"]
    for number, image in enumerate(images):
        read = load_pixels(ImageRef(image.ref.path))
        np.testing.assert_array_equal(read.values, values + number)
        assert read.geometry.spacing is not None


def test_that_a_slice_says_that_it_is_no_person(tmp_path: Path) -> None:
    path = tmp_path / "slice.dcm"
    path.write_bytes(ct_bytes(np.zeros((2, 2), np.int16), CtSlice(0, 0.0)))
    dataset = pydicom.dcmread(path)
    assert dataset.Modality == "CT"
    assert "synthetic" in dataset.PatientComments
    assert dataset.PatientID.startswith("PHANTOM")
