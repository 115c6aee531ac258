"""A hundred thousand spoilt replies, and boxes through every provider's view."""

import random
from collections import Counter

import pytest

from tests.helpers.golden_replies import (
    FRAME,
    assert_sound,
    golden_replies,
    mutated,
    numbers_of,
)
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.places import Place, ReplyStatus
from viewer.imaging.resample import FitMode, fit_affine
from viewer.models.coordinates.conventions import CONVENTIONS
from viewer.models.coordinates.frame import Frame
from viewer.models.coordinates.marks import Kind
from viewer.models.provider_view import PROVIDER_VIEWS, ProviderView

pytestmark = pytest.mark.proof

_SPOILT = 100_000
_BOXES = 10_000


def test_that_a_hundred_thousand_spoilt_replies_end_in_a_status() -> None:
    rng, statuses = random.Random(20_261), Counter[str]()
    goldens = golden_replies()
    for i in range(_SPOILT):
        golden = goldens[i % len(goldens)]
        reply = mutated(golden.reply, rng)
        names = [golden.convention, rng.choice(sorted(CONVENTIONS))]
        for name in names:
            reading = CONVENTIONS[name].read(reply, FRAME)
            assert_sound(reading, reply, FRAME)
            statuses[reading.status] += 1
    print(f"{_SPOILT} spoilt replies, each read twice: {dict(statuses)}")
    assert statuses.total() == 2 * _SPOILT
    assert set(statuses) == set(ReplyStatus)


def _random_frame(rng: random.Random, view: ProviderView) -> Frame:
    native = SizePx(rng.randint(64, 5000), rng.randint(64, 5000))
    side = rng.choice((256, 512, 768, 1024))
    mode = rng.choice((FitMode.CROP_RESIZE, FitMode.LETTERBOX, FitMode.STRETCH))
    sent = SizePx(side, side)
    to_sent = fit_affine(ImageGeometry(native), side, mode)
    return Frame(native, to_sent, sent, view.seen(sent))


def _random_box(rng: random.Random, frame: Frame) -> BoxPx:
    """Return a box, at least a pixel wide, within what every convention can name."""
    side = min(frame.native.rows, frame.native.columns)
    left, top = (
        (frame.native.columns - side) // 2,
        (frame.native.rows - side) // 2,
    )
    (x0, x1), (y0, y1) = (sorted(rng.uniform(0, side - 1) for _ in "ab") for _ in "xy")
    return BoxPx(left + x0, top + y0, left + x1 + 1, top + y1 + 1)


@pytest.mark.parametrize("view", PROVIDER_VIEWS.values(), ids=PROVIDER_VIEWS)
def test_that_ten_thousand_boxes_come_back_from_every_view(view: ProviderView) -> None:
    rng, worst = random.Random(7), 0.0
    for _ in range(_BOXES):
        frame = _random_frame(rng, view)
        box, to_seen = _random_box(rng, frame), view.affine(frame.sent)
        for corner in (PointPx(box.x0, box.y0), PointPx(box.x1, box.y1)):
            seen = to_seen.apply(frame.to_sent.apply(corner))
            back = frame.to_sent.inverse().apply(to_seen.inverse().apply(seen))
            worst = max(worst, abs(back.x - corner.x), abs(back.y - corner.y))
    print(f"{view.name}: at most {worst:.2e} native pixels off")
    assert worst <= 0.5


@pytest.mark.parametrize("name", [name for name in CONVENTIONS if name != "grid"])
def test_that_ten_thousand_boxes_are_written_and_read_within_a_step(name: str) -> None:
    rng, worst, convention = random.Random(11), 0.0, CONVENTIONS[name]
    views = list(PROVIDER_VIEWS.values())
    for _ in range(_BOXES):
        frame = _random_frame(rng, rng.choice(views))
        box, step = _random_box(rng, frame), convention.bin_native(frame)
        if box.x1 - box.x0 < step.x or box.y1 - box.y0 < step.y:
            continue
        points_only = Kind.BOX not in convention.kinds
        place = Place(PointPx(box.x0, box.y0) if points_only else box, "mass")
        reading = convention.read(convention.write([place], frame), frame)
        assert reading.status is ReplyStatus.OK
        steps = (step.x, step.y) * 2
        pairs = zip(
            numbers_of(place), numbers_of(reading.places[0]), steps, strict=False
        )
        worst = max(worst, *(abs(a - b) / one for a, b, one in pairs))
    print(f"{name}: at most {worst:.3f} of a step off")
    assert worst <= 1.0 + 1e-9
