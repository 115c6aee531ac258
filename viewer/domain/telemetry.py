"""What was on screen while a reader had a case open, and how a reader is asked."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Final

from viewer.domain.geometry import BoxPx
from viewer.domain.plain import NotNegative

TELEMETRY: Final = "telemetry"
"""What a reader's consent to it is for."""
ASKED: Final = (
    "While a case is open and you are using this window, the program records which of "
    "its images is shown, which part of it is in sight, its zoom and its window, and "
    "for how long. It records no keys, no mouse, no other windows and no pauses. The "
    "record is kept with your answers, shows how you read, and is deleted for good if "
    "you withdraw. You can read without it."
)
VERSION: Final = "1"
"""That of the text."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What a viewport shows.

    ``viewport`` and ``image`` count from 0, the latter through the images of the case
    in their order; ``slice`` is the frame in the image's file, from 0. ``row0`` to
    ``column1`` are the rectangle in sight, in native pixels; it may reach beyond the
    image. ``zoom`` is screen pixels per native pixel. ``center`` and ``width`` are the
    window in the image's units, None for a colour image.
    """

    viewport: NotNegative
    image: NotNegative
    slice: NotNegative
    row0: float
    column0: float
    row1: float
    column1: float
    zoom: float
    center: float | None = None
    width: float | None = None
    inverted: bool = False

    @property
    def seen(self) -> BoxPx:
        """The rectangle in sight."""
        return BoxPx(self.column0, self.row0, self.column1, self.row1)


@dataclass(frozen=True, slots=True)
class Look:
    """A sight that a reader had without a change; ``start`` is UTC, ISO 8601.

    ``position`` is the case in the session's order, from 0. ``duration_ms`` is by a
    clock that nobody sets.
    """

    position: NotNegative
    start: str
    duration_ms: NotNegative
    sight: Sight


def lined_up(looks: Sequence[Look]) -> Iterator[tuple[int, Look]]:
    """Yield each look with the millisecond of a replay at which it begins.

    Time without any look, such as a pause, takes none. Where a clock was set back the
    looks of a viewport follow each other, and viewports are not aligned.
    """
    if not looks or clock_problem(looks):
        ends: Counter[int] = Counter()
        for look in looks:
            yield ends[look.sight.viewport], look
            ends[look.sight.viewport] += look.duration_ms
        return
    starts = [datetime.fromisoformat(look.start) for look in looks]
    reached, played = min(starts), timedelta()
    for start, look in sorted(zip(starts, looks, strict=True), key=itemgetter(0)):
        began = played - max(reached - start, timedelta())
        yield began // timedelta(milliseconds=1), look
        end = start + timedelta(milliseconds=look.duration_ms)
        played = max(played, began + timedelta(milliseconds=look.duration_ms))
        reached = max(reached, end)


def clock_problem(looks: Iterable[Look]) -> str:
    """Return in a sentence where a clock was set back between looks, "" if nowhere.

    They are in the order in which they were recorded.
    """
    ends: dict[int, datetime] = {}
    for number, look in enumerate(looks, 1):
        start, viewport = datetime.fromisoformat(look.start), look.sight.viewport
        if start < ends.get(viewport, start):
            return (
                f"The computer's clock was set back before row {number}: later times "
                "of day are wrong; order and durations are correct."
            )
        ends[viewport] = start + timedelta(milliseconds=look.duration_ms)
    return ""
