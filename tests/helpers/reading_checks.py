"""What must hold of every reading, however strange the reply."""

import math

from tests.helpers.golden_replies import numbers_of
from viewer.domain.geometry import BoxPx
from viewer.domain.places import PlacesReading, ReplyStatus
from viewer.models.coordinates.frame import Frame


def assert_sound(reading: PlacesReading, reply: str, frame: Frame) -> None:
    """Check that a reading is no silent empty and lies within the image."""
    assert reading.raw == reply
    status = reading.status
    assert (status is ReplyStatus.OK) == (reading.reason == "")
    assert (status is ReplyStatus.OK) == bool(reading.scored)
    if status not in {ReplyStatus.OK, ReplyStatus.TRUNCATED}:
        assert reading.places == ()
    answers = status in {ReplyStatus.OK, ReplyStatus.EMPTY}
    assert (reading.unparsed() is None) == answers
    for place in reading.places:
        numbers = numbers_of(place)
        assert all(math.isfinite(n) for n in numbers)
        assert all(0.0 <= x <= frame.native.columns for x in numbers[::2])
        assert all(0.0 <= y <= frame.native.rows for y in numbers[1::2])
        if isinstance(place.shape, BoxPx):
            assert place.shape.x0 < place.shape.x1
            assert place.shape.y0 < place.shape.y1
