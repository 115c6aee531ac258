"""A run's results for a terminal: in its study's terms, rates as k / n."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from viewer.domain.answer import Status
from viewer.domain.report import Section
from viewer.domain.study_words import (
    ALL_VIEWS,
    MACRO,
    MADE,
    MICRO,
    NO_COUNTS,
    StudyWords,
)
from viewer.services.reporting.report_run import RunReport
from viewer.studies.tables import CI_CAPTION

_ENDINGS: Final = ("failed", "refused", "unparsed", "excluded", "pending")
_MEAN: Final = "mean_"
_MOST_ROWS: Final = 100


def rows_of(report: RunReport) -> list[dict[str, Any]]:
    """Return every row of results.csv by its columns."""
    table = next(t for t in report.data.tables if t.name == "results")
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


def rows_in_words(report: RunReport) -> list[dict[str, object]]:
    """Return the rows of all views together, with the columns of the study.

    If they would fill several screens, findings are pooled.
    """
    words = report.context.study.words
    every = rows_of(report)
    rows = [row for row in every if row["view"] == ALL_VIEWS]
    if len(rows) > _MOST_ROWS:
        pooled = [row for row in every if row["finding"] == MICRO]
        rows = [row for row in pooled if row["view"] == ALL_VIEWS] or pooled or rows
    several = len({row["view"] for row in rows}) > 1
    return [_in_words(row, words, several=several) for row in rows]


def endings_in_words(report: RunReport) -> dict[str, int]:
    """Return the number of trials by how they ended, in the study's words."""
    words = report.context.study.words
    scores = sorted((r.score for r in report.results), key=lambda s: s.status.value)
    return Counter(words.ending(one.status, one.reason) for one in scores)


def made_in_words(report: RunReport) -> Section | None:
    """Return the table of what a run made that asks for nothing right or wrong.

    None if any answer was right or wrong, or nothing was made.
    """
    scores = [one.score for one in report.results]
    made = any(one.reason in MADE for one in scores)
    scored = {Status.SCORED_CORRECT, Status.SCORED_WRONG}
    if not made or any(one.status in scored for one in scores):
        return None
    return next(iter(report.data.sections), None)


def _counts(row: Mapping[str, Any], n: int) -> str:
    return NO_COUNTS if row["finding"] == MACRO else f"{row['k']} / {n}"


def _in_words(
    row: Mapping[str, Any], words: StudyWords, *, several: bool
) -> dict[str, object]:
    n = row["n_planned"] - row["n_excluded"] - row["n_pending"]
    view = {words.view: words.called("view", row["view"])} if several else {}
    return {
        words.finding: words.called("finding", row["finding"]),
        **view,
        "condition": words.called("condition", row["condition"]),
        "model": row["model"],
        words.verdicts.rights: _counts(row, n),
        words.rate: _rate(row["hit_rate"]),
        CI_CAPTION: _span(row),
        **{name: _rate(row[column]) for name, column in _own(row)},
        **{name: row[f"n_{name}"] for name in _ENDINGS},
        **{name: _rate(row[column]) for name, column in _means(row)},
    }


def _span(row: Mapping[str, Any]) -> str:
    """Return an interval, or why there is none."""
    if row["ci_low"] is None:
        return str(row["ci_method"] or "")
    return f"{_rate(row['ci_low'])} to {_rate(row['ci_high'])}"


def _own(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the chance level of locations, if the study has one."""
    if "random_baseline" in row:
        yield from (("random", "random_baseline"), ("gain over location prior", "gain"))


def _means(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the means of the numbers that a study measures."""
    for column in row:
        if column.startswith(_MEAN):
            yield f"mean {column.removeprefix(_MEAN).replace('_', ' ')}", column


def _rate(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
