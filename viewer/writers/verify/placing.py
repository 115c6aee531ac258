"""Answers that are locations judged again, on the reference under their grid."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from string import ascii_uppercase
from typing import Any

from viewer.writers.verify.masks import (
    Seen,
    Sending,
    field_of,
    hits_at,
    outside_crop,
    seen_by_area,
    seen_by_pixels,
)
from viewer.writers.verify.measuring import (
    Drawn,
    Ground,
    drawn_of,
    measures_of,
    point_of,
)
from viewer.writers.verify.replies import (
    CUT_SHORT,
    REFUSALS,
    ReadReply,
    could_name,
    plain_cell,
)
from viewer.writers.verify.trial_check import TrialCheck, stored_state
from viewer.writers.verify.verdicts import LEFT_OUT, RIGHT, WRONG, Placed

ABSENT = " absent"
THRESHOLDS = range(10, 100, 10)
"""Coverages in per cent."""
_SPACING = ("row_mm", "column_mm", "meaning")
_Reading = tuple[str, str, int]
"""Status, reason and the row-major index of a cell, -1 for none."""


def letters_of(condition: str, params: Mapping[str, Any]) -> str:
    """Return what the letters of a condition's grid stand for."""
    found = varied_in(condition).get("letters", params["letters"])
    return str(found)


def varied_in(condition: str) -> dict[str, str]:
    """Return what a condition's name says of its grid, by name."""
    pairs = (part.partition("=") for part in condition.split())
    return {name: level for name, _, level in pairs if level}


def cell_name(index: int, columns: int, letters: str) -> str:
    """Return a cell's name; ``letters`` says what they stand for, "row" or "column"."""
    row, column = divmod(index, columns)
    if letters == "column":
        row, column = column, row
    return f"{ascii_uppercase[row]}{column + 1}"


def ground_of(
    image: Mapping[str, Any], grid: tuple[int, int], params: Mapping[str, Any]
) -> Ground:
    """Return an image under a grid, and the part of it that was sent."""
    rows, columns = image["size"]
    spacing = image.get("spacing")
    return Ground(
        (rows, columns),
        field_of(rows, columns, sending_of(image, params)),
        grid,
        image["pixel_aspect"],
        tuple(spacing[n] for n in _SPACING) if spacing else None,
    )


def sending_of(image: Mapping[str, Any], params: Mapping[str, Any]) -> Sending:
    """Return how an image was sent."""
    # repr: 0.1 as it was written, not the binary number beside it.
    threshold = Fraction(repr(params["hit_threshold"]))
    aspect = Fraction(image["pixel_aspect"])
    return Sending(params["side"], params["fit_mode"], threshold, aspect)


@dataclass(frozen=True)
class PlaceCheck:
    """One trial that asks for a place.

    A worded reply is compared with the stored reading. A stored point, boxes, mask or
    map are put into their cell again.
    """

    check: TrialCheck

    def judged(self) -> tuple[str, str, str, Placed]:
        """Return the recomputed status, reason, answer and location."""
        chosen, other = self._seen()
        reading = self._reading() if self._trial["steps"] else (*self._stored, -1)
        status, reason, answer, outcome, coverage = self._verdict(reading, chosen)
        if (stored := self._trial["answer"]) != answer:
            self.check.tell(f"the answer is {stored or 'none'}, but {answer or 'none'}")
        rows, columns = self._grid
        told, hits = "to_find" in self._image, chosen.hits if chosen else ()
        placed = Placed(
            outcome=outcome,
            coverage=coverage,
            n_cells=rows * columns if chosen else 0,
            cell=self._index(answer) if chosen and answer else -1,
            hits=hits,
            other_hits=other.hits if other else None,
            share=chosen.share if chosen else None,
            at_thresholds=self._at_thresholds(chosen) if chosen else (),
            outside_crop=self._outside_crop(),
            measures=self._measures(answer, hits) if told else None,
            drawn=self._drawn(answer) if told else None,
        )
        return status, reason, answer, placed

    @property
    def _trial(self) -> Mapping[str, Any]:
        return self.check.trial

    @property
    def _stored(self) -> tuple[str, str]:
        return stored_state(self._trial)

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
    def _letters(self) -> str:
        return letters_of(self._trial["condition"], self._params)

    def _label(self, index: int) -> str:
        return cell_name(index, self._grid[1], self._letters)

    def _index(self, name: str) -> int:
        """Return the row-major index of a cell's name, -1 outside the grid."""
        row, column = ascii_uppercase.find(name[0].upper()), int(name[1:]) - 1
        if self._letters == "column":
            row, column = column, row
        rows, columns = self._grid
        inside = 0 <= row < rows and 0 <= column < columns
        return row * columns + column if inside else -1

    def _seen(self) -> tuple[Seen | None, Seen | None]:
        """Return the reference in the run's mask mode and in the other one."""
        mask = self._image["masks"].get(self._trial["finding"])
        if mask is None:
            return None, None
        sending = sending_of(self._image, self._params)
        about = (*mask["size"], mask["counts"], self._grid, sending)
        both = seen_by_pixels(*about), seen_by_area(*about)
        return both if self._params["mask_mode"] == "paper" else (both[1], both[0])

    def _outside_crop(self) -> float | None:
        """Return the fraction of the mask that the crop cuts off, None without one."""
        mask = self._image["masks"].get(self._trial["finding"])
        if mask is None:
            return None
        sending = sending_of(self._image, self._params)
        return outside_crop(*mask["size"], mask["counts"], sending)

    def _at_thresholds(self, seen: Seen) -> tuple[tuple[tuple[int, ...], bool], ...]:
        whole = self._params["mask_mode"] == "paper"
        return tuple(hits_at(seen, one, whole=whole) for one in THRESHOLDS)

    def _reading(self) -> _Reading:
        """Return what the trial's reply answers."""
        reply, parsed, reason = (
            self.check.answer_reply(),
            self.check.parsed,
            self._stored[1],
        )
        if reply is None or not parsed:
            return "provider_error", reason, -1
        if reply.refusal:
            return "refused", reason, -1
        if reply.finish in REFUSALS:
            return "refused", reply.finish, -1
        return self._placed(reply) if "type" in parsed else self._named(reply)

    def _named(self, reply: ReadReply) -> _Reading:
        """Read a cell's name, or compare the stored reading with the reply."""
        parsed, cell = self.check.parsed, -1
        if "cell" in parsed:
            row, column = parsed["cell"]
            cell = row * self._grid[1] + column
        plain = plain_cell(reply.text, whole_only=reply.finish in CUT_SHORT)
        self.check.source.tally["held" if plain is None else "plain"] += 1
        if plain is None:
            if cell >= 0 and not could_name(reply.text, self._label(cell)):
                name = self._label(cell)
                self.check.tell(
                    f"the stored answer is {name}, which the reply does not name"
                )
        elif self._index(plain) != cell:
            self.check.tell(
                f"the reply says {plain}, but the stored answer is different"
            )
        if cell >= 0:
            return "answered", "", cell
        return parsed["status"], parsed["reason"], -1

    def _placed(self, reply: ReadReply) -> _Reading:
        """Return the cell of a stored place in native pixels."""
        parsed = self.check.parsed
        if reply.finish in CUT_SHORT:
            return "truncated", "length", -1
        self.check.source.tally["places"] += 1
        return _at(self._ground.cell_at(point_of(parsed, self._ground)))

    @property
    def _ground(self) -> Ground:
        return ground_of(self._image, self._grid, self._params)

    def _measures(self, answer: str, hits: Sequence[int]) -> dict[str, Any] | None:
        """Return how the answer overlaps the reference, None if either is missing."""
        mask = self._image["masks"].get(self._trial["finding"])
        place = self._place(answer)
        if mask is None or place is None:
            return None
        return measures_of(place, mask["counts"], self._ground, hits)

    def _drawn(self, answer: str) -> Drawn | None:
        place, finding = self._place(answer), self._trial["finding"]
        return drawn_of(place, self._image, finding, self._ground)

    def _place(self, answer: str) -> Mapping[str, Any] | None:
        """Return the answer as a location, None without one."""
        if "type" in self.check.parsed:
            return self.check.parsed
        return {"cell": self._index(answer)} if answer else None

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
            return LEFT_OUT, self._stored[1], name
        return status, reason, name


def _at(cell: int) -> tuple[str, str, int]:
    if cell >= 0:
        return "answered", "", cell
    return "out_of_range", "not_on_what_was_sent", -1
