"""The frames that the study's tables about trials are made of.

``trials`` has a row for each trial that asks about what is there, ``every`` one for
each of all. ``asked`` and ``absent`` have a trial once for each table row that counts
it: under its own finding, under the mean of findings and under all pooled, each in its
view and in all views. ``references`` has a row for each item under each grid,
``thresholds`` one for each settled trial at each threshold of coverage.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final

from viewer.domain.answer import Status
from viewer.domain.grid import grids_in_words
from viewer.domain.result import Measures, Outcome, Score
from viewer.results.frame import Frame, frame_of, frame_of_rows
from viewer.results.records import records
from viewer.results.spec import TRIALS
from viewer.studies.exclusions import reason_words
from viewer.studies.grid_localization.ablation import ablation_frames
from viewer.studies.grid_localization.absent import CAPITULATED
from viewer.studies.grid_localization.asked import MACRO, Asked
from viewer.studies.grid_localization.params import MaskMode, Params
from viewer.studies.grid_localization.placed import Placed, PlacedTrial
from viewer.studies.grid_localization.plan import is_varied
from viewer.studies.grid_localization.reference import THRESHOLDS
from viewer.studies.protocol import ABSENT_SUFFIX, NOT_LEARNED
from viewer.studies.tables import MICRO, STATUSES

EVERY: Final = "every"
ASKED: Final = "asked"
ABSENT: Final = "absent"
REFERENCES: Final = "references"
MEASURED: Final = "measured"
AT_THRESHOLDS: Final = "thresholds"
AREA_EDGES: Final = (0.01, 0.025, 0.05, 0.1)
"""Shares of the square sent at which one group of masks ends and the next begins."""
AREAS: Final = (
    "under 1 %",
    "1 to 2.5 %",
    "2.5 to 5 %",
    "5 to 10 %",
    "10 % and over",
)
"""What the groups are called, from the smallest masks to the largest."""
NO_CELL: Final = "(no cell)"
"""The answer of a reply that names no cell, counted as a separate outcome."""
ITEM, MODEL = "item", "model"
_ARM: Final = ("condition", "model")
_OVERALL: Final = "(all findings)"
"""The name that all findings together are drawn under."""
_MUCH_OUTSIDE: Final = 0.1


def trial_frames(results: Sequence[PlacedTrial], of: Asked) -> dict[str, Frame]:
    """Return the frames of a run's trials."""
    ordered = sorted(results, key=lambda r: (r.item, r.condition, r.repeat, r.model))
    trials = trial_frame(ordered, of.params)
    present, absent = (trials.where({"absent": (one,)}) for one in (False, True))
    return {
        TRIALS: present,
        MEASURED: present,
        EVERY: trials,
        ASKED: by_row(present, of),
        ABSENT: by_row(absent, of),
        REFERENCES: reference_frame(results),
        AT_THRESHOLDS: threshold_frame(present),
        **ablation_frames(present, of.params),
    }


def trial_frame(results: Sequence[PlacedTrial], params: Params) -> Frame:
    """Return every trial in the order given.

    ``condition`` is the grid, whether the finding is there or ``absent``. ``hit_paper``
    and ``hit_exact`` are the verdicts in both mask modes, ``place`` the answered cell's
    index, -1 without one.
    """
    return records(results).having(**_told(results, params), **_measured(results))


def _told(
    results: Sequence[PlacedTrial], params: Params
) -> Mapping[str, Sequence[object]]:
    verdicts = [_in_both_modes(one.placed, params) for one in results]
    places = [one.placed for one in results]
    conditions = [one.condition.removesuffix(ABSENT_SUFFIX) for one in results]
    return {
        "condition": conditions,
        "grid": [name.removeprefix("grid=") for name in conditions],
        "absent": [one.condition.endswith(ABSENT_SUFFIX) for one in results],
        "left_out": [_left_out(one.score) for one in results],
        "meaning": [reason_words(one.score.reason) for one in results],
        "partial": [one.score.outcome is Outcome.PARTIAL for one in results],
        "capitulated": [one.score.reason == CAPITULATED for one in results],
        "said": [one.score.answer or NO_CELL for one in results],
        "cell": [one.score.answer for one in results],
        "place": [-1 if one.cell_index is None else one.cell_index for one in places],
        "n_cells": [one.n_cells for one in places],
        "hits": [one.reference_index for one in places],
        "random": [_random(one) for one in places],
        "share": [one.share for one in places],
        "area": [_area(one.share) for one in places],
        "at_thresholds": [one.at_thresholds for one in places],
        "in_both_modes": [one.alternate_index is not None for one in places],
        "hit_paper": [paper for paper, _ in verdicts],
        "hit_exact": [exact for _, exact in verdicts],
        "differs": [paper != exact for paper, exact in verdicts],
        **{
            name: [one.score.status in statuses for one in results]
            for name, statuses in STATUSES.items()
        },
    }


def _measured(results: Sequence[PlacedTrial]) -> Mapping[str, Sequence[object]]:
    """Return measurements of answers of every kind, None if nothing was measured.

    A trial counts in ``has_area`` unless its answer has no area.
    """
    measures = [one.placed.measures for one in results]
    of: dict[str, Callable[[Measures], object]] = {
        "kind": lambda m: m.kind,
        "point_x": lambda m: m.point.x,
        "point_y": lambda m: m.point.y,
        **{name: attrgetter(name) for name in _MEASURED},
        "mm_meaning": lambda m: m.mm_meaning and m.mm_meaning.value,
    }
    return {
        **{name: [m and get(m) for m in measures] for name, get in of.items()},
        "measured": [m is not None for m in measures],
        "has_area": [m is None or m.iou is not None for m in measures],
        "pointed": [bool(m and m.pointing_hit) for m in measures],
    }


_MEASURED: Final = (
    *("cell_hit", "pointing_hit", "iou_hit", "iou", "dice"),
    *("iou_uncropped", "dice_uncropped", "distance_px", "distance_mm"),
)


def _random(one: Placed) -> float | None:
    """Return the chance of a random cell, None without a reference."""
    return len(one.reference_index) / one.n_cells if one.n_cells else None


def _area(share: float | None) -> str:
    """Return the group of a mask by its area, "" without a mask."""
    return "" if share is None else AREAS[bisect_right(AREA_EDGES, share)]


def _left_out(score: Score) -> str:
    """Return why a trial is excluded, for its item or its model; "" if it is not."""
    if score.status is not Status.EXCLUDED:
        return ""
    return MODEL if score.reason == NOT_LEARNED else ITEM


def _in_both_modes(one: Placed, params: Params) -> tuple[bool, bool]:
    """Return whether an answer is a hit in paper and in exact mode; False without one.

    If the other mode is unknown it counts as a miss there.
    """
    chosen = one.cell_index in one.reference_index
    other = one.cell_index in (one.alternate_index or ())
    paper = params.mask_mode is MaskMode.PAPER
    return (chosen, other) if paper else (other, chosen)


def by_row(trials: Frame, of: Asked) -> Frame:
    """Return trials once for each row of a table that counts them, row by row.

    ``finding`` and ``view`` are the row's; ``of_finding`` and ``of_view`` the trial's
    own. A row is the mean of its ``part``s, one but in means over findings. Within a
    row trials stand in the order of the findings, then by view and item.
    """
    copies = sorted(_copies(trials, of))
    own = trials.take(copy[-1] for copy in copies)
    findings = own["finding"]
    rows = [_ROWS[copy[0]] for copy in copies]
    both = [*zip(rows, findings, strict=True)]
    labels = {
        "of_finding": findings,
        "of_view": own["view"],
        "finding": [row or one for row, one in both],
        "view": [of.views[copy[2]] for copy in copies],
        "part": [one if row == MACRO else "" for row, one in both],
    }
    return frame_of({**{name: own[name] for name in _COUNTED}, **labels})


_ROWS: Final = ("", MACRO, MICRO)
"""Rows of a single finding come first, then means over findings, then all pooled."""
_Copy = tuple[int, int, int, int, int, str, int]


def _copies(trials: Frame, of: Asked) -> Iterator[_Copy]:
    """Yield where each copy of a trial stands, its place among the trials last."""
    names = of.findings, of.views, of.conditions, of.models
    places = [{name: i for i, name in enumerate(one)} for one in names]
    for i, values in enumerate(trials.each("finding", "view", *_ARM)):
        pairs = zip(places, values, strict=True)
        finding, view, grid, model = (place[value] for place, value in pairs)
        for row in range(len(_ROWS)):
            for shown in (view, len(of.views) - 1):
                yield row, finding, shown, grid, model, values[1], i


_COUNTED: Final = (
    *("item", "patient", "finding", "view", "condition", "model", *STATUSES),
    *("counted", "answered", "correct", "partial", "capitulated", "place", "n_cells"),
    *("hits", "in_both_modes", "hit_paper", "hit_exact", "differs"),
)
"""What tables of rates need of a trial."""


def threshold_frame(trials: Frame) -> Frame:
    """Return each settled trial once for each threshold that its mask was met at.

    Hits are what they would be if the threshold were the run's: the answers stay.
    """
    columns = ("finding", "condition", "model", "item", "patient")
    wanted = (*columns, "place", "n_cells", "at_thresholds")
    rows = (
        (at, *who, place in of.hits, len(of.hits) / n_cells, of.fallback)
        for *who, place, n_cells, met in trials.where({"counted": (True,)}).each(
            *wanted
        )
        for at, of in zip(THRESHOLDS, met, strict=False)
    )
    return frame_of_rows(("threshold", *columns, "correct", "random", "fallback"), rows)


def reference_frame(results: Iterable[PlacedTrial]) -> Frame:
    """Return each item under each grid as its reference is met there.

    An item is ``asked`` unless all its trials are excluded. Where the trials of a grid
    do not say how masks were met, ``fallback``, ``differs`` and ``cropped`` are empty.
    """
    items: dict[tuple[str, str], PlacedTrial] = {}
    asked = set()
    for one in results:
        if is_varied(one.condition):
            continue  # the mask is met as under the same grid without a change
        key = one.condition, one.item
        counts = one.score.status is not Status.EXCLUDED and one.placed.n_cells > 0
        if counts or (one.placed.reference_index and key not in asked):
            items[key] = one
        if counts:
            asked.add(key)
    silent = {key[0] for key in asked if items[key].placed.alternate_index is None}
    header = ("condition", "grid", "words", "item", "image", "patient", "asked")
    rows = (
        (
            *(condition, condition.removeprefix("grid="), grids_in_words(condition)),
            *(item, one.image, one.patient, (condition, item) in asked),
            *(bool(one.placed.reference_index), one.placed.fallback),
            *((None,) * 3 if condition in silent else _met(one.placed)),
        )
        for (condition, item), one in items.items()
    )
    columns = ("qualifies", "fallback", "told_fallback", "differs", "cropped")
    return frame_of_rows((*header, *columns), rows)


def _met(one: Placed) -> tuple[bool, bool, bool]:
    differs = one.alternate_index != one.reference_index
    return one.fallback, differs, one.fraction_outside > _MUCH_OUTSIDE
