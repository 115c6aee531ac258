"""What a convention writes, it reads again within one of its own steps."""

import random
from itertools import pairwise

import pytest

from tests.helpers.golden_replies import numbers_of
from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx, PointPx, PolygonPx, SizePx
from viewer.domain.grid import Grid
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.places import Place, ReplyStatus
from viewer.imaging.resample import FitMode, fit_affine
from viewer.models.coordinates.conventions import CONVENTIONS
from viewer.models.coordinates.frame import Frame
from viewer.models.coordinates.marks import Kind
from viewer.models.provider_view import PROVIDER_VIEWS

_NATIVE = SizePx(2828, 2320)


def _frames() -> list[Frame]:
    frames = [Frame.of_sent(SizePx(392, 784)), Frame.of_sent(SizePx(1000, 1000))]
    for mode in (FitMode.CROP_RESIZE, FitMode.LETTERBOX):
        for view in ("qwen2_5", "claude", "openai_high"):
            sent = SizePx(512, 512)
            seen = PROVIDER_VIEWS[view].seen(sent)
            affine = fit_affine(ImageGeometry(_NATIVE), 512, mode)
            frames.append(Frame(_NATIVE, affine, sent, seen, Grid(16, 16)))
    return frames


def _window(frame: Frame) -> BoxPx:
    """Return the part of the native image that every convention can name."""
    side = min(frame.native.rows, frame.native.columns)
    x0 = (frame.native.columns - side) // 2
    y0 = (frame.native.rows - side) // 2
    return BoxPx(x0, y0, x0 + side, y0 + side)


def _random_box(rng: random.Random, frame: Frame, least: PointPx) -> BoxPx:
    window = _window(frame)
    while True:
        x0, x1 = sorted(rng.uniform(window.x0, window.x1) for _ in range(2))
        y0, y1 = sorted(rng.uniform(window.y0, window.y1) for _ in range(2))
        if x1 - x0 > least.x and y1 - y0 > least.y:
            return BoxPx(x0, y0, x1, y1)


def _error_in_steps(written: Place, read: Place, step: PointPx) -> float:
    steps = (step.x, step.y) * len(numbers_of(written))
    pairs = zip(numbers_of(written), numbers_of(read), steps, strict=False)
    return max(abs(a - b) / one for a, b, one in pairs)


_NUMERIC = [name for name in CONVENTIONS if name != "grid"]


@pytest.mark.parametrize("name", _NUMERIC)
def test_that_what_is_written_is_read_within_one_step(name: str) -> None:
    rng, convention = random.Random(0), CONVENTIONS[name]
    for frame in _frames():
        step = convention.bin_native(frame)
        for _ in range(30):
            box = _random_box(rng, frame, step)
            place = Place(box, "nodule")
            if Kind.BOX not in convention.kinds:
                place = Place(PointPx(box.x0, box.y0), "nodule")
            reading = convention.read(convention.write([place], frame), frame)
            assert reading.status is ReplyStatus.OK
            assert reading.places[0].label == "nodule"
            assert _error_in_steps(place, reading.places[0], step) <= 1.0 + 1e-9


@pytest.mark.parametrize("name", sorted(set(_NUMERIC) - {"kosmos2", "maira2"}))
def test_that_several_places_come_back_in_their_order(name: str) -> None:
    convention, frame = CONVENTIONS[name], Frame.of_sent(SizePx(400, 800))
    kind = Kind.BOX if Kind.BOX in convention.kinds else Kind.POINT
    boxes = [BoxPx(40, 30, 200, 300), BoxPx(400, 100, 780, 390)]
    places = [
        Place(box if kind is Kind.BOX else PointPx(box.x0, box.y0), "a")
        for box in boxes
    ]
    reading = convention.read(convention.write(places, frame), frame)
    step = convention.bin_native(frame)
    for place, read in zip(places, reading.places, strict=True):
        assert _error_in_steps(place, read, step) <= 1.0


@pytest.mark.parametrize("name", sorted(set(_NUMERIC) - {"molmo"}))
def test_that_a_box_smaller_than_a_step_does_not_vanish(name: str) -> None:
    convention, frame = CONVENTIONS[name], Frame.of_sent(SizePx(1000, 1000))
    for x in (0.1, 400.3, 400.7, 999.2):
        place = Place(BoxPx(x, 500.1, x + 0.2, 500.2))
        reading = convention.read(convention.write([place], frame), frame)
        assert reading.status is ReplyStatus.OK


def test_that_points_and_outlines_come_back_where_they_can_be_written() -> None:
    frame = Frame.of_sent(SizePx(400, 800))
    shapes: dict[Kind, PointPx | PolygonPx] = {
        Kind.POINT: PointPx(123.4, 56.7),
        Kind.POLYGON: PolygonPx((PointPx(10, 10), PointPx(700, 30), PointPx(300, 350))),
    }
    for convention in CONVENTIONS.values():
        for kind in convention.kinds & set(shapes):
            place, step = Place(shapes[kind]), convention.bin_native(frame)
            if convention.name == "grid":
                continue
            read = convention.read(convention.write([place], frame), frame).places[0]
            assert _error_in_steps(place, read, step) <= 1.0


def test_that_the_grid_names_the_cell_of_the_centre() -> None:
    rng, convention = random.Random(3), CONVENTIONS["grid"]
    for frame in _frames():
        for _ in range(50):
            box = _random_box(rng, frame, PointPx(0, 0))
            cell = convention.read(convention.write([Place(box)], frame), frame)
            (x0, y0, x1, y1) = numbers_of(cell.places[0])
            x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
            assert x0 - 1e-6 <= x <= x1 + 1e-6
            assert y0 - 1e-6 <= y <= y1 + 1e-6


def test_that_a_kind_a_convention_lacks_is_refused_with_a_sentence() -> None:
    frame = Frame.of_sent(SizePx(400, 800))
    with pytest.raises(WrongUseError, match="cannot express a box"):
        CONVENTIONS["molmo"].write([Place(BoxPx(1, 1, 2, 2))], frame)
    with pytest.raises(WrongUseError, match="always names a cell"):
        CONVENTIONS["grid"].write([], frame)


@pytest.mark.parametrize("name", _NUMERIC)
def test_that_writing_nothing_never_reads_as_a_place(name: str) -> None:
    convention, frame = CONVENTIONS[name], Frame.of_sent(SizePx(400, 800))
    reading = convention.read(convention.write([], frame), frame)
    assert reading.scored == ()


def test_that_one_step_of_each_space_is_what_its_formula_says() -> None:
    frame = Frame.of_sent(SizePx(400, 800), SizePx(392, 784))
    steps = {name: c.bin_native(frame) for name, c in CONVENTIONS.items()}
    assert steps["qwen3_vl"] == PointPx(0.8, 0.4)
    assert steps["molmo"].x == pytest.approx(0.8)
    assert steps["qwen2_5_vl"].x == pytest.approx(800 / 784)
    assert steps["maira2"] == PointPx(4.0, 4.0)
    assert steps["kosmos2"] == PointPx(25.0, 12.5)
    assert steps["grid"] == PointPx(100.0, 50.0)
    names = ("florence2", "qwen3_vl", "deepseek_vl2")
    assert all(steps[a].x <= steps[b].x for a, b in pairwise(names))
