"""The rows of MEDSYN's tables that follow from trials, worked out once more."""

from collections.abc import Iterable, Mapping, Sequence

from viewer.writers.verify.comparing import TAKEN
from viewer.writers.verify.item_tables import (
    Verdicts,
    count_cells,
    mean_of_number,
    share_of,
    tally_of,
)
from viewer.writers.verify.judging import Row

_LANGUAGES = {"en": "en", "zh": "zh", "all": None}
_TOPS = (1, 3, 5, 10)


def diagnosis_rows(verdicts: Verdicts) -> list[Row]:
    """Return table_02.csv of the models: coverage, accuracy, rank and gap."""
    models = list(dict.fromkeys(one.model for one in verdicts))
    columns: list[list[object]] = [list(models)]
    for language in _LANGUAGES.values():
        both = []
        for task in ("ddx", "fdx"):
            some = [_asked(verdicts, m, task, "raw", language) for m in models]
            both.append([share_of(*tally_of(one)) for one in some])
            cells = [_arm_cells(one) for one in some]
            columns += [list(both[-1]), *map(list, zip(*cells, strict=True))]
        ddx, fdx = both
        columns.append([_rank(rate, fdx) for rate in fdx])
        columns.append(
            [
                None if d is None or f is None else 100 * (d - f)
                for d, f in zip(ddx, fdx, strict=True)
            ]
        )
    return [tuple(row) for row in zip(*columns, strict=True)]


def judged_rows(verdicts: Verdicts) -> list[Row]:
    """Return table_08.csv of the models: mean scores, and the diagnosis in the top."""
    rows: list[Row] = []
    for model in dict.fromkeys(one.model for one in verdicts):
        cells: list[object] = [model]
        for language in _LANGUAGES.values():
            some = _asked(verdicts, model, "ddx", "raw", language)
            cells += _score_cells(some)
            n = tally_of(some)[1]
            ranks = [one.numbers.get("first_match") for one in some]
            for top in _TOPS:
                hits = sum(rank is not None and rank <= top for rank in ranks)
                cells.append(share_of(hits, n))
        rows.append(tuple(cells))
    return rows


def open_rows(verdicts: Verdicts) -> list[Row]:
    """Return table_09.csv: mean scores of open diagnoses, English cases."""
    models = dict.fromkeys(one.model for one in verdicts)
    return [
        (m, *_score_cells(_asked(verdicts, m, "open_fdx", "raw", "en"))) for m in models
    ]


def arm_rows(verdicts: Verdicts, arms: Sequence[str]) -> list[Row]:
    """Return tables 3, 4 and 6: accuracy under interventions, paired by case."""
    rows: list[Row] = []
    for model in dict.fromkeys(one.model for one in verdicts):
        base = _settled_cases(_asked(verdicts, model, "fdx", arms[0], "en"))
        for arm in arms:
            some = _asked(verdicts, model, "fdx", arm, "en")
            if not some:
                continue
            change: Row = (None,) * 4
            if arm != arms[0]:
                change = _change(base, _settled_cases(some))
            rate = share_of(*tally_of(some))
            rows.append((model, arm, rate, *_arm_cells(some), *change))
    return rows


def _settled_cases(verdicts: Verdicts) -> Mapping[tuple[str, int], bool]:
    return {(v.item, v.repeat): v.is_right for v in verdicts if v.counted}


def _change(
    base: Mapping[tuple[str, int], bool], other: Mapping[tuple[str, int], bool]
) -> Row:
    """Return the change in points, gained and lost over the cases of both arms.

    The test's p is taken.
    """
    # a case's trials differ by arm in nothing but the condition
    shared = [key for key in base if key in other]
    if not shared:
        return (None,) * 4
    gained = sum(other[key] and not base[key] for key in shared)
    lost = sum(base[key] and not other[key] for key in shared)
    return 100 * (gained - lost) / len(shared), gained, lost, TAKEN


def _asked(
    verdicts: Verdicts, model: str, task: str, arm: str, language: str | None
) -> Verdicts:
    """Return a model's trials of a task and an arm, options in their first order."""
    return [
        one
        for one in verdicts
        if (one.model, one.finding) == (model, task)
        and one.truth.get("arm") == arm
        and one.truth.get("turned") == 0
        and language in (None, one.view)
    ]


def _arm_cells(verdicts: Verdicts) -> Row:
    planned, _, failed, refused, unread, excluded, pending = count_cells(verdicts)
    k, n = tally_of(verdicts)
    return (k, n, planned, failed, refused, unread, excluded, pending)


def _score_cells(verdicts: Verdicts) -> Row:
    judged = sum("judge" in one.numbers for one in verdicts)
    return mean_of_number(verdicts, "judge"), judged, len(verdicts)


def _rank(rate: float | None, rates: Iterable[float | None]) -> object:
    """Return 1 and how many are better, None of none."""
    if rate is None:
        return None
    return 1 + sum(other is not None and other > rate for other in rates)
