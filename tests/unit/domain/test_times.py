from viewer.domain.times import in_utc


def test_that_a_stored_time_is_read_to_the_second() -> None:
    written = "2026-03-01 08:05:09 UTC"
    assert in_utc("2026-03-01T08:05:09.123456+00:00") == written
    assert in_utc("2026-03-01T08:05:09+00:00") == written
