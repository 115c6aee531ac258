"""The rows of MEDSYN's tables that follow from trials, worked out once more."""

from collections.abc import Iterable, Mapping, Sequence
from math import comb

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


def open_rows(verdicts: Verdicts, language: str) -> list[Row]:
    """Return table_09.csv: mean scores of open diagnoses in a language."""
    models = dict.fromkeys(one.model for one in verdicts)
    return [
        (m, *_score_cells(_asked(verdicts, m, "open_fdx", "raw", language)))
        for m in models
    ]


def arm_rows(verdicts: Verdicts, arms: Sequence[str], language: str) -> list[Row]:
    """Return tables 3, 4 and 6: accuracy under interventions, paired by case."""
    rows: list[Row] = []
    for model in dict.fromkeys(one.model for one in verdicts):
        base = _settled_cases(_asked(verdicts, model, "fdx", arms[0], language))
        for arm in arms:
            some = _asked(verdicts, model, "fdx", arm, language)
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
    """Return the change in points, gained, lost and p over the cases of both arms."""
    shared = [key for key in base if key in other]
    if not shared:
        return (None,) * 4
    gained = sum(other[key] and not base[key] for key in shared)
    lost = sum(base[key] and not other[key] for key in shared)
    p_value = _mcnemar_p(gained, lost)
    return 100 * (gained - lost) / len(shared), gained, lost, p_value


def _mcnemar_p(gained: int, lost: int) -> float:
    """Return the exact two-sided p of as many changes in either direction."""
    if gained == lost:
        return 1.0
    n, fewer = gained + lost, min(gained, lost)
    return 2 * sum(comb(n, i) for i in range(fewer + 1)) / (1 << n)


def strata_rows(
    verdicts: Verdicts, stratum: str, small: int, language: str
) -> list[Row]:
    """Return tables 10 and 11: accuracy by specialty or group, in their order."""
    strata = sorted({tuple(one.gold[stratum]) for one in verdicts})
    rows: list[Row] = []
    for model in dict.fromkeys(one.model for one in verdicts):
        asked = _asked(verdicts, model, "fdx", "raw", language)
        for key in strata:
            some = [one for one in asked if tuple(one.gold[stratum]) == key]
            if some:
                k, n = tally_of(some)
                warning = f"fewer than {small} cases" if n < small else ""
                cells = (share_of(k, n), *_arm_cells(some), warning)
                rows.append((model, key[1], *cells))
    return rows


def position_rows(verdicts: Verdicts) -> list[Row]:
    """Return positions.csv: accuracy by the right option's letter, and agreement."""
    rows: list[Row] = []
    for model in dict.fromkeys(one.model for one in verdicts):
        own = [
            one
            for one in verdicts
            if (one.model, one.finding, one.gold["arm"]) == (model, "fdx", "raw")
        ]
        places = [one.numbers.get("gold_place") for one in own]
        cells: list[object] = []
        for place in range(4):
            of = [v for v, at in zip(own, places, strict=True) if at == place]
            k, n = tally_of(of)
            cells += [share_of(k, n), k, n]
        rates = [rate for rate in cells[::3] if isinstance(rate, float)]
        spread = max(rates) - min(rates) if len(rates) == 4 else None
        rows.append((model, *cells, spread, *_agreement(own)))
    return rows


def _agreement(own: Verdicts) -> Row:
    """Return cases asked in every order, with a choice in each, alike, and right."""
    keys = dict.fromkeys((one.item, one.repeat) for one in own)
    cases = [[one for one in own if (one.item, one.repeat) == key] for key in keys]
    asked = [of for of in cases if {one.gold["turned"] for one in of} == {0, 1, 2, 3}]
    choices = [[one.said.get("option") for one in of] for of in asked]
    whole = [of for of in choices if None not in of]
    right = sum(
        set(of) == {case[0].gold["right"]}
        for of, case in zip(choices, asked, strict=True)
    )
    return len(asked), len(whole), sum(len(set(of)) == 1 for of in whole), right


def _asked(
    verdicts: Verdicts, model: str, task: str, arm: str, language: str | None
) -> Verdicts:
    """Return a model's trials of a task and an arm, options in their first order."""
    return [
        one
        for one in verdicts
        if (one.model, one.finding) == (model, task)
        and one.gold.get("arm") == arm
        and one.gold.get("turned") == 0
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
