"""Every golden reply is read as the table says."""

from collections import Counter

import pytest

from tests.helpers.golden_replies import (
    FRAME,
    Golden,
    expected_numbers,
    golden_replies,
    numbers_of,
)
from viewer.models.coordinates.conventions import CONVENTIONS


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_that_golden_replies_are_read_as_written(convention: str) -> None:
    replies = [one for one in golden_replies() if one.convention == convention]
    assert replies
    for golden in replies:
        check(golden)


def check(golden: Golden) -> None:
    reading = CONVENTIONS[golden.convention].read(golden.reply, FRAME)
    assert (reading.status, reading.reason) == (golden.status, golden.reason), golden
    assert [place.label for place in reading.places] == [p[2] for p in golden.places]
    for place, (kind, values, _) in zip(reading.places, golden.places, strict=True):
        expected = expected_numbers(golden.convention, kind, values)
        assert numbers_of(place) == pytest.approx(expected, abs=1e-6)
    assert tuple(reading.flags) == golden.flags
    assert reading.raw == golden.reply


def test_that_the_table_is_as_large_and_varied_as_promised() -> None:
    per_convention = Counter(golden.convention for golden in golden_replies())
    assert len(set(golden_replies())) >= 500
    assert set(per_convention) == set(CONVENTIONS)
    assert min(per_convention.values()) >= 25
