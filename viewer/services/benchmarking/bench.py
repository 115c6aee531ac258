"""Comparison of this machine's speeds with the budgets, without assertions.

One table lists every budget in the design's order, with what was measured; anything
that cannot be measured here, or does not exist yet, says so.
"""

import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from viewer.domain.errors import OverreadError
from viewer.services.benchmarking.engine import engine_speeds
from viewer.services.benchmarking.samples import Samples, make_samples
from viewer.services.benchmarking.start import install_speeds, start_speeds

Row = dict[str, object]
Times = Mapping[str, Sequence[float]]
"""What was measured, by the budget's key and in its unit; each value one round."""

GESTURES: Final = ("window/level", "pan", "zoom")
SIDES: Final = (3000, 4096)
"""Square 16-bit images, in pixels."""
_FRAME_MS: Final = {3000: 5.0, 4096: 8.0}
_DRAWN: Final = {False: "", True: ", grid 16 × 16 and reference"}


@dataclass(frozen=True, slots=True)
class Budget:
    """A row of the table; ``limit`` None is a number without a budget.

    ``at_least`` is for rates, where more is better; ``built`` is False for planned
    features.
    """

    key: str
    what: str
    unit: str
    limit: float | None = None
    at_least: bool = False
    built: bool = True


@dataclass(frozen=True)
class WindowSpeeds:
    """Speeds measured in the window, and Qt's name of the screen."""

    times: Times
    screen: str


MeasureWindow = Callable[[Samples], WindowSpeeds]
"""Measures the window; raises if there is none."""


@dataclass
class _Findings:
    """What was measured so far, and why the window was not."""

    times: dict[str, Sequence[float]] = field(default_factory=dict)
    screen: str = ""
    without_window: str = ""


def frame_key(gesture: str, side: int, *, drawn: bool) -> str:
    """Return the key of a gesture on a square image, with overlays drawn or not."""
    return f"{gesture} {side}{' drawn' if drawn else ''}"


def _frame_budgets() -> tuple[Budget, ...]:
    return tuple(
        Budget(
            frame_key(gesture, side, drawn=drawn),
            f"{gesture}, {side} × {side} 16-bit{_DRAWN[drawn]}",
            "ms",
            _FRAME_MS[side],
        )
        for side in SIDES
        for drawn in (False, True)
        for gesture in GESTURES
    )


BUDGETS: Final = (
    *_frame_budgets(),
    Budget("scroll", "scroll a 300-slice CT, a slice", "ms", 8.0),
    Budget("scroll again", "scroll back over slices seen, a slice", "ms", 8.0),
    Budget("start", "start to first radiograph painted (2000 × 2500)", "s", 0.7),
    Budget("start ct", "start to first slice painted, CT of 300 files", "s", 0.7),
    Budget("memory", "resident memory with one radiograph", "MB", 250.0),
    Budget("overhead 1", "batch overhead per case, 1 in flight", "ms", 40.0),
    Budget("overhead 4", "batch overhead per case, 4 in flight", "ms", 40.0),
    Budget("index", "index a folder, DICOM headers", "1/s", 1500.0, at_least=True),
    Budget(
        "dashboard",
        "dashboard over 100,000 predictions, any grouping",
        "ms",
        100.0,
        built=False,
    ),
    Budget("rescore", "re-scoring, replies", "1/s", 5000.0, at_least=True),
    Budget("baseline", "batch of a baseline, trials", "1/s"),
    Budget("command", "start of the command line (--version)", "s"),
    Budget("size", "size of the packaged program", "MB"),
)
_OF_WINDOW: Final = frozenset(
    {*(b.key for b in _frame_budgets()), "scroll", "scroll again", "start", "start ct"}
    | {"memory"}
)


def bench_rows(measure_window: MeasureWindow | None = None) -> list[Row]:
    """Measure everything that can be measured here; return a row for each budget.

    Parameters
    ----------
    measure_window : callable, optional
        Measures what needs the window; without it those rows say so.
    """
    found = _Findings()
    with tempfile.TemporaryDirectory(prefix="overread-bench-") as folder:
        samples = make_samples(Path(folder))
        _look_at_window(found, samples, measure_window)
        found.times |= engine_speeds(samples)
        found.times |= install_speeds()
    return [_row(budget, found) for budget in BUDGETS]


def _look_at_window(
    found: _Findings, samples: Samples, measure: MeasureWindow | None
) -> None:
    if measure is None:
        found.without_window = "no window"
        return
    try:
        speeds = measure(samples)
        found.screen = speeds.screen
        found.times |= speeds.times
        found.times |= start_speeds(samples)
    except OverreadError as error:
        found.without_window = str(error)


def _row(budget: Budget, found: _Findings) -> Row:
    values = found.times.get(budget.key, ())
    median = statistics.median(values) if values else None
    return {
        "what": budget.what,
        "measured": median,
        "lowest": min(values, default=None),
        "highest": max(values, default=None),
        "rounds": len(values),
        "unit": budget.unit,
        "budget": budget.limit,
        "at_least": budget.at_least,
        "within": _within(budget, median),
        "note": _note(budget, found),
    }


def _within(budget: Budget, median: float | None) -> bool | None:
    if budget.limit is None or median is None:
        return None
    return median >= budget.limit if budget.at_least else median <= budget.limit


def _note(budget: Budget, found: _Findings) -> str:
    if not budget.built:
        return "not built"
    of_window = budget.key in _OF_WINDOW
    if budget.key not in found.times:
        return found.without_window if of_window else "not packaged"
    offscreen = of_window and found.screen == "offscreen"
    return "without a display" if offscreen else ""


def bench_table(rows: Sequence[Row]) -> list[Row]:
    """Return the rows as displayed: median, range, budget, within."""
    return [
        {
            "what": row["what"],
            "measured": _number(row["measured"], row["unit"]),
            "range": _range(row),
            "budget": _budget_text(row),
            "within": {True: "yes", False: "NO", None: ""}[row["within"]],  # type: ignore[index]
            "note": row["note"],
        }
        for row in rows
    ]


def _range(row: Row) -> str:
    if row["rounds"] in {0, 1}:
        return ""
    low, high = (_number(row[name], "") for name in ("lowest", "highest"))
    return f"{low} to {high} ({row['rounds']})"


def _budget_text(row: Row) -> str:
    if row["budget"] is None:
        return ""
    return f"{'≥' if row['at_least'] else '≤'} {_number(row['budget'], row['unit'])}"


def _number(value: object, unit: object) -> str:
    if not isinstance(value, float | int):
        return ""
    text = f"{value:.2f}" if value < 100 else f"{value:.0f}"
    return f"{text} {unit}".strip()
