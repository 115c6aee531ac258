"""The paper's tables of a run, at full precision (Chen 2026, Tables 2 to 13)."""

from collections.abc import Callable, Mapping, Sequence
from math import isnan, nan
from typing import Final

from viewer.domain.choice import LETTERS
from viewer.domain.evidence import EvidenceType, Language
from viewer.domain.report import Table
from viewer.domain.specialties import GROUPS, SPECIALTIES
from viewer.metrics.pairing import mcnemar, paired_table
from viewer.metrics.ranks import competition_ranks
from viewer.metrics.sensitivity import CrossModal, unweighted_mean
from viewer.studies.evidence_diagnosis.options import consistency, position_bias
from viewer.studies.evidence_diagnosis.params import Arm, Task
from viewer.studies.evidence_diagnosis.rows import (
    Keep,
    Rate,
    Row,
    mean_score,
    models_of,
    of_task,
    rate,
    top_k,
)

SUBSETS: Final[Mapping[str, Language | None]] = {
    "en": Language.ENGLISH,
    "zh": Language.CHINESE,
    "all": None,
}
"""The columns of Tables 2 and 8; all cases are pooled, not averaged (E004-11)."""
SIX_TYPES: Final = (
    EvidenceType.LABORATORY,
    EvidenceType.CT,
    EvidenceType.MICROSCOPY,
    EvidenceType.MRI,
    EvidenceType.PHOTOGRAPHY,
    EvidenceType.X_RAY,
)
"""The types of Table 12, whose mean is unweighted."""
COUNTS: Final = (
    *("k", "n", "n_planned", "n_failed", "n_refused", "n_unparsed"),
    *("n_excluded", "n_pending"),
)
TOP: Final = (1, 3, 5, 10)


def table_2(rows: Sequence[Row], people: Sequence[str] = ()) -> Table:
    """Return coverage, accuracy, ranks and gap for each subset."""
    names = _people_first(rows, people)
    header: list[str] = ["model"]
    columns: list[list[object]] = [list(names)]
    for subset, language in SUBSETS.items():
        ddx = [rate(rows, m, of_task(Task.DDX, Arm.RAW, language)) for m in names]
        fdx = [rate(rows, m, of_task(Task.FDX, Arm.RAW, language)) for m in names]
        header += [f"ddx_{subset}", *(f"ddx_{subset}_{c}" for c in COUNTS)]
        header += [f"fdx_{subset}", *(f"fdx_{subset}_{c}" for c in COUNTS)]
        header += [f"rank_{subset}", f"gap_pp_{subset}"]
        columns += _columns(ddx) + _columns(fdx)
        columns += [_ranks(names, fdx, people), _gaps(ddx, fdx)]
    return _table("table_02", header, columns)


def in_language(number: str, language: Language) -> str:
    """Return the name of a table; those of the paper are of cases in English."""
    suffix = "" if language is Language.ENGLISH else f"_{language}"
    return f"table_{number}{suffix}"


def table_arms(
    number: str,
    rows: Sequence[Row],
    arms: Sequence[Arm],
    language: Language = Language.ENGLISH,
) -> Table:
    """Return accuracy under interventions beside the first, paired by case.

    Tables 3 (raw, expert), 4 (raw, remove_text, random_text) and 6 (raw, refined).
    """
    header = ["model", "arm", "fdx", *COUNTS, "delta_pp", "gained", "lost", "p_mcnemar"]
    lines: list[tuple[object, ...]] = []
    for model in models_of(rows):
        base = _settled(rows, model, of_task(Task.FDX, arms[0], language))
        for arm in arms:
            keep = of_task(Task.FDX, arm, language)
            found = rate(rows, model, keep)
            paired = _paired(base, _settled(rows, model, keep))
            change = paired if arm is not arms[0] else (None, None, None, None)
            if found.planned:
                lines.append((model, str(arm), found.value, *_counts(found), *change))
    return Table(in_language(number, language), tuple(header), tuple(lines))


def table_8(rows: Sequence[Row]) -> Table:
    """Return mean scores of differentials, and how often the words stand in the top."""
    header = ["model"]
    lines: list[list[object]] = [[model] for model in models_of(rows)]
    for subset, language in SUBSETS.items():
        header += [f"score_{subset}", f"n_judged_{subset}", f"n_planned_{subset}"]
        header += [f"top_{k}_{subset}" for k in TOP]
        for line in lines:
            model, keep = str(line[0]), of_task(Task.DDX, Arm.RAW, language)
            mean = mean_score(rows, model, keep)
            line += [mean.value, mean.n, mean.planned]
            line += [top_k(rows, model, keep, k).value for k in TOP]
    return Table("table_08", tuple(header), tuple(tuple(line) for line in lines))


def table_9(rows: Sequence[Row], language: Language = Language.ENGLISH) -> Table:
    """Return mean scores of open final diagnoses."""
    keep = of_task(Task.OPEN_FDX, Arm.RAW, language)
    means = {model: mean_score(rows, model, keep) for model in models_of(rows)}
    lines = tuple((m, s.value, s.n, s.planned) for m, s in means.items())
    header = ("model", "score", "n_judged", "n_planned")
    return Table(in_language("09", language), header, lines)


def table_10(
    rows: Sequence[Row], small: int, language: Language = Language.ENGLISH
) -> Table:
    """Return the accuracy by specialty."""
    lines = _stratified(rows, SPECIALTIES, lambda r: r.case.specialty, small, language)
    return Table(in_language("10", language), _STRATA, lines)


def table_11(
    rows: Sequence[Row], small: int, language: Language = Language.ENGLISH
) -> Table:
    """Return the accuracy by group of specialties."""
    lines = _stratified(rows, tuple(GROUPS), lambda row: row.group, small, language)
    return Table(in_language("11", language), _STRATA, lines)


_STRATA: Final = ("model", "stratum", "fdx", *COUNTS, "warning")


Sensitivities = Mapping[tuple[str, EvidenceType], CrossModal]
"""How sensitivities compare, by model and type of evidence."""


def table_12(found: Sensitivities) -> Table:
    """Return NMSE and all beside it by type and model, the mean over six types last."""
    header = (
        *("evidence", "model", "nmse", "nmse_swapped", "concordance", "cases"),
        *("image_above", "image_below", "tied", "missing"),
    )
    lines: list[tuple[object, ...]] = [
        (
            *(str(of), model, _finite(c.nmse), _finite(c.swapped)),
            *(_finite(c.concordance), c.cases, c.above, c.below, c.tied, c.missing),
        )
        for (model, of), c in found.items()
    ]
    for model in dict.fromkeys(model for model, _ in found):
        of_six = [found[model, of] for of in SIX_TYPES if (model, of) in found]
        mean = unweighted_mean([c.nmse for c in of_six])
        swapped = unweighted_mean([c.swapped for c in of_six])
        both = _finite(mean), _finite(swapped)
        lines.append(("Average", model, *both, *(None,) * 6))
    return Table("table_12", header, tuple(lines))


def table_13(baseline: Sensitivities, refined: Sensitivities) -> Table:
    """Return the NMSE of microscopy before and after the refined prompt."""
    of = EvidenceType.MICROSCOPY
    header = ("model", "baseline", "refined", "delta")
    lines = []
    for model in dict.fromkeys(model for model, _ in baseline):
        pair = [f.get((model, of)) for f in (baseline, refined)]
        before, after = (c.nmse if c else nan for c in pair)
        values = (before, after, after - before)
        lines.append((model, *(_finite(value) for value in values)))
    return Table("table_13", header, tuple(lines))


def table_5(
    rows: Sequence[Row], found: Sensitivities, language: Language = Language.ENGLISH
) -> Table:
    """Return the mean NMSE of all cases beside the accuracy, model by model."""
    keep = of_task(Task.FDX, Arm.RAW, language)
    lines = []
    for model in dict.fromkeys(model for model, _ in found):
        of_six = [found[model, of].nmse for of in SIX_TYPES if (model, of) in found]
        accuracy = rate(rows, model, keep)
        mean = _finite(unweighted_mean(of_six))
        lines.append((model, mean, accuracy.value, *_counts(accuracy)))
    header = ("model", "nmse_mean", "fdx", *COUNTS)
    return Table(in_language("05", language), header, tuple(lines))


def positions(rows: Sequence[Row]) -> Table:
    """Return accuracy by the right option's letter, and agreement over the orders."""
    letters = LETTERS[:4]
    header = ["model", *(f"gold_{x}{s}" for x in letters for s in ("", "_k", "_n"))]
    header += ["spread", "n_orders_planned", "n_complete", "same", "same_right"]
    lines = []
    for model in models_of(rows):
        bias, same = position_bias(rows, model), consistency(rows, model)
        cells = [x for r in bias.by_letter for x in (r.value, r.k, r.n)]
        agreed = (same.planned, same.complete, same.same, same.same_right)
        lines.append((model, *cells, bias.spread, *agreed))
    return Table("positions", tuple(header), tuple(lines))


def _stratified(
    rows: Sequence[Row],
    strata: Sequence[str],
    of: Callable[[Row], str],
    small: int,
    language: Language,
) -> tuple[tuple[object, ...], ...]:
    keep = of_task(Task.FDX, Arm.RAW, language)
    lines: list[tuple[object, ...]] = []
    for model in models_of(rows):
        for stratum in strata:
            kept = [row for row in rows if of(row) == stratum]
            found = rate(kept, model, keep)
            if found.planned:
                warning = f"fewer than {small} cases" if found.n < small else ""
                cells = (found.value, *_counts(found), warning)
                lines.append((model, stratum, *cells))
    return tuple(lines)


def _people_first(rows: Sequence[Row], people: Sequence[str]) -> list[str]:
    named = models_of(rows)
    first = [name for name in named if name in people]
    return [*first, *(name for name in named if name not in people)]


def _ranks(
    names: Sequence[str], rates: Sequence[Rate], people: Sequence[str]
) -> list[object]:
    """Return competition ranks by accuracy; people have none (E004-10)."""
    values = [
        nan if name in people or r.value is None else r.value
        for name, r in zip(names, rates, strict=True)
    ]
    return list(competition_ranks(values))


def _gaps(ddx: Sequence[Rate], fdx: Sequence[Rate]) -> list[object]:
    """Return coverage less accuracy in percentage points (E004-12)."""
    pairs = [(d.value, f.value) for d, f in zip(ddx, fdx, strict=True)]
    return [None if d is None or f is None else 100 * (d - f) for d, f in pairs]


def _columns(rates: Sequence[Rate]) -> list[list[object]]:
    values: list[object] = [r.value for r in rates]
    return [values, *(list(c) for c in zip(*map(_counts, rates), strict=True))]


def _counts(found: Rate) -> tuple[int, ...]:
    return (
        *(found.k, found.n, found.planned, found.failed, found.refused),
        *(found.unparsed, found.excluded, found.pending),
    )


def _settled(rows: Sequence[Row], model: str, keep: Keep) -> dict[str, bool]:
    return {
        f"{row.case.key}|{row.repeat}": row.right
        for row in rows
        if row.model == model and keep(row) and row.settled
    }


def _paired(base: dict[str, bool], other: dict[str, bool]) -> tuple[object, ...]:
    """Return the change in points, gained, lost and p over the cases of both."""
    shared = [key for key in base if key in other]
    if not shared:
        return None, None, None, None
    table = paired_table([other[k] for k in shared], [base[k] for k in shared])
    gained, lost = table.only_first, table.only_second
    change = 100 * (gained - lost) / len(shared)
    return change, gained, lost, mcnemar(gained, lost).p_value


def _finite(value: float) -> float | None:
    return None if isnan(value) else value


def _table(name: str, header: Sequence[str], columns: Sequence[list[object]]) -> Table:
    return Table(name, tuple(header), tuple(zip(*columns, strict=True)))
