"""Every trial judged once more, from its raw reply to its row of items.csv."""

import base64
import json
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from string import ascii_uppercase
from typing import Any

from viewer.writers.verify.archive import Bundle
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
    body_of,
    could_name,
    plain_cell,
    said_in,
)

Row = tuple[object, ...]
ABSENT = " absent"


class MismatchError(Exception):
    """A published value is not what follows from the bundle; a sentence names it."""


@dataclass(frozen=True)
class Judged:
    """A trial and its verdict, as the tables count it.

    ``cell`` is the answered cell's row-major index, -1 without one; ``hits`` the
    qualifying cells, ``other_hits`` those in the mask mode that was not chosen, None
    where there is no usable mask.
    """

    item: str
    patient: str
    view: str
    finding: str
    condition: str
    repeat: int
    model: str
    status: str
    reason: str
    answer: str
    outcome: str
    coverage: float | None
    n_cells: int
    cell: int
    hits: tuple[int, ...]
    other_hits: tuple[int, ...] | None
    request: str

    @property
    def settled(self) -> bool:
        """Whether the trial counts in the denominator of the primary rate."""
        return self.status not in ("excluded", "pending")

    @property
    def hit(self) -> bool:
        """Whether it counts as a hit."""
        return self.status == "scored_correct"


@dataclass
class Judge:
    """What trials are judged by; counts what it had to take from the bundle.

    ``worded`` replies name a cell in words, whose stored reading was held against the
    reply but not made again; of ``placed`` ones the stored point, boxes or map were
    put into their cell again, of ``masks`` the stored cell was taken.
    """

    params: Mapping[str, Any]
    grids: Mapping[str, tuple[int, int]]
    images: Mapping[str, Any]
    replies: Sequence[Mapping[str, Any]]
    read: int = 0
    worded: int = 0
    placed: int = 0
    masks: int = 0

    @property
    def sending(self) -> Sending:
        """How images were sent."""
        params = self.params
        threshold = Fraction(repr(params["hit_threshold"]))
        return Sending(params["side"], params["fit_mode"], threshold)

    def trial(self, trial: Mapping[str, Any]) -> Judged:
        """Judge a trial; a reading that the reply contradicts raises."""
        grid = self.grids[trial["condition"]]
        chosen, other = self._seen(trial, grid)
        status, reason, cell = self._reading(trial, grid)
        verdict = self._verdict(trial, (status, reason, cell), chosen, grid)
        status, reason, answer, outcome, coverage = verdict
        return Judged(
            **{key: trial[key] for key in _COPIED},
            status=status,
            reason=reason,
            answer=answer,
            outcome=outcome,
            coverage=coverage,
            n_cells=grid[0] * grid[1] if chosen else 0,
            cell=self._index(answer, grid) if chosen and answer else -1,
            hits=chosen.hits if chosen else (),
            other_hits=other.hits if other else None,
            request=trial["request_sha256"],
        )

    def label(self, index: int, grid: tuple[int, int]) -> str:
        """Return a cell's name."""
        row, column = divmod(index, grid[1])
        if self.params["letters"] == "column":
            row, column = column, row
        return f"{ascii_uppercase[row]}{column + 1}"

    def _index(self, name: str, grid: tuple[int, int]) -> int:
        """Return the row-major index of a cell's name, -1 outside the grid."""
        row, column = ascii_uppercase.find(name[0].upper()), int(name[1:]) - 1
        if self.params["letters"] == "column":
            row, column = column, row
        inside = 0 <= row < grid[0] and 0 <= column < grid[1]
        return row * grid[1] + column if inside else -1

    def _seen(
        self, trial: Mapping[str, Any], grid: tuple[int, int]
    ) -> tuple[Seen | None, Seen | None]:
        """Return the reference in the run's mask mode and in the other one."""
        image = self.images[trial["image"]]
        mask = image["masks"].get(trial["finding"])
        if mask is None:
            return None, None
        about = (*mask["size"], mask["counts"], grid, self.sending)
        both = seen_by_pixels(*about), seen_by_area(*about)
        return both if self.params["mask_mode"] == "paper" else (both[1], both[0])

    def _reading(
        self, trial: Mapping[str, Any], grid: tuple[int, int]
    ) -> tuple[str, str, int]:
        """Return status, reason and cell (-1 for none) of what a trial answered."""
        if trial["reply"] is None:
            return trial["status"], trial["reason"], -1
        self.read += 1
        reply = self.replies[trial["reply"]]
        said = said_in(reply["kind"], body_of(dict(reply)), reply["length_cap"])
        parsed = json.loads(trial["parsed"])
        if said is None or not parsed:
            return "provider_error", trial["reason"], -1
        if said.refusal:
            return "refused", trial["reason"], -1
        if said.finish in REFUSALS:
            return "refused", said.finish, -1
        if "type" in parsed:
            return self._placed(trial, parsed, said, grid)
        return self._named(trial, parsed, said, grid)

    def _named(
        self,
        trial: Mapping[str, Any],
        parsed: Mapping[str, Any],
        said: Said,
        grid: tuple[int, int],
    ) -> tuple[str, str, int]:
        """Read a cell's name, or hold the stored reading against the reply."""
        cell = -1
        if "cell" in parsed:
            row, column = parsed["cell"]
            cell = row * grid[1] + column
        plain = plain_cell(said.text, whole_only=said.finish in CUT_SHORT)
        if plain is None:
            self.worded += 1
            self._hold(trial, said.text, cell, grid)
        elif self._index(plain, grid) != cell:
            raise MismatchError(
                f"trials.jsonl, {_name(trial)}: the reply says {plain}, the stored "
                "reading is another one."
            )
        if cell >= 0:
            return "answered", "", cell
        return parsed["status"], parsed["reason"], -1

    def _hold(
        self, trial: Mapping[str, Any], text: str, cell: int, grid: tuple[int, int]
    ) -> None:
        """Refuse a cell whose letter or number is nowhere in a worded reply."""
        if cell >= 0 and not could_name(text, self.label(cell, grid)):
            raise MismatchError(
                f"trials.jsonl, {_name(trial)}: the stored reading is "
                f"{self.label(cell, grid)}, which the reply does not name."
            )

    def _placed(
        self,
        trial: Mapping[str, Any],
        parsed: Mapping[str, Any],
        said: Said,
        grid: tuple[int, int],
    ) -> tuple[str, str, int]:
        """Return the cell of a stored place in native pixels."""
        if said.finish in CUT_SHORT:
            return "truncated", "length", -1
        if parsed["type"] == "mask":
            self.masks += 1
            name = trial["answer"]
            return _at(self._index(name, grid) if name else -1)
        self.placed += 1
        x, y = _POINTS[parsed["type"]](parsed)
        image = self.images[trial["image"]]
        left, top, right, bottom = field_of(
            image["size"][0], image["size"][1], self.sending
        )
        column = _part(x, left, right, grid[1])
        row = _part(y, top, bottom, grid[0])
        return _at(-1 if min(row, column) < 0 else row * grid[1] + column)

    def _verdict(
        self,
        trial: Mapping[str, Any],
        reading: tuple[str, str, int],
        seen: Seen | None,
        grid: tuple[int, int],
    ) -> tuple[str, str, str, str, float | None]:
        """Return status, reason, answer, outcome and coverage."""
        status, reason, cell = reading
        if seen is None:
            return self._without_mask(trial, reading, grid)
        if cell < 0:
            return status, reason, "", "", None
        coverage = seen.covered[cell] / seen.area[cell]
        outcome = "partial" if coverage > 0 else "miss"
        if cell in seen.hits:
            outcome = "full_fallback" if seen.fallback else "full"
        status = "scored_correct" if cell in seen.hits else "scored_wrong"
        return status, "", self.label(cell, grid), outcome, coverage

    def _without_mask(
        self,
        trial: Mapping[str, Any],
        reading: tuple[str, str, int],
        grid: tuple[int, int],
    ) -> tuple[str, str, str, str, float | None]:
        status, reason, cell = reading
        if trial["condition"].endswith(ABSENT):
            if cell >= 0:
                name = self.label(cell, grid)
                return "scored_wrong", "capitulated", name, "", None
            if status == "denied_finding":
                return "scored_correct", "denied_absent", "", "", None
            return status, reason, "", "", None
        name = self.label(cell, grid) if cell >= 0 else ""
        if trial["reply"] is not None:
            return "excluded", trial["reason"], name, "", None
        return status, reason, name, "", None


_COPIED = (*("item", "patient", "view", "finding", "condition", "repeat", "model"),)


def judge_of(bundle: Bundle) -> Judge:
    """Return the judge of a bundle's trials."""
    plan = json.loads(bundle.members["plan.json"])
    grids = {c["name"]: (c["rows"], c["columns"]) for c in plan["conditions"]}
    images = json.loads(bundle.members["references.json"])["images"]
    replies = tuple(bundle.lines("replies.jsonl"))
    return Judge(plan["params"], grids, images, replies)


def _name(trial: Mapping[str, Any]) -> str:
    return f"{trial['item']}, {trial['condition']}, {trial['model']}"


def _at(cell: int) -> tuple[str, str, int]:
    if cell >= 0:
        return "answered", "", cell
    return "out_of_range", "not_on_what_was_sent", -1


def _centre_of_largest(parsed: Mapping[str, Any]) -> tuple[float, float]:
    boxes = parsed["boxes"]
    x0, y0, x1, y1 = max(boxes, key=lambda b: (b[2] - b[0]) * (b[3] - b[1]))
    return (x0 + x1) / 2, (y0 + y1) / 2


def _greatest_of_map(parsed: Mapping[str, Any]) -> tuple[float, float]:
    """Return the centre of a map's greatest element, the first in row-major order."""
    heat = parsed["heat_map"]
    rows, columns = heat["rows"], heat["columns"]
    data = base64.b64decode(heat["data"], validate=True)
    values = struct.unpack(f"<{rows * columns}e", data)
    row, column = divmod(values.index(max(values)), columns)
    x0, y0, x1, y1 = parsed["field"]
    return x0 + (column + 0.5) * (x1 - x0) / columns, (
        y0 + (row + 0.5) * (y1 - y0) / rows
    )


_POINTS: Mapping[str, Callable[[Mapping[str, Any]], tuple[float, float]]] = {
    "point": lambda parsed: tuple(parsed["point"]),
    "boxes": _centre_of_largest,
    "heat_map": _greatest_of_map,
}
"""The point that stands for a place of each type."""


def _part(value: float, start: float, stop: float, cells: int) -> int:
    if not start <= value <= stop:
        return -1
    return min(int((value - start) / (stop - start) * cells), cells - 1)
