"""The rows of the tables that studies about items share, worked out once more."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from viewer.writers.verify.comparing import TAKEN
from viewer.writers.verify.judging import Row
from viewer.writers.verify.results import MICRO, UNREADABLE
from viewer.writers.verify.sums import deviation, wilson_bounds
from viewer.writers.verify.verdicts import LEFT_OUT, RIGHT, WRONG, ItemVerdict

ITEM_COLUMNS = (
    *("item", "patient", "image", "finding", "view", "condition", "repeat", "model"),
    *("status", "reason", "answer", "gold", "request_sha256"),
)
COUNT_COLUMNS = (
    *("n_planned", "n_scored", "n_failed", "n_refused", "n_unparsed", "n_excluded"),
    "n_pending",
)
RATE_COLUMNS = (
    *COUNT_COLUMNS,
    *("k", "n", "hit_rate", "wilson_low", "wilson_high", "answered_rate"),
)
Verdicts = Sequence[ItemVerdict]
_ALL_VIEWS = "all"
_CONTENT = ("process", "execution", "synthesis")


def number_names(verdicts: Iterable[ItemVerdict]) -> list[str]:
    """Return the names of numbers in the order in which they first appear."""
    return list(dict.fromkeys(name for one in verdicts for name in one.numbers))


def verdict_rows(verdicts: Sequence[ItemVerdict]) -> list[Row]:
    """Return every trial in the order planned, its named numbers last."""
    names = number_names(verdicts)
    return [
        (
            *(one.item, one.patient, one.image, one.finding, one.view, one.condition),
            *(one.repeat, one.model, one.status, one.reason, one.answer),
            _gold_of(one),
            one.request,
            *(one.numbers.get(name) for name in names),
        )
        for one in verdicts
    ]


def _gold_of(one: ItemVerdict) -> str:
    """Return what is right as the text that stands in items.csv."""
    if not one.gold:
        return ""
    return json.dumps(one.gold, sort_keys=True, ensure_ascii=False)


def group_rows(verdicts: Sequence[ItemVerdict], means: Sequence[str]) -> list[Row]:
    """Return rates by finding, view, condition and model, with means of numbers."""
    rows: list[Row] = []
    arms = {(m, c): own for m, c, own in verdicts_by_arm(verdicts)}
    for condition in dict.fromkeys(one.condition for one in verdicts):
        for model in dict.fromkeys(one.model for one in verdicts):
            for finding, view, some in _grouped(arms.get((model, condition), ())):
                mean = [mean_of_number(some, name) for name in means]
                rows.append((finding, view, condition, model, *rate_cells(some), *mean))
    return rows


def _grouped(
    own: Sequence[ItemVerdict],
) -> Iterator[tuple[str, str, Sequence[ItemVerdict]]]:
    if not own:
        return
    yield MICRO, _ALL_VIEWS, own
    for finding in dict.fromkeys(one.finding for one in own):
        yield finding, _ALL_VIEWS, [one for one in own if one.finding == finding]
    views = list(dict.fromkeys(one.view for one in own))
    for view in views if len(views) > 1 else ():
        yield MICRO, view, [one for one in own if one.view == view]


def verdicts_by_arm(verdicts: Verdicts) -> list[tuple[str, str, Verdicts]]:
    """Return the trials of each model and condition, in the order planned."""
    arms: dict[tuple[str, str], list[ItemVerdict]] = {}
    for one in verdicts:
        arms.setdefault((one.model, one.condition), []).append(one)
    return [(*arm, some) for arm, some in arms.items()]


def count_cells(verdicts: Iterable[ItemVerdict]) -> Row:
    """Return the columns of COUNT_COLUMNS."""
    states = [one.status for one in verdicts]
    return (
        *(len(states), states.count(RIGHT) + states.count(WRONG)),
        *(states.count("provider_error"), states.count("refused")),
        sum(state in UNREADABLE for state in states),
        *(states.count(LEFT_OUT), states.count("pending")),
    )


def rate_cells(verdicts: Sequence[ItemVerdict]) -> Row:
    """Return the columns of RATE_COLUMNS; rates are None where no trial counts."""
    k, n = tally_of(verdicts)
    scored = sum(one.status in (RIGHT, WRONG) for one in verdicts)
    bounds = wilson_bounds(k, n) if n else (None, None)
    return (
        *count_cells(verdicts),
        *(k, n, share_of(k, n), *bounds, share_of(k, scored)),
    )


def tally_of(verdicts: Iterable[ItemVerdict]) -> tuple[int, int]:
    """Return how many are right and how many count."""
    counted = [one for one in verdicts if one.counted]
    return sum(one.is_right for one in counted), len(counted)


def share_of(k: int, n: int) -> float | None:
    """Return a share, None of none."""
    return k / n if n else None


def mean_of_number(verdicts: Iterable[ItemVerdict], name: str) -> float | None:
    """Return the mean of a named number over the trials that have it."""
    values = [one.numbers[name] for one in verdicts if name in one.numbers]
    return sum(values) / len(values) if values else None


def graded_verdicts(
    verdicts: Sequence[ItemVerdict],
    grades: Sequence[Sequence[Any]],
    params: Mapping[str, Any],
) -> list[ItemVerdict]:
    """Return outputs with the verdict that their readers' grades come to."""
    given: dict[tuple[object, ...], list[Mapping[str, int]]] = {}
    for _, model, item, repeat, scores in grades:
        given.setdefault((model, item, repeat), []).append(scores)
    return [
        _graded(one, given.get((one.model, one.item, one.repeat), []), params)
        for one in verdicts
    ]


def _graded(
    one: ItemVerdict, given: Sequence[Mapping[str, int]], params: Mapping[str, Any]
) -> ItemVerdict:
    if not given or one.said.get("words") != "report":
        return one
    means = {
        name: sum(scores[name] for scores in given) / len(given)
        for name in ("language", *_CONTENT)
    }
    content = min(means[name] for name in _CONTENT)
    if params.get("content_order") == "minimum_then_average":
        least = [min(scores[name] for name in _CONTENT) for scores in given]
        content = sum(least) / len(least)
    numbers = {**one.numbers, "content": content, **means}
    status = RIGHT if content == 5 else WRONG
    return replace(one, status=status, reason="", numbers=numbers)


def output_rows(verdicts: Verdicts) -> list[Row]:
    """Return outputs.csv: what was planned of each model and what came of it."""
    rows: list[Row] = []
    for model in dict.fromkeys(one.model for one in verdicts):
        own = [one for one in verdicts if one.model == model]
        said = [one.said for one in own if one.said.get("words") == "report"]
        states, reasons = [v.status for v in own], [v.reason for v in own]
        cut, long = reasons.count("token_limit"), reasons.count("too_long")
        left_out = sum(
            v.status == LEFT_OUT and v.said.get("words") != "report" for v in own
        )
        unread = sum(s in ("unparsed", "ambiguous", "truncated") for s in states) - cut
        boxes = [one["boxes"] for one in said]
        rows.append(
            (
                *(model, len(own), len(said), cut + long, states.count("refused")),
                *(unread, states.count("provider_error") - long, left_out),
                *(states.count("pending"), sum(map(bool, boxes))),
                sum(len({box[5] for box in some}) for some in boxes),
                sum(map(len, boxes)),
            )
        )
    return rows


def grade_mean_rows(
    verdicts: Sequence[ItemVerdict], models: Sequence[str], measures: Sequence[str]
) -> list[Row]:
    """Return tables 1 and 2 of graded outputs: n, mean and deviation of each measure.

    The adjusted p is taken.
    """
    rows: list[Row] = []
    for model in models:
        own = [one for one in verdicts if one.model == model]
        for name in measures:
            values = [one.numbers[name] for one in own if name in one.numbers]
            mean = sum(values) / len(values) if values else None
            cells = (len(values), mean, deviation(values), TAKEN)
            rows.append((name.title(), model, *cells))
    return rows
