"""What a store keeps of the geometry of images."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.small_store import a_dataset
from viewer.domain.geometry import PointMm, SizePx
from viewer.domain.image_geometry import ImageGeometry, Spacing, SpacingMeaning
from viewer.store import cases
from viewer.store.database import open_store

SIZE = SizePx(40, 50)
WHOLE = ImageGeometry(
    SIZE,
    Spacing(4.0, 0.703125, SpacingMeaning.CALIBRATED),
    2.0,
    (1.0, 0.0, 0.0, 0.0, 0.6, -0.8),
    PointMm(-1.5, 2.25, 1e-7),
    ("L", "PF"),
    "B",
    6,
)


@pytest.mark.parametrize(
    "geometry",
    [
        WHOLE,
        ImageGeometry(SIZE),
        ImageGeometry(SIZE, aspect_ratio=4 / 3),
        replace(WHOLE, spacing=None, position=None),
    ],
)
def test_that_a_geometry_is_kept_exactly(
    tmp_path: Path, geometry: ImageGeometry
) -> None:
    held = a_dataset()
    images = tuple(replace(image, geometry=geometry) for image in held.images)
    with open_store(tmp_path / "s.sqlite") as store:
        cases.add_dataset(store, replace(held, images=images))
        found = cases.dataset_named(store, held.name)
        plain = store.rows("SELECT DISTINCT geometry FROM image")
    assert [image.geometry for image in found.images] == [geometry] * len(images)
    assert (plain[0]["geometry"] == "{}") is (geometry == ImageGeometry(SIZE))
