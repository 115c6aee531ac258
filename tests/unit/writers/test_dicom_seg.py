"""Masks as DICOM SEG, read back with pydicom and dciodvfy."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pydicom

from tests.helpers.make_dicom import DX_HEADER, DX_VALUES
from tests.helpers.phantom_checks import dciodvfy_errors, recognised_iod, seg_masks
from viewer.writers import dicom_seg
from viewer.writers.dicom_dx import DATE, TIME, dx_dataset
from viewer.writers.dicom_seg import SEGMENT_CODES, seg_bytes


def _masks() -> dict[str, npt.NDArray[np.bool_]]:
    rng = np.random.default_rng(1)
    masks = {label: rng.random((50, 40)) < 0.3 for label in SEGMENT_CODES}
    masks["Edema"][:] = False
    return masks


def test_that_every_mask_that_is_not_empty_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "seg.dcm"
    masks = _masks()
    path.write_bytes(seg_bytes(dx_dataset(DX_VALUES, DX_HEADER), masks, "c"))
    read = seg_masks(path)
    assert read.keys() == masks.keys() - {"Edema"}
    for label, mask in read.items():
        np.testing.assert_array_equal(mask, masks[label])
    assert dciodvfy_errors(path) == []
    assert recognised_iod(path) == "Segmentation"


def test_that_the_same_masks_give_the_same_bytes() -> None:
    source = dx_dataset(DX_VALUES, DX_HEADER)
    assert seg_bytes(source, _masks(), "c") == seg_bytes(source, _masks(), "c")


def test_that_no_date_or_time_is_taken_from_the_clock(tmp_path: Path) -> None:
    path = tmp_path / "seg.dcm"
    path.write_bytes(seg_bytes(dx_dataset(DX_VALUES, DX_HEADER), _masks(), "c"))
    values = {
        str(element.value)
        for element in pydicom.dcmread(path).iterall()
        if element.VR in {"DA", "TM", "DT"} and element.value
    }
    assert values == {DATE, TIME, DATE + TIME}


def test_that_every_segment_has_a_code_of_its_own() -> None:
    kinds = {code.kind[:2] for code in dicom_seg.SEGMENT_CODES.values()}
    assert len(kinds) == len(SEGMENT_CODES) == 14
