import importlib.util
import os
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, ImageDraw, ImageFont

from tests.helpers.proof_params import always
from viewer.domain.errors import MissingDependencyError
from viewer.domain.image import Raster
from viewer.imaging import burned_in_text
from viewer.imaging.burned_in_text import find_text, text_finder_missing

needs_finder = pytest.mark.skipif(
    text_finder_missing() is not None, reason="the extra ocr is not installed"
)


def film(*words: tuple[str, int, int]) -> npt.NDArray[np.uint8]:
    """Return a grey film of 500 × 600 with words at (x, y)."""
    noise = np.random.default_rng(0).normal(90, 6, (500, 600))
    image = Image.fromarray(noise.clip(0, 255).astype(np.uint8))
    draw = ImageDraw.Draw(image)
    for text, x, y in words:
        draw.text((x, y), text, fill=250, font=ImageFont.load_default(28))
    return np.asarray(image)


@needs_finder
def test_that_a_name_in_a_colour_image_is_found_and_markers_tell_nothing() -> None:
    pixels = film(("CANARY JOHN", 40, 60), ("R", 540, 30), ("PORTABLE", 380, 440))
    places = find_text(Raster(np.repeat(pixels[..., None], 3, 2)))
    (telling,) = [place.box for place in places if place.telling]
    assert telling.x0 < 42
    assert telling.x1 > 40 + 11 * 13
    assert telling.y0 < 70 < telling.y1
    assert telling.y1 - telling.y0 < 60
    assert len(places) >= 2


def label(size: int, ink: int, ground: int | None, turned: int) -> Raster:
    """Return a film with a name, degrees turned, on a ground of its own or not."""
    font = ImageFont.load_default(size)
    words = Image.new("L", (12 * size, size + 12))
    ImageDraw.Draw(words).text((6, 4), "SMITH JOHN 48003", fill=255, font=font)
    words = words.rotate(turned, expand=True)
    picture = Image.fromarray(film())
    if ground is not None:
        picture.paste(ground, (60, 60, 60 + words.width, 60 + words.height))
    picture.paste(ink, (60, 60), mask=words)
    return Raster(np.array(picture))


@needs_finder
@pytest.mark.parametrize(
    "written",
    always(
        {(20, 250, None, 45), (20, 0, None, 270), (16, 255, 0, 90), (10, 0, 255, 0)},
        [
            *((20, 250, None, turned) for turned in (0, 90, 180, 270, 45)),
            *((20, 0, None, turned) for turned in (0, 90, 180, 270)),
            *((16, 255, 0, turned) for turned in (0, 90)),
            *((16, 0, 255, turned) for turned in (0, 90)),
            (10, 250, None, 0),
            (10, 0, 255, 0),
        ],
    ),
)
def test_that_a_name_is_found_however_it_is_written(
    written: tuple[int, int, int | None, int],
) -> None:
    places = find_text(label(*written))
    assert [place for place in places if place.telling]


@needs_finder
def test_that_text_in_pixels_four_times_as_high_as_wide_is_found() -> None:
    written = film(("CANARY JOHN", 40, 200))
    rows, columns = written.shape
    squeezed = Image.fromarray(written).resize((columns, rows // 4))
    places = find_text(Raster(np.asarray(squeezed), 4.0))
    (telling,) = [place.box for place in places if place.telling]
    assert telling.x0 < 42
    assert telling.x1 > 40 + 11 * 13
    assert telling.y0 < 53 < telling.y1
    assert telling.y1 - telling.y0 < 15


@needs_finder
@pytest.mark.parametrize(
    ("width", "height", "telling"), [(90, 20, True), (20, 90, True), (40, 30, False)]
)
def test_that_a_line_that_cannot_be_read_is_for_a_person_to_read(
    monkeypatch: pytest.MonkeyPatch, width: int, height: int, *, telling: bool
) -> None:
    corners = [[0, 0], [width, 0], [width, height], [0, height]]
    monkeypatch.setattr(burned_in_text, "_read", lambda *_, **__: [(corners, "", 0.0)])
    (place,) = find_text(Raster(film()))
    assert place.telling is telling


def test_that_a_place_without_a_letter_read_is_kept() -> None:
    found = SimpleNamespace(txts=("", "  ", "A"))
    assert burned_in_text._with_unread(found).txts == ("?", "?", "A")


@needs_finder
def test_that_the_environment_is_left_as_it_was() -> None:
    before = dict(os.environ)
    burned_in_text._engine.cache_clear()
    find_text(Raster(film()))
    assert dict(os.environ) == before


@needs_finder
def test_that_an_empty_film_has_no_text() -> None:
    assert [p for p in find_text(Raster(film())) if p.telling] == []


def test_that_without_the_finder_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert "pip install overread[ocr]" in (text_finder_missing() or "")
    with pytest.raises(MissingDependencyError, match="overread"):
        find_text(Raster(film()))


def test_that_what_a_library_does_to_the_environment_is_undone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OVERREAD_TEST_KEPT", "before")
    with burned_in_text._environment_kept():
        os.environ["OVERREAD_TEST_KEPT"] = "changed"
        os.environ["OVERREAD_TEST_ADDED"] = "by a library"
    assert os.environ["OVERREAD_TEST_KEPT"] == "before"
    assert "OVERREAD_TEST_ADDED" not in os.environ
