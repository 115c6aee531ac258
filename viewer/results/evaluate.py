"""Evaluation of a specification over frames."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from math import isnan
from typing import Final, NamedTuple

from viewer.domain.errors import WrongUseError
from viewer.domain.report import Table
from viewer.results.estimators.catalog import (
    broken_metrics,
    estimator_named,
    estimator_names,
)
from viewer.results.estimators.registry import Estimator, Seen, columns_named
from viewer.results.frame import Frame, Frames
from viewer.results.spec import Cell, Key, Line, ListSpec, Spec, TableSpec, Where

Values = Mapping[str, object]
"""What a row is about, by column."""


_ALL: Final[Where] = {}


class _Groups(NamedTuple):
    """A frame's rows by the values of some columns; ``none`` has only its columns."""

    columns: tuple[str, ...]
    rows: Mapping[tuple[object, ...], Frame]
    none: Frame


def evaluate(spec: Spec, frames: Frames) -> Table:
    """Return the table of a specification.

    Raises
    ------
    WrongUseError
        The specification names an unknown frame, column or estimator.
    """
    if isinstance(spec, ListSpec):
        return _listed(spec, _filtered(spec.name, frames, spec.frame, spec.where))
    rows = tuple(_Evaluation(spec, frames).rows())
    return Table(spec.name, spec.header, (*rows, *(spec.below if rows else ())))


def evaluate_all(specs: Sequence[Spec], frames: Frames) -> tuple[Table, ...]:
    """Return the tables of several specifications, in their order."""
    return tuple(evaluate(spec, frames) for spec in specs)


class _Evaluation:
    """Evaluates one table, computing the groups of a frame only once."""

    def __init__(self, spec: TableSpec, frames: Frames) -> None:
        self._spec = spec
        self._frames = frames
        self._keys = {key.column: key for key in spec.keys}
        self._lines, self._numbers = spec.each_line, spec.numbers
        self._grouped: dict[object, _Groups] = {}
        self._filtered: dict[object, Frame] = {}
        self._checked: set[int] = set()
        self._memory: dict[Hashable, object] = {}
        limits = {key.column: key.values for key in spec.keys if key.values}
        self._fixed = {c: of[0] for c, of in spec.where.items() if len(of) == 1}
        self._where = {**spec.where, **limits}
        self._own = _filtered(spec.name, frames, spec.frame, self._where)
        _check(spec, self._own, self._keys)
        self._estimators = dict(_estimators(spec))

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Yield the rows, grouped by outer combination."""
        spec = self._spec
        several = spec.needs_several
        if several and _is_one(self._own[several]):
            return
        choices = [_in_order(self._keys[name], self._own) for name in spec.outer]
        for values in product(*choices):
            outer = dict(zip(spec.outer, values, strict=True))
            rows = self._group("", _ALL, outer)
            if not rows and not spec.every:
                continue
            for columns in spec.inner:
                yield from self._of_set(outer, columns, rows)

    def _of_set(
        self, outer: Values, columns: tuple[str, ...], rows: Frame
    ) -> Iterator[tuple[object, ...]]:
        alone = [name for name in columns if name in self._spec.only_several]
        if any(_is_one(rows[name]) for name in alone):
            return
        for values in self._combinations(columns, rows):
            about = {**outer, **dict(zip(columns, values, strict=True))}
            shown = tuple(self._shown(about))
            for line in self._lines:
                for numbers in self._of_line(line, about):
                    yield (*shown, *numbers)

    def _combinations(
        self, columns: tuple[str, ...], rows: Frame
    ) -> Sequence[tuple[object, ...]]:
        """Return the keys of the rows of a set, in the table's order."""
        if not columns:
            return [()]
        seen = dict.fromkeys(rows.each(*columns))
        keys = [self._keys[name] for name in columns]
        if not any(key.values or key.ascending for key in keys):
            return list(seen)
        places: dict[tuple[object, ...], int] = {}

        def place(values: tuple[object, ...]) -> tuple[object, ...]:
            free = [
                value
                for key, value in zip(keys, values, strict=True)
                if not (key.values or key.ascending)
            ]
            ranks = [
                key.values.index(value) if key.values else value
                for key, value in zip(keys, values, strict=True)
                if key.values or key.ascending
            ]
            # Tuples compare from the left: free keys keep the order in which they came.
            return (places.setdefault(tuple(free), len(places)), *ranks)

        return sorted(seen, key=place)

    def _shown(self, about: Values) -> Iterator[object]:
        return (_plain(about.get(k.column, k.total)) for k in self._spec.keys)

    def _of_line(self, line: Line, about: Values) -> Iterator[Sequence[object]]:
        """Yield a line's numbers, once per index if they are lists."""
        if line.needs and not self._group("", line.needs, {**self._fixed, **about}):
            return
        record = dict(line.told)
        for cell in line.cells:
            record |= zip(cell.names, self._cell(cell, about), strict=True)
        numbers = [record.get(name) for name in self._numbers]
        lists = [one for one in numbers if isinstance(one, list)]
        if not lists:
            yield numbers
        for i in range(len(lists[0]) if lists else 0):
            yield [_plain(one[i]) if isinstance(one, list) else one for one in numbers]

    def _cell(self, cell: Cell, about: Values) -> Iterable[object]:
        if cell.blank and cell.blank not in about:
            return (None for _ in cell.names)
        is_total = len(about) < len(self._keys)
        name = cell.total if is_total and cell.total else cell.estimator
        return map(_plain, self._estimated(name, cell, about))

    def _estimated(self, name: str, cell: Cell, about: Values) -> Sequence[object]:
        seen = self._seen(cell, about)
        try:
            values = tuple(self._estimators[name](seen))
        except KeyError as error:
            raise WrongUseError(
                f"The table '{self._spec.name}' gives the estimator '{name}' no column "
                f"or option {error}.",
                f"It has the columns {', '.join(seen.rows.columns)}.",
            ) from error
        if len(values) < len(cell.names):
            raise WrongUseError(
                f"The table '{self._spec.name}' has {len(cell.names)} names for the "
                f"{len(values)} values of the estimator '{name}'.",
                "Give one name for each value.",
            )
        return values[: len(cell.names)]

    def _seen(self, cell: Cell, about: Values) -> Seen:
        others, about = None, {**self._fixed, **about}
        if cell.against:
            held = {**about, **cell.against}.items()
            wanted = {column: value for column, value in held if value is not None}
            others = self._group(cell.frame, cell.where, wanted)
        rows = self._group(cell.frame, cell.where, about)
        if id(cell) not in self._checked:
            named = (*cell.of, *columns_named(cell.options), *cell.against)
            _need(self._spec.name, rows, named)
            self._checked.add(id(cell))
        return Seen(rows, others, cell.of, cell.options, self._memory)

    def _group(self, frame: str, where: Where, about: Values) -> Frame:
        """Return a frame's rows that belong to a table row, by the keys it has."""
        # By identity, which is quick, and safe: what asks is kept as long as this is.
        which = (frame, id(where), *about)
        groups = self._grouped.get(which) or self._grouped.setdefault(
            which, self._groups(frame, where, tuple(about))
        )
        values = tuple([about[name] for name in groups.columns])
        # Empty, but with its columns, whose names are still checked.
        return groups.rows.get(values, groups.none)

    def _groups(self, frame: str, where: Where, names: tuple[str, ...]) -> _Groups:
        source = (frame, *((name, tuple(of)) for name, of in where.items()))
        if source not in self._filtered:
            base = self._own
            if frame:
                base = _filtered(self._spec.name, self._frames, frame, {})
            self._filtered[source] = _taken(self._spec.name, base, where)
        rows = self._filtered[source]
        columns = tuple(name for name in names if name in rows.shared)
        # Cells with equal conditions share their groups.
        alike = ("", source, columns)
        if alike not in self._grouped:
            groups = _Groups(columns, rows.groups(*columns), rows.take(()))
            self._grouped[alike] = groups
        return self._grouped[alike]


def _is_one(values: Iterable[object]) -> bool:
    """Tell whether there are fewer than two values."""
    return len(set(values)) < 2


def _in_order(key: Key, rows: Frame) -> Sequence[object]:
    if key.values:
        return key.values
    seen = list(dict.fromkeys(rows[key.column]))
    return sorted(seen) if key.ascending else seen


def _listed(spec: ListSpec, rows: Frame) -> Table:
    columns = spec.columns or rows.columns
    _need(spec.name, rows, columns)
    values = (tuple(map(_plain, row)) for row in rows.each(*columns))
    return Table(spec.name, columns, tuple(values))


def _filtered(table: str, frames: Frames, name: str, where: Where) -> Frame:
    if name not in frames:
        raise WrongUseError(
            f"The table '{table}' is made from '{name}', which the study does not "
            "produce.",
            f"It produces {', '.join(frames)}.",
        )
    return _taken(table, frames[name], where)


def _taken(table: str, rows: Frame, where: Where) -> Frame:
    _need(table, rows, where)
    return rows.where(where)


def _check(spec: TableSpec, rows: Frame, keys: Mapping[str, Key]) -> None:
    _need(spec.name, rows, [*keys, *filter(None, [spec.needs_several])])
    blank = (cell.blank for cell in spec.each_cell if cell.blank)
    columns = (*spec.outer, *chain(*spec.sets), *spec.only_several, *blank)
    apart = (name for name in columns if name not in keys)
    if stray := next(apart, ""):
        raise WrongUseError(
            f"The table '{spec.name}' distinguishes rows by '{stray}', which is not "
            "one of its keys.",
            f"Its keys are {', '.join(keys)}.",
        )


def _estimators(spec: TableSpec) -> Iterator[tuple[str, Estimator]]:
    """Yield the estimators that a table asks for, by name."""
    for name in filter(
        None, (n for c in spec.each_cell for n in (c.estimator, c.total))
    ):
        estimator = estimator_named(name)
        if estimator is None:
            broken = {one.name: one.why for one in broken_metrics()}
            raise WrongUseError(
                f"The table '{spec.name}' asks for the estimator '{name}', which "
                "this program does not have.",
                broken.get(name) or f"It has {', '.join(estimator_names())}.",
            )
        yield name, estimator


def _need(
    table: str, rows: Frame, columns: Sequence[str] | Mapping[str, object]
) -> None:
    missing = [name for name in columns if name not in rows.shared]
    if missing:
        raise WrongUseError(
            f"The table '{table}' names the column '{missing[0]}', which its records "
            "do not have.",
            f"They have {', '.join(rows.columns)}.",
        )


def _plain(value: object) -> object:
    """Return a value without NumPy types, None for NaN."""
    if value is None or isinstance(value, str | int):
        return value
    item = getattr(value, "item", None)
    value = item() if callable(item) else value
    return None if isinstance(value, float) and isnan(value) else value
