"""The flat table of predictions: each planned trial as numbers, counted by kind.

A *stratum* is a run, finding, view, condition and model; a *verdict* a status with an
outcome. The counts are enough for everything but patients and coverage, whatever the
number of trials.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.answer import Status
from viewer.domain.case import ImageRef
from viewer.domain.escapes import path_of
from viewer.domain.result import Outcome, Score
from viewer.domain.run import Trial
from viewer.store.database import Store
from viewer.store.schema.predictions import fill
from viewer.store.trial_columns import columns_of_trials
from viewer.store.trials import SCORED, trials_in

Ints = npt.NDArray[np.int64]
_Where = tuple[str, tuple[object, ...]]
_REFERRED: Final = (
    ("prediction_verdict", "verdict_id"),
    ("prediction_item", "item_id"),
    ("prediction_patient", "patient_id"),
    ("prediction_stratum", "stratum_id"),
)
_COUNTED: Final = (
    "INSERT INTO prediction_count (stratum_id, verdict_id, n)"
    " SELECT stratum_id, verdict_id, count(*) FROM prediction GROUP BY 1, 2"
)
_PIECE: Final = 500
"""Trials whose rows are made in one go."""
_LOOKUP: Final = 12
"""One lookup by key takes as long as reading this many rows in sequence."""
_STRATUM: Final = 0xFFFFFFFF
_VERDICT: Final = 0xFF
# One number for three: 8 bits of verdict, 32 of stratum, 23 of patient.
_PACKED: Final = "(patient_id << 40) | (stratum_id << 8) | verdict_id"
_WITHIN: Final = "IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class FlatStratum:
    """What the trials of a stratum have in common; ``dataset`` is its row's id."""

    id: int
    run: int
    dataset: int
    finding: str
    view: str
    condition: str
    model: str


@dataclass(frozen=True, slots=True)
class FlatVerdict:
    """A final status and outcome of trials, or pending."""

    id: int
    status: Status
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of the covered fraction, both inclusive."""

    low: float = 0.0
    high: float = 1.0


def strata(store: Store, *, include_adhoc: bool = False) -> tuple[FlatStratum, ...]:
    """Return every stratum in the order planned; single questions only on request."""
    rows = store.rows(
        "SELECT g.id, g.run_id, r.dataset_id, g.finding, g.view, g.condition, g.model"
        " FROM prediction_stratum g JOIN run r ON r.id = g.run_id WHERE r.adhoc <= ?"
        " ORDER BY g.id",
        (int(include_adhoc),),
    )
    return tuple(FlatStratum(*row) for row in rows)


def verdicts(store: Store) -> tuple[FlatVerdict, ...]:
    """Return the ways in which trials of this store ended."""
    return tuple(
        FlatVerdict(
            row["id"],
            Status(row["status"]),
            Outcome(row["outcome"]) if row["outcome"] else None,
        )
        for row in store.rows("SELECT * FROM prediction_verdict ORDER BY id")
    )


def stamp(store: Store) -> tuple[int, ...]:
    """Return a stamp that changes when a trial is planned or its verdict changes."""
    row = store.rows(
        "SELECT (SELECT coalesce(max(id), 0) FROM prediction_stratum),"
        " (SELECT coalesce(max(id), 0) FROM score),"
        " (SELECT coalesce(sum(n), 0) FROM prediction_count WHERE verdict_id IN"
        "  (SELECT id FROM prediction_verdict WHERE status = 'pending'))"
    )[0]
    return tuple(row)


def counts(
    store: Store, chosen: Sequence[int] | None = None, bounds: Bounds | None = None
) -> Ints:
    """Return the number of trials of some strata, or of all, with each verdict.

    Shape (rows, 3): stratum, verdict, number of trials. ``bounds`` excludes answers
    outside these fractions, and those without coverage.
    """
    where, parameters = _where(_of_strata(chosen), None, bounds)
    source = "n FROM prediction_count WHERE n > 0"
    if bounds is not None:
        source = "count(*) FROM prediction WHERE 1"
        where += " GROUP BY 1, 2"
    rows = store.rows(f"SELECT stratum_id, verdict_id, {source}{where}", parameters)
    flat = np.fromiter(chain.from_iterable(rows), np.int64, 3 * len(rows))
    return flat.reshape(-1, 3)


def patients(store: Store, text: str = "") -> dict[int, str]:
    """Return the patients whose pseudonym contains ``text``, ignoring case, by id.

    A pseudonym used by several data sets is followed by the data set's name.
    """
    rows = store.rows(
        "SELECT id, label FROM (SELECT p.id, p.name, iif(count(*) OVER"
        " (PARTITION BY p.name) > 1, p.name || ' (' || d.name || ')', p.name) AS label"
        " FROM prediction_patient p JOIN dataset d ON d.id = p.dataset_id)"
        " WHERE ?1 = '' OR instr(lower(label), lower(?1))",
        (text,),
    )
    return {int(row["id"]): str(row["label"]) for row in rows}


def details(
    store: Store,
    chosen: Sequence[int] | None = None,
    patient_ids: Iterable[int] | None = None,
    bounds: Bounds | None = None,
) -> Ints:
    """Return individual trials, shape (trials, 4): patient, stratum, verdict, item.

    Selection and bounds are those of :func:`counts`.
    """
    where = _where(_scanned(store, chosen), patient_ids, bounds)
    packed, item = _numbers(store, where, _PACKED, "item_id")
    columns = packed >> 40, packed >> 8 & _STRATUM, packed & _VERDICT, item
    return np.stack(columns, axis=1)


def trials_of(
    store: Store,
    chosen: Sequence[int] | None = None,
    patient_ids: Iterable[int] | None = None,
    bounds: Bounds | None = None,
) -> Ints:
    """Return trials selected as in :func:`details`, in the order planned.

    Shape (trials, 4): trial, verdict, item, stratum.
    """
    where = _where(_scanned(store, chosen), patient_ids, bounds)
    trial, packed, item = _numbers(store, where, "trial_id", _PACKED, "item_id")
    columns = trial, packed & _VERDICT, item, packed >> 8 & _STRATUM
    return np.stack(columns, axis=1)[np.argsort(trial)]


def shown_again(
    store: Store,
    chosen: Sequence[int] | None = None,
    patient_ids: Iterable[int] | None = None,
    bounds: Bounds | None = None,
) -> int:
    """Return how many trials share a reply with another of them."""
    where, parameters = _where(_scanned(store, chosen), patient_ids, bounds)
    (row,) = store.rows(
        "SELECT count(p.reply_id) - count(DISTINCT p.reply_id) FROM trial t"  # noqa: S608 - this module's own words
        " JOIN score s ON s.id = t.score_id JOIN parse p ON p.id = s.parse_id"
        f" WHERE t.id IN (SELECT trial_id FROM prediction WHERE 1{where})",
        parameters,
    )
    return int(row[0])


@dataclass(frozen=True, slots=True)
class ListedTrial:
    """A trial with its image's location, None without one, and its verdict."""

    id: int
    run: int
    trial: Trial
    ref: ImageRef | None
    score: Score


def trials_at(store: Store, ids: Sequence[int]) -> tuple[ListedTrial, ...]:
    """Return trials by their ids, in that order."""
    columns = columns_of_trials(store, ids, (*SCORED, "run", "path", "frame"))
    files = zip(*(columns[name] for name in ("run", "path", "frame")), strict=True)
    return tuple(
        ListedTrial(
            one.id,
            run,
            one.trial,
            ImageRef(path_of(path), frame) if path else None,
            one.score,
        )
        for one, (run, path, frame) in zip(trials_in(columns), files, strict=True)
    )


def repeats(store: Store, ids: Sequence[int]) -> dict[int, int]:
    """Return the repeat of each of some trials."""
    rows = store.rows(f"SELECT id, repeat FROM trial WHERE id {_WITHIN}", (_ids(ids),))  # noqa: S608 - this module's own words
    return {int(row["id"]): int(row["repeat"]) for row in rows}


def reader_models(store: Store) -> frozenset[str]:
    """Return the models of runs that represent people."""
    rows = store.rows(
        "SELECT DISTINCT m.value ->> 'name' FROM run r,"
        " json_each(r.spec, '$.models') m WHERE m.value ->> 'adapter' = 'reader'"
    )
    return frozenset(str(row[0]) for row in rows)


def rebuild(store: Store) -> int:
    """Rebuild the flat table from the trials; return the number of rows.

    Others may write meanwhile. The counts are made last, in one transaction.
    """
    store.in_short_transactions(_rebuilt(store))
    return int(store.rows("SELECT count(*) FROM prediction")[0][0])


def _rebuilt(store: Store) -> Iterator[None]:
    """Replace the table piece by piece; a transaction may end at each yield."""
    last = int(store.rows("SELECT coalesce(max(id), 0) FROM trial")[0][0])
    for first in range(0, last + 1, _PIECE):
        piece = first, first + _PIECE - 1
        store.execute("DELETE FROM prediction WHERE trial_id BETWEEN ? AND ?", piece)
        # Without the counts, which are made last, and the blank after the last ";".
        *statements, _, _ = fill(
            f"r.sealed = 1 AND t.id BETWEEN {piece[0]} AND {piece[1]}"
        ).split(";")
        for statement in statements:
            # The strata of a piece may be there already from the piece before.
            store.execute(statement.replace("INSERT", "INSERT OR IGNORE", 1))
        yield
    store.execute("DELETE FROM prediction_count")
    store.execute(_COUNTED)
    yield
    for table, column in _REFERRED:
        store.execute(
            # Only now: a row that nothing refers to may be used again until then.
            f"DELETE FROM {table} WHERE id NOT IN (SELECT {column} FROM prediction)"  # noqa: S608 - this module's own words
        )
        yield


def differing(store: Store) -> int:
    """Return how many trials are wrong in the flat table or missing from it."""
    rows = store.rows(
        "SELECT count(*) FROM trial t LEFT JOIN score s ON s.id = t.score_id"
        " LEFT JOIN prediction f ON f.trial_id = t.id"
        " LEFT JOIN prediction_verdict v ON v.id = f.verdict_id"
        " LEFT JOIN prediction_stratum g ON g.id = f.stratum_id"
        " WHERE v.status IS NOT t.status OR v.outcome IS NOT coalesce(s.outcome, '')"
        " OR f.coverage IS NOT s.coverage OR g.run_id IS NOT t.run_id"
        " OR g.finding IS NOT t.finding OR g.view IS NOT t.view"
        " OR g.condition IS NOT t.condition OR g.model IS NOT t.model"
    )
    return int(rows[0][0])


def _scanned(store: Store, chosen: Sequence[int] | None) -> _Where:
    """Return the SQL that selects strata, without the index if that is faster.

    Looking up a row costs as much as scanning a dozen.
    """
    where, parameters = _of_strata(chosen)
    (row,) = store.rows("SELECT count(*) FROM prediction_stratum")
    if chosen is not None and _LOOKUP * len(chosen) > row[0]:
        # A unary plus keeps SQLite from using an index for the column.
        where = where.replace("stratum_id", "+stratum_id")
    return where, parameters


def _where(
    of_strata: _Where, patient_ids: Iterable[int] | None, bounds: Bounds | None
) -> _Where:
    where, parameters = of_strata
    if patient_ids is not None:
        where += f" AND patient_id {_WITHIN}"
        parameters += (_ids(patient_ids),)
    if bounds is not None:
        where += " AND coverage BETWEEN ? AND ?"
        parameters += (bounds.low, bounds.high)
    return where, parameters


def _of_strata(chosen: Sequence[int] | None) -> _Where:
    if chosen is None:
        return "", ()
    return f" AND stratum_id {_WITHIN}", (_ids(chosen),)


def _ids(ids: Iterable[int]) -> str:
    return json.dumps(list(ids))


def _numbers(store: Store, where: _Where, *expressions: str) -> list[Ints]:
    """Return each expression's values over predictions, fetched as one text.

    This takes a seventh of the time of fetching rows.
    """
    texts = ", ".join(f"group_concat({one})" for one in expressions)
    (row,) = store.rows(
        f"SELECT {texts} FROM prediction WHERE 1{where[0]}",  # noqa: S608 - this module's own words
        where[1],
    )
    return [np.fromstring(text or "", np.int64, sep=",") for text in row]
