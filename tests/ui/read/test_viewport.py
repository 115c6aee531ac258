"""What a viewport keeps of the images it has shown."""

from pathlib import Path

import numpy as np

from viewer.domain.case import ImageHeader, ImageRef, View
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image import Photometric, PixelImage
from viewer.domain.image_geometry import ImageGeometry
from viewer.imaging.pyramid import Pyramid
from viewer.services.viewing.opened_image import OpenedImage
from viewer.services.viewing.view_image import CornerText, ShownImage
from viewer.ui.panels.read.viewport import ImageCache


def _loaded(frame: int, side: int = 10) -> OpenedImage:
    ref = ImageRef(Path("a.dcm"), frame)
    size = SizePx(side, side)
    header = ImageHeader(ref, ImageGeometry(size), 9, "CT", View.UNKNOWN, "p", "s", "r")
    pixels = np.zeros((side, side), dtype=np.uint8)
    image = PixelImage(pixels, Photometric.MONOCHROME2)
    shown = ShownImage(ref, header, image, CornerText((), (), (), ()))
    return OpenedImage(shown, BoxPx(0, 0, side, side), Pyramid(image))


def test_that_the_oldest_unused_image_is_dropped_beyond_the_capacity() -> None:
    cache = ImageCache(capacity=250)
    first, second, third = (_loaded(n) for n in range(3))
    cache.add(first)
    cache.add(second)
    assert cache.get(first.shown.ref) is first
    cache.add(third)
    assert second.shown.ref not in cache
    assert first.shown.ref in cache
    assert third.shown.ref in cache


def test_that_an_image_larger_than_the_capacity_is_kept_alone() -> None:
    cache = ImageCache(capacity=50)
    cache.add(_loaded(0))
    large = _loaded(1)
    cache.add(large)
    assert len(cache) == 1
    assert cache.get(large.shown.ref) is large


def test_that_the_same_image_is_counted_once() -> None:
    cache = ImageCache(capacity=250)
    for _ in range(5):
        cache.add(_loaded(0))
    cache.add(_loaded(1))
    assert len(cache) == 2
