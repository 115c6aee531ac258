"""The interface of coordinate conventions, and its two implementations."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from viewer.domain.answer import CellAnswer, Status, Unparsed
from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import Affine, BoxPx, PointPx, PolygonPx
from viewer.domain.grid import Cell, Grid
from viewer.domain.places import Flag, Place, PlacesReading, Rejected, ReplyStatus
from viewer.models.coordinates.frame import Frame, Space
from viewer.models.coordinates.marks import Found, Kind, Mark
from viewer.models.coordinates.placing import place
from viewer.models.coordinates.prose import (
    AnsweringText,
    answering_text,
    declines,
    denies,
    is_blank,
    is_nothing,
)
from viewer.models.coordinates.writing import Writer

_BARE_CELL = re.compile(r"([A-Za-z])\s?0?(\d{1,2})")
_STATUS_OF = {
    "out_of_range": ReplyStatus.OUT_OF_RANGE,
    "outside_image": ReplyStatus.OUT_OF_RANGE,
}


class CellReader(Protocol):
    """Finds the cell that a reply names."""

    def __call__(
        self, reply: str, grid: Grid, *, truncated: bool
    ) -> CellAnswer | Unparsed:
        """Return the cell, or why there is none; a cut reply must name it in full."""
        ...


class Convention(Protocol):
    """One way of writing locations, with parser and writer."""

    @property
    def name(self) -> str:
        """The name in profiles and on the command line."""
        ...

    @property
    def summary(self) -> str:
        """What it looks like and its units, in one sentence."""
        ...

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of locations it can write."""
        ...

    def read(
        self, reply: str, frame: Frame, *, truncated: bool = False
    ) -> PlacesReading:
        """Parse a reply to locations in native pixels, or why there are none."""
        ...

    def write(self, places: Sequence[Place], frame: Frame) -> str:
        """Return locations as a model would write them; unsupported kinds raise."""
        ...

    def bin_native(self, frame: Frame) -> PointPx:
        """Return width and height of its smallest step in native pixels."""
        ...


@dataclass(frozen=True, slots=True)
class NumberConvention:
    """Numbers in a syntax (``find``, ``form``), in the units of a space."""

    name: str
    summary: str
    kinds: frozenset[Kind]
    space: Space
    find: Callable[[str], Found]
    form: Writer

    def read(
        self, reply: str, frame: Frame, *, truncated: bool = False
    ) -> PlacesReading:
        """Parse a reply to locations in native pixels, or why there are none."""
        answer = answering_text(reply)
        found = self.find(answer.text)
        placed = [place(mark, self.space, frame) for mark in found.marks]
        places = tuple(p for p in placed if isinstance(p, Place))
        rejected = tuple(p for p in placed if isinstance(p, Rejected))
        rejected += tuple(Rejected(text, "malformed") for text in found.malformed)
        status, reason = _status(answer, found, places, rejected, truncated=truncated)
        # The axes' order is unknown, and a place by the wrong one would be scored.
        if status is ReplyStatus.AMBIGUOUS:
            places = ()
        flags = _flags(places, rejected)
        return PlacesReading(reply, self.name, status, reason, places, rejected, flags)

    def write(self, places: Sequence[Place], frame: Frame) -> str:
        """Return locations as a model would write them; unsupported kinds raise."""
        to_units = self.space.to_sent(frame).inverse()
        marks = [_mark(p, frame.to_sent, to_units) for p in places]
        for mark in marks:
            if mark.kind not in self.kinds:
                raise WrongUseError(
                    f"The convention {self.name} cannot express a {mark.kind}.",
                    f"Give it a {' or a '.join(sorted(self.kinds))}.",
                )
        return self.form(marks, self.space)

    def bin_native(self, frame: Frame) -> PointPx:
        """Return width and height of its smallest step in native pixels."""
        return self.space.bin_native(frame)


@dataclass(frozen=True, slots=True)
class GridConvention:
    """A cell of the grid drawn on the sent image; ``read_cell`` parses its name."""

    read_cell: CellReader
    name: str = "grid"
    summary: str = "one cell of the grid drawn on the image, such as D4"
    kinds: frozenset[Kind] = field(default=frozenset({Kind.BOX, Kind.POINT}))

    def read(
        self, reply: str, frame: Frame, *, truncated: bool = False
    ) -> PlacesReading:
        """Return the named cell's box in native pixels, labelled with its name."""
        cell = self.read_cell(reply, frame.grid, truncated=truncated)
        if isinstance(cell, Unparsed):
            status, reason = ReplyStatus(cell.status.value), cell.reason
            return PlacesReading(reply, self.name, status, reason)
        found = Place(cell_box(cell.cell, frame), frame.grid.label(cell.cell))
        return PlacesReading(reply, self.name, ReplyStatus.OK, places=(found,))

    def write(self, places: Sequence[Place], frame: Frame) -> str:
        """Return the name of the cell that contains the first location's centre."""
        if not places:
            raise WrongUseError(
                "The convention grid always names a cell.", "Give it a place."
            )
        centre = frame.to_sent.apply(centre_of(places[0].shape))
        row = int(centre.y * frame.grid.rows / frame.sent.rows)
        column = int(centre.x * frame.grid.columns / frame.sent.columns)
        last_row, last_column = frame.grid.rows - 1, frame.grid.columns - 1
        cell = Cell(min(max(row, 0), last_row), min(max(column, 0), last_column))
        return frame.grid.label(cell)

    def bin_native(self, frame: Frame) -> PointPx:
        """Return width and height of a cell in native pixels."""
        width = frame.sent.columns / frame.grid.columns
        height = frame.sent.rows / frame.grid.rows
        return PointPx(width / abs(frame.to_sent.a), height / abs(frame.to_sent.e))


def bare_cell(reply: str, grid: Grid, *, truncated: bool) -> CellAnswer | Unparsed:
    """Parse a reply that consists only of a cell's name."""
    match = _BARE_CELL.fullmatch(answering_text(reply).text.strip(" .`*\n"))
    if match is None:
        status = Status.TRUNCATED if truncated else Status.UNPARSED
        return Unparsed(status, "length" if truncated else "no_cell")
    cell = grid.cell(match[1] + match[2])
    if cell is None:
        return Unparsed(Status.OUT_OF_RANGE, "out_of_range")
    return CellAnswer(cell, "whole")


def cell_box(cell: Cell, frame: Frame) -> BoxPx:
    """Return a cell in native pixels, clipped where a letterbox is beyond the image."""
    box, to_native = frame.grid.box(cell, frame.sent), frame.to_sent.inverse()
    upper = to_native.apply(PointPx(box.x0, box.y0))
    lower = to_native.apply(PointPx(box.x1, box.y1))
    width, height = frame.native.columns, frame.native.rows
    x0, x1 = (min(max(x, 0.0), width) for x in (upper.x, lower.x))
    y0, y1 = (min(max(y, 0.0), height) for y in (upper.y, lower.y))
    return BoxPx(x0, y0, x1, y1)


def centre_of(shape: PointPx | BoxPx | PolygonPx) -> PointPx:
    """Return a point itself, or the centre of a box or of an outline's bounding box."""
    points = corners_of(shape)
    xs, ys = [p.x for p in points], [p.y for p in points]
    return PointPx((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2)


def corners_of(shape: PointPx | BoxPx | PolygonPx) -> tuple[PointPx, ...]:
    """Return a point, a box's first and last corner, or an outline's points."""
    if isinstance(shape, PointPx):
        return (shape,)
    if isinstance(shape, BoxPx):
        return PointPx(shape.x0, shape.y0), PointPx(shape.x1, shape.y1)
    return shape.points


def _mark(place_: Place, to_sent: Affine, to_units: Affine) -> Mark:
    kinds = {PointPx: Kind.POINT, BoxPx: Kind.BOX, PolygonPx: Kind.POLYGON}
    points = [to_units.apply(to_sent.apply(p)) for p in corners_of(place_.shape)]
    values = tuple(value for p in points for value in (p.x, p.y))
    kind = kinds[type(place_.shape)]
    return Mark(kind, values, place_.label, seg_codes=place_.seg_codes)


def _flags(places: Sequence[Place], rejected: Sequence[Rejected]) -> tuple[Flag, ...]:
    """Return the flags of all locations and of the whole reply, each once."""
    flags = {flag for p in places for flag in p.flags}
    if len({p.label.casefold() for p in places if p.label}) > 1:
        flags.add(Flag.SEVERAL_LABELS)
    if places and rejected:
        flags.add(Flag.SOME_REJECTED)
    return tuple(sorted(flags))


def _status(
    answer: AnsweringText,
    found: Found,
    places: Sequence[Place],
    rejected: Sequence[Rejected],
    *,
    truncated: bool,
) -> tuple[ReplyStatus, str]:
    """Return the status of a text, and the reason in a word."""
    if truncated:
        return ReplyStatus.TRUNCATED, "length"
    if is_blank(answer.text) and not found.empty:
        if answer.unfinished:
            return ReplyStatus.TRUNCATED, "reasoning_cut"
        return ReplyStatus.UNPARSED, "empty"
    if not found.complete:
        return ReplyStatus.TRUNCATED, "cut_short"
    if found.foreign:
        return ReplyStatus.AMBIGUOUS, "axis_order"
    if places:
        return ReplyStatus.OK, ""
    if rejected:
        reason = rejected[0].reason
        return _STATUS_OF.get(reason, ReplyStatus.UNPARSED), reason
    return _status_of_prose(answer.text, empty=found.empty)


def _status_of_prose(text: str, *, empty: bool) -> tuple[ReplyStatus, str]:
    """Return the status of a text without any location."""
    if declines(text):
        return ReplyStatus.REFUSED, "declined"
    if empty or is_nothing(text):
        return ReplyStatus.EMPTY, "empty_list"
    if denies(text):
        return ReplyStatus.DENIED_FINDING, "denied_finding"
    return ReplyStatus.UNPARSED, "no_coordinates"
