import hashlib

from viewer.domain.reading import Consent
from viewer.domain.telemetry import Look, Sight, clock_problem

SIGHT = Sight(0, 0, 0, 1.5, 2.0, 30.5, 44.0, 1.0)


def at(second: float, ms: int = 500, viewport: int = 0) -> Look:
    start = f"2026-01-01T10:00:{second:06.3f}+00:00"
    sight = Sight(viewport, 0, 0, 0.0, 0.0, 9.0, 9.0, 1.0)
    return Look(0, start, ms, sight)


def test_that_a_consent_names_the_hash_of_its_text() -> None:
    consent = Consent.on("telemetry", "1", "ä", given=False)
    assert consent.text_sha256 == hashlib.sha256("ä".encode()).hexdigest()
    assert (consent.version, consent.given) == ("1", False)


def test_that_rows_and_columns_are_in_sight_as_y_and_x() -> None:
    seen = SIGHT.seen
    assert (seen.y0, seen.x0, seen.y1, seen.x1) == (1.5, 2.0, 30.5, 44.0)


def test_that_a_clock_that_was_set_back_is_told_by_its_row() -> None:
    assert clock_problem([]) == ""
    assert clock_problem([at(1), at(1.5), at(9), at(1, viewport=1)]) == ""
    assert "before row 3:" in clock_problem([at(1), at(2), at(2.4)])
