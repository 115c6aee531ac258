import hashlib
from pathlib import Path

from viewer.domain.case import ImageRef
from viewer.domain.form_values import Canvas
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.grid import Grid
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reading import Consent, Task, TaskState, open_cases
from viewer.domain.telemetry import Look, Sight, clock_problem, lined_up

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


def begins(*looks: Look) -> list[int]:
    return [begin for begin, _ in lined_up(looks)]


def test_that_a_replay_keeps_the_time_between_viewports_and_leaves_pauses_out() -> None:
    assert begins() == []
    assert begins(at(1), at(1.5), at(9), at(9.1, 900, viewport=1)) == [
        0,
        500,
        1000,
        1100,
    ]
    other = at(1.2, 1000, viewport=1)  # it ends, and is recorded, after the next one
    looks = [at(1), at(1.5, 200), other, at(3, 100), at(3.05, 10, viewport=1)]
    assert begins(*looks) == [0, 200, 500, 1200, 1250]
    assert [look for _, look in lined_up(looks)][:3] == [looks[0], other, looks[1]]


def test_that_looks_follow_each_other_where_a_clock_was_set_back() -> None:
    looks = [at(5), at(1, 100), at(2, 10), at(3, 7, viewport=1)]
    assert begins(*looks) == [0, 500, 600, 0]


def test_that_open_cases_come_in_their_order_and_unsure_ones_last() -> None:
    canvas = Canvas(ImageGeometry(SizePx(4, 4)), Grid(8, 8), BoxPx(0, 0, 4, 4))
    state = TaskState
    states = (state.LOCKED, state.UNRESOLVED, state.WAITING, state.STARTED)
    tasks = [
        Task(i, ImageRef(Path("a")), "", "", canvas, one)
        for i, one in enumerate(states)
    ]
    assert open_cases(tasks) == [2, 3, 1]
    assert open_cases(tasks, 3) == [3, 2, 1]
    assert open_cases([]) == []
    assert tasks[0].images == (ImageRef(Path("a")),)
