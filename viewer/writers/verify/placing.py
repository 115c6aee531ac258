"""Answers that are places judged once more, on the reference under their grid."""

import base64
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from string import ascii_uppercase
from typing import Any

from viewer.writers.verify.masks import (
    Seen,
    Sending,
    field_of,
    seen_by_area,
    seen_by_pixels,
)
from viewer.writers.verify.replies import (
    CUT_SHORT,
    REFUSALS,
    Said,
    could_name,
    plain_cell,
)
from viewer.writers.verify.trial_check import TrialCheck, kept_state
from viewer.writers.verify.verdicts import LEFT_OUT, RIGHT, WRONG, Placed

ABSENT = " absent"
_Field = tuple[float, float, float, float]
_Reading = tuple[str, str, int]
"""Status, reason and the row-major index of a cell, -1 for none."""


def cell_name(index: int, columns: int, letters: str) -> str:
    """Return a cell's name; ``letters`` says what they stand for, "row" or "column"."""
    row, column = divmod(index, columns)
    if letters == "column":
        row, column = column, row
    return f"{ascii_uppercase[row]}{column + 1}"


@dataclass(frozen=True)
class PlaceCheck:
    """One trial that asks for a place.

    A worded reply is held against the stored reading. A stored point, boxes or map are
    put into their cell again, of a mask the stored cell is taken.
    """

    check: TrialCheck

    def judged(self) -> tuple[str, str, str, Placed]:
        """Return status, reason, answer and place as they follow."""
        chosen, other = self._seen()
        reading = self._reading() if self._trial["steps"] else (*self._kept, -1)
        status, reason, answer, outcome, coverage = self._verdict(reading, chosen)
        if (kept := self._trial["answer"]) != answer:
            self.check.tell(f"the answer is {kept or 'none'}, but {answer or 'none'}")
        rows, columns = self._grid
        placed = Placed(
            outcome=outcome,
            coverage=coverage,
            n_cells=rows * columns if chosen else 0,
            cell=self._index(answer) if chosen and answer else -1,
            hits=chosen.hits if chosen else (),
            other_hits=other.hits if other else None,
        )
        return status, reason, answer, placed

    @property
    def _trial(self) -> Mapping[str, Any]:
        return self.check.trial

    @property
    def _kept(self) -> tuple[str, str]:
        return kept_state(self._trial)

    @property
    def _params(self) -> Mapping[str, Any]:
        return self.check.source.params

    @property
    def _image(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = (self.check.source.images or {})[
            self._trial["image"]
        ]
        return found

    @property
    def _grid(self) -> tuple[int, int]:
        rows, columns = self._trial["gold"]["grid"]
        return rows, columns

    @property
    def _sending(self) -> Sending:
        """How images were sent."""
        params = self._params
        threshold = Fraction(repr(params["hit_threshold"]))
        aspect = Fraction(self._image["pixel_aspect"])
        return Sending(params["side"], params["fit_mode"], threshold, aspect)

    def _label(self, index: int) -> str:
        return cell_name(index, self._grid[1], self._params["letters"])

    def _index(self, name: str) -> int:
        """Return the row-major index of a cell's name, -1 outside the grid."""
        row, column = ascii_uppercase.find(name[0].upper()), int(name[1:]) - 1
        if self._params["letters"] == "column":
            row, column = column, row
        rows, columns = self._grid
        inside = 0 <= row < rows and 0 <= column < columns
        return row * columns + column if inside else -1

    def _seen(self) -> tuple[Seen | None, Seen | None]:
        """Return the reference in the run's mask mode and in the other one."""
        mask = self._image["masks"].get(self._trial["finding"])
        if mask is None:
            return None, None
        about = (*mask["size"], mask["counts"], self._grid, self._sending)
        both = seen_by_pixels(*about), seen_by_area(*about)
        return both if self._params["mask_mode"] == "paper" else (both[1], both[0])

    def _reading(self) -> _Reading:
        """Return what the trial's reply answers."""
        said, parsed, reason = self.check.own(), self.check.parsed, self._kept[1]
        if said is None or not parsed:
            return "provider_error", reason, -1
        if said.refusal:
            return "refused", reason, -1
        if said.finish in REFUSALS:
            return "refused", said.finish, -1
        return self._placed(said) if "type" in parsed else self._named(said)

    def _named(self, said: Said) -> _Reading:
        """Read a cell's name, or hold the stored reading against the reply."""
        parsed, cell = self.check.parsed, -1
        if "cell" in parsed:
            row, column = parsed["cell"]
            cell = row * self._grid[1] + column
        plain = plain_cell(said.text, whole_only=said.finish in CUT_SHORT)
        self.check.source.tally["held" if plain is None else "plain"] += 1
        if plain is None:
            if cell >= 0 and not could_name(said.text, self._label(cell)):
                name = self._label(cell)
                self.check.tell(
                    f"the stored reading is {name}, which the reply does not name"
                )
        elif self._index(plain) != cell:
            self.check.tell(f"the reply says {plain}, the stored reading another one")
        if cell >= 0:
            return "answered", "", cell
        return parsed["status"], parsed["reason"], -1

    def _placed(self, said: Said) -> _Reading:
        """Return the cell of a stored place in native pixels."""
        parsed = self.check.parsed
        if said.finish in CUT_SHORT:
            return "truncated", "length", -1
        if parsed["type"] == "mask":
            self.check.source.tally["masks"] += 1
            name = self._trial["answer"]
            return _at(self._index(name) if name else -1)
        self.check.source.tally["places"] += 1
        height, width = self._image["size"]
        sent = field_of(height, width, self._sending)
        x, y = POINTS[parsed["type"]](parsed, sent)
        left, top, right, bottom = sent
        rows, columns = self._grid
        column, row = _part(x, left, right, columns), _part(y, top, bottom, rows)
        return _at(-1 if min(row, column) < 0 else row * columns + column)

    def _verdict(
        self, reading: _Reading, seen: Seen | None
    ) -> tuple[str, str, str, str, float | None]:
        """Return status, reason, answer, outcome and coverage."""
        status, reason, cell = reading
        if seen is None:
            return *self._without_mask(reading), "", None
        if cell < 0:
            return status, reason, "", "", None
        coverage = seen.covered[cell] / seen.area[cell]
        outcome = "partial" if coverage > 0 else "miss"
        if cell in seen.hits:
            outcome = "full_fallback" if seen.fallback else "full"
        status = RIGHT if cell in seen.hits else WRONG
        return status, "", self._label(cell), outcome, coverage

    def _without_mask(self, reading: _Reading) -> tuple[str, str, str]:
        """Return status, reason and answer."""
        status, reason, cell = reading
        name = self._label(cell) if cell >= 0 else ""
        if self._trial["condition"].endswith(ABSENT):
            if name:
                return WRONG, "capitulated", name
            if status == "denied_finding":
                return RIGHT, "denied_absent", ""
            return status, reason, ""
        if self._trial["steps"]:
            return LEFT_OUT, self._kept[1], name
        return status, reason, name


def _at(cell: int) -> tuple[str, str, int]:
    if cell >= 0:
        return "answered", "", cell
    return "out_of_range", "not_on_what_was_sent", -1


def _centre_of_largest(parsed: Mapping[str, Any], sent: _Field) -> tuple[float, float]:
    """Return the centre of the largest box of what was sent, else of all of them."""
    left, top, right, bottom = sent
    boxes = [
        (max(x0, left), max(y0, top), min(x1, right), min(y1, bottom))
        for x0, y0, x1, y1 in parsed["boxes"]
        if x0 < right and x1 > left and y0 < bottom and y1 > top
    ]
    x0, y0, x1, y1 = max(
        boxes or parsed["boxes"], key=lambda b: (b[2] - b[0]) * (b[3] - b[1])
    )
    return (x0 + x1) / 2, (y0 + y1) / 2


def _greatest_of_map(parsed: Mapping[str, Any], sent: _Field) -> tuple[float, float]:
    """Return the centre of a map's greatest element, the first in row-major order.

    It is one whose centre was sent, where there are any.
    """
    heat = parsed["heat_map"]
    rows, columns = heat["rows"], heat["columns"]
    data = base64.b64decode(heat["data"], validate=True)
    values = struct.unpack(f"<{rows * columns}e", data)
    x0, y0, x1, y1 = parsed["field"]
    centres = [
        (x0 + (column + 0.5) * (x1 - x0) / columns, y0 + (row + 0.5) * (y1 - y0) / rows)
        for row in range(rows)
        for column in range(columns)
    ]
    left, top, right, bottom = sent
    within = [
        (value, place)
        for value, place in zip(values, centres, strict=True)
        if left <= place[0] < right and top <= place[1] < bottom
    ]
    return max(within or zip(values, centres, strict=True), key=lambda of: of[0])[1]


POINTS: Mapping[str, Callable[[Mapping[str, Any], _Field], tuple[float, float]]] = {
    "point": lambda parsed, _sent: tuple(parsed["point"]),
    "boxes": _centre_of_largest,
    "heat_map": _greatest_of_map,
}
"""The point that stands for a place of each type."""


def _part(value: float, start: float, stop: float, cells: int) -> int:
    if not start <= value <= stop:
        return -1
    return min(int((value - start) / (stop - start) * cells), cells - 1)
