import numpy as np
import pytest

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import SizePx
from viewer.domain.grid import Grid
from viewer.domain.image import Photometric, PixelImage, Raster, Window
from viewer.services.asking.provider_views import (
    provider_sight,
    sent_raster,
    view_offers,
)

GRID = Grid(8, 8)


@pytest.fixture(scope="module")
def image() -> PixelImage:
    rows, columns = np.mgrid[0:300, 0:260]
    return PixelImage((rows * 3 + columns).astype(np.uint16), Photometric.MONOCHROME2)


@pytest.fixture(scope="module")
def sent(image: PixelImage) -> Raster:
    return sent_raster(image, None, GRID)


def test_that_every_way_of_resizing_is_offered_the_one_without_first() -> None:
    names = [offer.name for offer in view_offers()]
    assert names[0] == "none"
    assert len(names) == len(set(names)) >= 8


def test_that_what_is_sent_is_seen_unchanged_where_nothing_is_resized(
    sent: Raster,
) -> None:
    sight = provider_sight(sent, GRID, "none")
    assert np.array_equal(sight.seen.pixels, sent.pixels)
    assert sight.warnings == ("The labels are 7 px high after resizing, under 8.",)


def test_that_the_window_on_the_screen_is_what_is_sent(image: PixelImage) -> None:
    narrow = sent_raster(image, Window(500.0, 10.0), GRID)
    wide = sent_raster(image, Window(500.0, 1000.0), GRID)
    assert len(np.unique(narrow.pixels)) < len(np.unique(wide.pixels))


@pytest.mark.parametrize(
    ("provider", "size"), [("qwen2_5", 252), ("gemma3", 896), ("gemini", 768)]
)
def test_that_the_pixels_are_those_after_resizing(
    sent: Raster, provider: str, size: int
) -> None:
    sight = provider_sight(sent, GRID, provider)
    assert sight.seen.size == SizePx(size, size)
    assert sight.sent is sent


def test_that_cells_smaller_than_a_patch_and_small_labels_are_told(
    image: PixelImage,
) -> None:
    fine = Grid(16, 16)
    sight = provider_sight(sent_raster(image, None, fine), fine, "qwen2_5")
    assert any("smaller than a patch" in sentence for sentence in sight.warnings)
    assert any("labels are" in sentence for sentence in sight.warnings)


def test_that_an_unknown_provider_is_refused(sent: Raster) -> None:
    with pytest.raises(WrongUseError, match="unknown"):
        provider_sight(sent, GRID, "telepathy")
