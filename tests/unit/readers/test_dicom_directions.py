"""A DICOM series keeps its rows and columns; its letters and its order are true."""

from pathlib import Path

import numpy as np
import pytest

from tests.helpers.make_dicom import make_dicom
from tests.helpers.volumes import HEAD, ORDERS, Order
from viewer.readers.catalog import scan
from viewer.readers.pixels import load_pixels

ENDS = {"L": "L", "R": "R", "A": "A", "P": "P", "S": "H", "I": "F"}
"""The letters of DICOM (PS3.3 C.7.6.1.1.1) for those of an order."""
AS_VOLUMES = {
    "LPS": HEAD.transpose(2, 1, 0),
    "LIP": HEAD.transpose(1, 2, 0)[:, ::-1],
    "PIR": HEAD.transpose(0, 2, 1)[::-1, ::-1],
}


def write_series(folder: Path, order: Order) -> None:
    """Write the head's stored slices, a file each, in their stored order."""
    steps = order.direction * order.spacing
    for n, plane in enumerate(order.stored.transpose(2, 1, 0)):
        make_dicom(
            folder / f"{n}.dcm",
            plane.astype(np.uint16),
            Modality="MR",
            SeriesInstanceUID="1.2.3",
            StudyInstanceUID="1.2",
            SOPInstanceUID=f"1.2.3.{n}",
            PixelSpacing=order.spacing[[1, 0]].tolist(),
            ImageOrientationPatient=order.direction[:, :2].ravel("F").tolist(),
            ImagePositionPatient=(order.origin + n * steps[:, 2]).tolist(),
        )


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_that_a_series_is_shown_as_stored_with_true_letters(
    tmp_path: Path, order: Order
) -> None:
    write_series(tmp_path, order)
    (series,) = scan([tmp_path])[0].studies[0].series
    normal = np.cross(order.direction[:, 0], order.direction[:, 1])
    along = 1 if normal @ order.direction[:, 2] > 0 else -1
    images = [load_pixels(header.ref) for header in series.images]
    values = np.stack([image.values for image in images])
    np.testing.assert_array_equal(values, order.stored.transpose(2, 1, 0)[::along])
    letters = tuple(ENDS[end] for end in str(order)[:2])
    for image, header in zip(images, series.images, strict=True):
        assert image.geometry == header.geometry
        assert image.geometry.letters == letters
    if str(order) in AS_VOLUMES:
        np.testing.assert_array_equal(values, AS_VOLUMES[str(order)])
