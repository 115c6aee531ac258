"""A volume is shown, labelled and placed right, whatever the order of its axes.

What is expected is worked out in the patient's axes, and by SimpleITK's DICOMOrient.
"""

from itertools import product
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation

from tests.helpers.volumes import (
    FRONT,
    HEAD,
    LEFT,
    ORDERS,
    ORIGIN,
    SPACING,
    TOP,
    Order,
    write_head,
    write_volume,
)
from viewer.domain.case import ImageRef
from viewer.domain.image_geometry import ImageGeometry
from viewer.readers.headers import read_file_header
from viewer.readers.masks import load_mask
from viewer.readers.pixels import load_pixels

SUFFIXES: Final = ("nii.gz", "nrrd", "mha")
CONVENTIONS: Final = (
    dict.fromkeys("SI", "LPS") | dict.fromkeys("PA", "LIP") | dict.fromkeys("LR", "PIR")
)
"""Where columns, rows and slices run to when shown, by where stored slices run to."""
SHOWN: Final = {
    2: HEAD.transpose(2, 1, 0),  # to the head; to the back; to the left
    1: HEAD.transpose(1, 2, 0)[:, ::-1],  # to the back; to the feet; to the left
    0: HEAD.transpose(0, 2, 1)[::-1, ::-1],  # to the right; to the feet; to the back
}
LETTERS: Final = {2: ("L", "P"), 1: ("L", "F"), 0: ("P", "F")}
MARKS: Final = {LEFT: (0, 4), FRONT: (1, 0), TOP: (2, 6)}
"""Along which axis of the patient each lies at which end."""
every_order = pytest.mark.parametrize("order", ORDERS, ids=str)


def shown(path: Path) -> tuple[npt.NDArray[np.int16], list[ImageGeometry]]:
    """Return the slices as they are shown, and their geometries."""
    header = read_file_header(path)
    images = [load_pixels(ImageRef(path, n)) for n in range(header.frames)]
    geometries = [image.geometry for image in images]
    assert geometries == [header.geometry(n) for n in range(header.frames)]
    return np.stack([image.values for image in images]), geometries


def places(
    geometries: list[ImageGeometry], shape: tuple[int, ...]
) -> npt.NDArray[np.float64]:
    """Return (slices, rows, columns, 3) where the pixels lie in the patient."""
    found = np.empty((*shape, 3))
    for n, geometry in enumerate(geometries):
        assert geometry.axes is not None
        assert geometry.position is not None
        assert geometry.spacing is not None
        at = geometry.position
        rows, columns = np.indices(shape[1:])[..., None]
        found[n] = (
            np.array([at.x, at.y, at.z])
            + columns * geometry.spacing.column_mm * np.array(geometry.axes[:3])
            + rows * geometry.spacing.row_mm * np.array(geometry.axes[3:])
        )
    return found


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("last", SHOWN)
def test_that_a_head_is_shown_as_radiologists_look_at_it_and_lies_where_it_is(
    tmp_path: Path, suffix: str, last: int
) -> None:
    """Also pixel by pixel in the patient, in every order whose slices run so."""
    orders = [order for order in ORDERS if order.axes[2] == last]
    assert orders
    for order in orders:
        check_head(write_head(tmp_path / f"a.{suffix}", order), last)


def check_head(path: Path, last: int) -> None:
    """Check the pixels, letters and places; axis ``last`` runs from slice to slice."""
    values, geometries = shown(path)
    np.testing.assert_array_equal(values, SHOWN[last])
    assert {geometry.letters for geometry in geometries} == {LETTERS[last]}
    index = (places(geometries, values.shape) - ORIGIN) / SPACING
    np.testing.assert_allclose(index, index.round(), atol=1e-4)
    at = index.round().astype(int)
    np.testing.assert_array_equal(values, HEAD[at[..., 0], at[..., 1], at[..., 2]])
    for mark, (axis, end) in MARKS.items():
        assert (at[values == mark][:, axis] == end).all()


@every_order
def test_that_a_mask_pairs_with_an_image_of_any_order_in_its_plane(
    tmp_path: Path, order: Order
) -> None:
    mask = write_volume(
        tmp_path / "m.nii.gz",
        (order.stored[:, :, :1] == order.stored[:, :, :1].max()).astype(np.uint8),
        order.direction * order.spacing,
        order.origin,
    )
    at = 0 if order.signs[2] == (-1 if order.axes[2] == 0 else 1) else -1
    image = SHOWN[order.axes[2]][at]
    np.testing.assert_array_equal(load_mask(mask), image == image.max())


@pytest.mark.parametrize("turn", list(product((-35, 10, 25), repeat=3)), ids=str)
def test_that_an_oblique_volume_is_shown_by_its_nearest_axes(
    tmp_path: Path, turn: tuple[int, int, int]
) -> None:
    """The turned pixels and their places are those that SimpleITK resamples to."""
    sitk = pytest.importorskip("SimpleITK", reason="it turns the volume to compare")
    order = ORDERS[sum(turn) % len(ORDERS)]
    turned = Rotation.from_euler("xyz", turn, degrees=True).as_matrix()
    direction = turned @ order.direction
    steps = direction * order.spacing
    suffix = SUFFIXES[sum(turn) % len(SUFFIXES)]
    path = write_volume(tmp_path / f"a.{suffix}", order.stored, steps, (1.0, -2.0, 3.0))
    values, geometries = shown(path)
    image = sitk.GetImageFromArray(order.stored.transpose())
    image.SetSpacing(order.spacing.tolist())
    image.SetDirection(direction.ravel().tolist())
    image.SetOrigin((1.0, -2.0, 3.0))
    nearest = sitk.DICOMOrientImageFilter.GetOrientationFromDirectionCosines(
        image.GetDirection()
    )
    expected = sitk.DICOMOrient(image, CONVENTIONS[nearest[2]])
    np.testing.assert_array_equal(values, sitk.GetArrayFromImage(expected))
    found = places(geometries, values.shape)
    for at in np.ndindex(values.shape):
        point = expected.TransformIndexToPhysicalPoint([int(n) for n in at[::-1]])
        np.testing.assert_allclose(found[at], point, atol=1e-3)
    cosines = np.array(expected.GetDirection()).reshape(3, 3)
    assert geometries[0].letters == (named(cosines[:, 0]), named(cosines[:, 1]))


def named(direction: npt.NDArray[np.float64]) -> str:
    """Return the letters of a direction, the strongest first, from 0.1 on."""
    letters = [
        (abs(part), ends[0 if part > 0 else 1])
        for part, ends in zip(direction, ("LR", "PA", "HF"), strict=True)
    ]
    return "".join(
        letter for part, letter in sorted(letters, reverse=True) if part >= 0.1
    )
