"""Where the millimetres of a DICOM image are, and where there are none."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydicom.dataset import Dataset

from tests.helpers.make_dicom import dicom_dataset, make_dicom, save_dicom
from tests.helpers.public_files import pydicom_file
from viewer.domain.case import ImageRef
from viewer.domain.image_geometry import Spacing, SpacingMeaning
from viewer.readers.annotation import corner_text
from viewer.readers.dicom.spacing import spacing
from viewer.readers.headers import load_geometry, read_file_header
from viewer.readers.pixels import load_pixels

PIXELS = np.arange(48, dtype=np.uint16).reshape(6, 8)
PATIENT, DETECTOR, CALIBRATED, SCANNED, REGION, UNKNOWN = (
    SpacingMeaning.PATIENT,
    SpacingMeaning.DETECTOR,
    SpacingMeaning.CALIBRATED,
    SpacingMeaning.SCANNED,
    SpacingMeaning.REGION,
    SpacingMeaning.UNKNOWN,
)
PIXEL = {"PixelSpacing": [0.2, 0.1]}
IMAGER = {"ImagerPixelSpacing": [0.2, 0.1]}
NOMINAL = {"NominalScannedPixelSpacing": [0.2, 0.1]}


@pytest.mark.parametrize(
    ("header", "meaning"),
    [
        ({"Modality": "CT"} | PIXEL, PATIENT),
        ({"Modality": "MR"} | PIXEL, PATIENT),
        ({"Modality": "US"} | PIXEL, PATIENT),
        ({"Modality": "CR"} | PIXEL, DETECTOR),
        ({"Modality": "DR"} | PIXEL, DETECTOR),
        ({"Modality": "DX"} | IMAGER, DETECTOR),
        ({"Modality": "DX"} | IMAGER | PIXEL, DETECTOR),
        ({"Modality": "DX", "ImagerPixelSpacing": [0.3, 0.15]} | PIXEL, CALIBRATED),
        (
            {"Modality": "DX", "PixelSpacingCalibrationType": "FIDUCIAL"} | PIXEL,
            SpacingMeaning.FIDUCIAL,
        ),
        ({"Modality": "DX", "PixelSpacing": [0, 0]} | IMAGER, DETECTOR),
        ({"Modality": "DX", "PixelSpacing": [0, 0]} | NOMINAL, SCANNED),
        ({"Modality": "DX", "ImagerPixelSpacing": [0, 0]} | PIXEL, DETECTOR),
        ({"Modality": "CR"} | NOMINAL, SCANNED),
        ({"Modality": "OT"} | NOMINAL, SCANNED),
        ({"Modality": "OT"} | NOMINAL | PIXEL, SCANNED),
        (
            {"Modality": "OT", "NominalScannedPixelSpacing": [0.3, 0.3]} | PIXEL,
            CALIBRATED,
        ),
        (
            {"Modality": "OT", "PixelSpacingCalibrationType": "GEOMETRY"} | PIXEL,
            SpacingMeaning.MAGNIFIED,
        ),
        ({"Modality": "OT"} | PIXEL, UNKNOWN),
        ({"Modality": "SC"} | PIXEL, UNKNOWN),
        ({"Modality": None} | PIXEL, UNKNOWN),
    ],
    ids=str,
)
def test_that_spacing_says_what_it_measures(
    tmp_path: Path, header: dict[str, Any], meaning: SpacingMeaning
) -> None:
    path = make_dicom(tmp_path / "a.dcm", PIXELS, **header)
    expected = Spacing(0.2, 0.1, meaning)
    assert load_pixels(ImageRef(path)).geometry.spacing == expected
    assert load_geometry(ImageRef(path)).spacing == expected


@pytest.mark.parametrize(
    "value",
    [
        ["0", "0"],
        ["0.2", "0"],
        ["-0.2", "0.1"],
        ["0.2"],
        ["0.2x", "0.1"],
        ["", "1"],
        [],
    ],
    ids=str,
)
def test_that_what_is_no_spacing_is_none(value: list[str]) -> None:
    dataset = Dataset()
    dataset.Modality = "CT"
    dataset.add_new("PixelSpacing", "LO", value)
    assert spacing(dataset, 0) is None


def region(**tags: object) -> Dataset:
    """Return a plane of 0.03 by 0.02 cm that covers the image."""
    item = Dataset()
    item.RegionSpatialFormat, item.RegionDataType = 1, 1
    item.PhysicalUnitsXDirection = item.PhysicalUnitsYDirection = 3
    item.RegionLocationMinX0 = item.RegionLocationMinY0 = 0
    item.RegionLocationMaxX1, item.RegionLocationMaxY1 = 7, 5
    item.PhysicalDeltaX, item.PhysicalDeltaY = 0.02, 0.03
    for keyword, value in tags.items():
        setattr(item, keyword, value)
    return item


TRACE = region(
    RegionSpatialFormat=3, PhysicalUnitsXDirection=4, PhysicalUnitsYDirection=7
)
PART = region(RegionLocationMaxX1=3)
OTHER = region(RegionLocationMinX0=4)
FINER = region(RegionLocationMinX0=4, PhysicalDeltaX=0.01)
WITHOUT_UNITS = region(PhysicalUnitsXDirection=0)


@pytest.mark.parametrize(
    ("regions", "meaning"),
    [
        ([region()], PATIENT),
        ([region(PhysicalDeltaY=-0.03)], PATIENT),
        ([region(RegionLocationMaxX1=8, RegionLocationMaxY1=6)], PATIENT),
        ([PART], REGION),
        ([region(RegionLocationMaxY1=4)], REGION),
        ([region(RegionLocationMinY0=1)], REGION),
        ([PART, OTHER], REGION),
        ([PART, TRACE], REGION),
        ([PART, FINER], None),
        ([PART, WITHOUT_UNITS], None),
        ([TRACE], None),
        ([WITHOUT_UNITS], None),
        ([region(PhysicalDeltaX=0.0)], None),
    ],
)
def test_that_ultrasound_regions_give_the_scale_that_they_share(
    tmp_path: Path, regions: list[Dataset], meaning: SpacingMeaning | None
) -> None:
    dataset = dicom_dataset(PIXELS, Modality="US", PixelSpacing=[9, 9])
    dataset.SequenceOfUltrasoundRegions = regions
    path = save_dicom(dataset, tmp_path / "a.dcm")
    found = load_pixels(ImageRef(path)).geometry.spacing
    says = [line.text for line in corner_text(ImageRef(path)).bottom_right]
    if meaning is None:
        assert found is None
        assert "Regions without one scale: no mm" in says
        return
    assert found is not None
    assert found.meaning is meaning
    assert (found.row_mm, found.column_mm) == pytest.approx((0.3, 0.2))
    assert "Regions without one scale: no mm" not in says


@pytest.mark.parametrize(
    ("name", "mm"),
    [
        ("OBXXXX1A.dcm", 0.2622878766196998),
        ("gdcm-US-ALOKA-16.dcm", 0.3826530650258064),
        ("color3d_jpeg_baseline.dcm", 0.5104970559477806),
    ],
)
def test_that_real_ultrasound_is_calibrated_in_its_planes(name: str, mm: float) -> None:
    found = read_file_header(pydicom_file(name)).geometry(0).spacing
    assert found is not None
    assert found.meaning is REGION
    assert (found.row_mm, found.column_mm) == pytest.approx((mm, mm))
