"""The radiologists' row, recomputed from the points they set (E000-23).

A hit is any of a reader's points on the reference mask, at the pixel that holds it; an
image without a point is a miss. This is the pointing game of the published row, and not
the rule for cells.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from viewer.domain.geometry import PointPx
from viewer.domain.reference import Mask
from viewer.domain.report import Section, Table
from viewer.domain.rle import decode_runs
from viewer.results.records import Frame, frame_of_rows
from viewer.results.spec import Cell, Key, Shown, TableSpec
from viewer.studies.grid_localization.asked import MACRO
from viewer.studies.grid_localization.findings import canonical
from viewer.studies.grid_localization.params import Params
from viewer.studies.grid_localization.published import HIT_RATES, HUMAN, MEAN
from viewer.studies.grid_localization.shown import FINDING, of_n, percent
from viewer.studies.protocol import ReportContext

HUMAN_PAIRS: Final = "human pairs"
_PRINTED: Final = next(
    one.printed for one in HIT_RATES if (one.who, one.finding) == (HUMAN, MEAN)
)
_TITLE: Final = "Radiologists, recomputed"
HUMAN_TABLE: Final = TableSpec(
    "human",
    (Key("finding", total=MACRO),),
    (
        Cell("size", ("n",)),
        Cell("sum", ("without_points",), ("without_points",)),
        Cell("sum", ("k",), ("hit",)),
        Cell(
            "nested mean of rates",
            ("hit_rate",),
            ("hit",),
            options={"by": ("finding",)},
        ),
    ),
    _TITLE,
    "Recomputed from the points that come with the data set: a hit is any point on the "
    "mask, an image without a point is a miss. It is the rule of the published row "
    f"({_PRINTED} % on the test set) and not that for cells.",
    HUMAN_PAIRS,
    sets=(("finding",), ()),
    shown=(
        *(FINDING, Shown("n", "Pairs"), Shown("without_points", "Without a point")),
        *(of_n("k", "k / n"), percent("hit_rate", "Hit rate %")),
    ),
)

Points = Mapping[str, Sequence[PointPx]]


def human_frame(context: ReportContext, params: Params) -> Frame:
    """Return the pairs that have a mask, and whether a reader's point is on it.

    There are none where no points are known.
    """
    header = ("finding", "without_points", "hit")
    return frame_of_rows(
        header, _pairs(context, params) if context.human_points else ()
    )


def problem(context: ReportContext) -> tuple[Section, ...]:
    """Return what is wrong with the file of points, nothing without a problem."""
    if not context.human_problem:
        return ()
    header = tuple(name.replace("_", " ") for name in HUMAN_TABLE.header)
    return (Section(_TITLE, context.human_problem, Table("human", header, ())),)


def _pairs(context: ReportContext, params: Params) -> Iterator[tuple[str, bool, bool]]:
    images = context.dataset.images if context.dataset else ()
    for finding in params.findings:
        for image in images:
            points = _points(context.human_points.get(image.key, {}), finding)
            for name, mask in image.masks.items() if image.view in params.views else ():
                if canonical(name) == canonical(finding):
                    hit = any(is_on(mask, point) for point in points)
                    yield finding, not points, hit


def is_on(mask: Mask, point: PointPx) -> bool:
    """Tell whether the pixel that holds a point is set; beyond the image none is."""
    row, column = int(point.y), int(point.x)
    size = mask.size
    if point.x < 0 or point.y < 0 or row >= size.rows or column >= size.columns:
        return False
    ends = np.cumsum(decode_runs(mask.counts))
    index = column * size.rows + row
    return bool(np.searchsorted(ends, index, side="right") % 2)


def _points(points: Points, finding: str) -> Sequence[PointPx]:
    wanted = canonical(finding)
    return [p for name, of in points.items() if canonical(name) == wanted for p in of]
