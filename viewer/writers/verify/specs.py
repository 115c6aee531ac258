"""Tables recomputed from their specifications in specs.json."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from viewer.writers.verify.agreeing import AGREEMENTS
from viewer.writers.verify.comparing import Worked
from viewer.writers.verify.estimators import COUNTED, Cell, Cells, Later, Rows, Shared
from viewer.writers.verify.finding_boxes import FOUND
from viewer.writers.verify.place_estimators import PLACED

Frames = Mapping[str, Rows]
Values = Mapping[str, Any]
Document = Mapping[str, Any]
Work = Callable[[Sequence[Any]], list[Any]]
"""Does several tasks, in several processes where it pays."""
ESTIMATORS: Mapping[str, Callable[[Cell], Cells | Later]] = {
    **COUNTED,
    **AGREEMENTS,
    **PLACED,
    **FOUND,
}
_OF_REPLICATES = {"agreement of replicates", "rate of items"}
_INTERVALS = {
    *("rate", "pooled rate", "interval", "interval of mean of pooled rates"),
    *("interval of f1", "interval of macro f1"),
}
_SUMMED = {
    *("mean", "median", "gain", "gain over words"),
    *("paired difference", "paired change", "gap of rates", "interval of scores"),
    "intervals of changed rates",
    *_INTERVALS,
    *AGREEMENTS,
    *_OF_REPLICATES,
}
"""Estimators whose numbers may end in another digit: they agree to a billionth."""
_BY_LOGARITHMS = {
    "sensitivities": tuple(
        f"{m}_{x}" for m in ("image", "text") for x in ("s", "corrected")
    )
}
"""Columns of a listed frame that are sums of logarithms, which agree as closely."""
Lines = Sequence[Document]
_Row = tuple[list[Any], Document, list[Cells | Later]]
"""A group's keys, and a line with its cells' values, or what gives them later."""


class UnknownError(Exception):
    """A specification names something unknown here; the message says what."""


def in_turn(tasks: Sequence[Any]) -> list[Any]:
    """Return what each task draws."""
    return [task.work() for task in tasks]


def table_of(spec: Document, frames: Frames, work: Work = in_turn) -> Worked:
    """Return the table that a specification makes of frames, rows as dicts.

    Raises
    ------
    UnknownError
        It names a frame or an estimator that this program does not have.
    """
    every = {"told": (), "cells": spec.get("cells", ()), "needs": {}}
    lines = spec.get("lines") or [every]
    cells = [cell for line in lines for cell in line["cells"]]
    for name in filter(None, [spec["frame"], *(cell["frame"] for cell in cells)]):
        if name not in frames:
            raise UnknownError(f"it is made from '{name}'")
    for name in (cell[part] for cell in cells for part in ("estimator", "total")):
        if name and name not in ESTIMATORS:
            raise UnknownError(f"it asks for the estimator '{name}'")
    if spec["spec"] == "list":
        rows = _taken(frames[spec["frame"]], spec["where"])
        columns = spec["columns"] or list(rows[0] if rows else ())
        of_rows = [tuple(r[c] for c in columns) for r in rows]
        close = _BY_LOGARITHMS.get(spec["frame"], ())
        return Worked(spec["name"], columns, of_rows, close)
    names = [key["header"] or key["column"] for key in spec["keys"]]
    table = _Table(spec, lines, frames)
    worked = table.worked(work)
    return Worked(
        spec["name"],
        [*names, *table.numbers],
        [*worked, *(tuple(row) for row in (spec["below"] if worked else ()))],
        [n for cell in cells if cell["estimator"] in _SUMMED for n in cell["names"]],
    )


def _taken(rows: Rows, where: Values) -> Rows:
    """Return the rows whose columns have one of the given values."""
    return [r for r in rows if all(r[name] in of for name, of in where.items())]


class _Table:
    """One table's specification over its frames; groups are found once."""

    def __init__(self, spec: Document, lines: Lines, frames: Frames) -> None:
        self.spec, self.lines, self.frames = spec, lines, frames
        named = [
            part
            for line in lines
            for part in (dict(line["told"]), *(cell["names"] for cell in line["cells"]))
        ]
        self.numbers = list(dict.fromkeys(name for part in named for name in part))
        self.keys = {key["column"]: key for key in spec["keys"]}
        where = spec["where"]
        limits = {name: k["values"] for name, k in self.keys.items() if k["values"]}
        self.own = _taken(frames[spec["frame"]], {**where, **limits})
        self.fixed = {name: of[0] for name, of in where.items() if len(of) == 1}
        self._groups: dict[str, dict[tuple[Any, ...], Rows]] = {}
        self._shared = Shared()

    def worked(self, work: Work) -> list[tuple[Any, ...]]:
        """Return the rows, once everything they need is drawn."""
        rows = list(self._rows())
        # what is drawn for all findings together is asked for last and takes longest
        tasks = dict(reversed(self._shared.tasks.items()))
        self._shared.made = dict(zip(tasks, work([*tasks.values()]), strict=True))
        return [
            (*keys, *numbers)
            for keys, line, parts in rows
            for numbers in self._of_line(line, parts)
        ]

    def _of_line(
        self, line: Document, parts: Sequence[Cells | Later]
    ) -> Iterator[list[Any]]:
        """Yield a line's numbers; cells that are lists give one row per element."""
        told = dict(line["told"])
        for cell, part in zip(line["cells"], parts, strict=True):
            values = part() if callable(part) else part
            told |= zip(cell["names"], values, strict=False)
        numbers = [told.get(name) for name in self.numbers]
        lists = [one for one in numbers if isinstance(one, list)]
        if not lists:
            yield numbers
        for i in range(len(lists[0]) if lists else 0):
            yield [one[i] if isinstance(one, list) else one for one in numbers]

    def _rows(self) -> Iterator[_Row]:
        """Yield the rows: outer combinations in turn, the sets in each."""
        spec, outer = self.spec, self.spec["outer"]
        if spec["needs_several"] and _alone(self.own, spec["needs_several"]):
            return
        sets = spec["sets"] or [[name for name in self.keys if name not in outer]]
        for values in product(*map(self._in_order, outer)):
            about = dict(zip(outer, values, strict=True))
            rows = self._group("", {}, about)
            for columns in sets if rows or spec["every"] else ():
                several = [name for name in columns if name in spec["only_several"]]
                if not any(_alone(rows, name) for name in several):
                    for more in self._combinations(columns, rows):
                        yield from self._of_group({**about, **more})

    def _in_order(self, name: str) -> Sequence[Any]:
        key = self.keys[name]
        there = list(dict.fromkeys(row[name] for row in self.own))
        return key["values"] or (sorted(there) if key["ascending"] else there)

    def _combinations(self, columns: Sequence[str], rows: Rows) -> list[dict[str, Any]]:
        """Return the keys of rows: as they come, unless a key has an order."""
        if not columns:
            return [{}]
        there = dict.fromkeys(tuple(row[name] for name in columns) for row in rows)
        found = [dict(zip(columns, values, strict=True)) for values in there]
        ranked = [
            n for n in columns if self.keys[n]["values"] or self.keys[n]["ascending"]
        ]
        free = [name for name in columns if name not in ranked]
        places: dict[tuple[Any, ...], int] = {}
        for one in found:
            places.setdefault(tuple(one[name] for name in free), len(places))

        def place(one: Values) -> tuple[Any, ...]:
            of = [(self.keys[name]["values"], one[name]) for name in ranked]
            first = places[tuple(one[name] for name in free)]
            return first, *(list(v).index(x) if v else x for v, x in of)

        return sorted(found, key=place) if ranked else found

    def _of_group(self, about: Values) -> Iterator[_Row]:
        """Yield a group's keys with each line, and the values of the line's cells."""
        keys = [about.get(name, key["total"]) for name, key in self.keys.items()]
        of = {**self.fixed, **about}
        for line in self.lines:
            if not line["needs"] or self._group("", line["needs"], of):
                yield keys, line, [self._cell(cell, about) for cell in line["cells"]]

    def _cell(self, cell: Document, about: Values) -> Cells | Later:
        if cell["blank"] and cell["blank"] not in about:
            return [None] * len(cell["names"])
        is_total = cell["total"] and len(about) < len(self.keys)
        name = cell["total"] if is_total else cell["estimator"]
        return ESTIMATORS[name](self._seen(cell, about))

    def _seen(self, cell: Document, about: Values) -> Cell:
        about, where = {**self.fixed, **about}, cell["where"]
        others = None
        if cell["against"]:
            held = {**about, **cell["against"]}.items()
            wanted = {name: value for name, value in held if value is not None}
            others = self._group(cell["frame"], where, wanted)
        own = self._group(cell["frame"], where, about)
        return Cell(own, others, cell["of"], cell["options"], self._shared)

    def _group(self, frame: str, where: Values, about: Values) -> Rows:
        """Return the rows of a frame, or the table's own, that match values."""
        rows = self.frames[frame] if frame else self.own
        columns = [name for name in about if rows and name in rows[0]]
        # Their text, because lists of values cannot be keys.
        which = repr((frame, where, columns))
        if which not in self._groups:
            groups = self._groups.setdefault(which, {})
            for row in _taken(rows, where):
                groups.setdefault(tuple(row[name] for name in columns), []).append(row)
        return self._groups[which].get(tuple(about[name] for name in columns), [])


def _alone(rows: Rows, name: str) -> bool:
    """Tell whether a column has fewer than two values."""
    return len({row[name] for row in rows} - {None}) < 2
