"""What a run of the study reports: tables at full precision, and what is printed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from viewer.domain.answer import ChoiceAnswer, Status
from viewer.domain.case import Dataset
from viewer.domain.evidence import EvidenceCase, Language
from viewer.domain.item import Item, item_of
from viewer.domain.report import ReportData, Table
from viewer.domain.result import TrialResult
from viewer.domain.run import RunSpec
from viewer.studies.consistency import published_table
from viewer.studies.evidence_diagnosis.beliefs import posterior_of, rapt_of
from viewer.studies.evidence_diagnosis.calibration import (
    calibration_table,
    labels_of,
)
from viewer.studies.evidence_diagnosis.consistency import checks
from viewer.studies.evidence_diagnosis.params import (
    PREPARING,
    Arm,
    Params,
    Task,
    read_params,
)
from viewer.studies.evidence_diagnosis.plan import conditions
from viewer.studies.evidence_diagnosis.preparing import (
    invented_table,
    preparation_table,
)
from viewer.studies.evidence_diagnosis.printing import sections
from viewer.studies.evidence_diagnosis.published import rows as published_rows
from viewer.studies.evidence_diagnosis.rows import (
    Row,
    asked_in,
    models_of,
    people_rows,
)
from viewer.studies.evidence_diagnosis.score import FIRST_MATCH, GOLD_PLACE, JUDGE
from viewer.studies.evidence_diagnosis.sensitivities import (
    case_sensitivities,
    compared,
    sensitivity_table,
)
from viewer.studies.evidence_diagnosis.showing import Showing
from viewer.studies.evidence_diagnosis.tables import (
    positions,
    table_2,
    table_5,
    table_8,
    table_9,
    table_10,
    table_11,
    table_12,
    table_13,
    table_arms,
)
from viewer.studies.evidence_diagnosis.validation import validation_table
from viewer.studies.protocol import ReportContext
from viewer.studies.tables import trial_tables

DEFINITIONS: Final[Mapping[str, str]] = {
    "ddx": (
        "differentials whose judge's score reaches the coverage score, over all trials "
        "that are neither excluded nor pending; what the judge did not score counts as "
        "not covered"
    ),
    "fdx": "right options over all trials that are neither excluded nor pending",
    "score": "mean of the judge's scores over the trials that have one",
    "top_k": "differentials with the diagnosis, in words, among the first k",
    "gap_pp": "ddx less fdx, in percentage points",
    "rank": "competition rank by fdx within the subset, people left out",
    "delta_pp": "fdx of the arm less that of the first, over the cases settled in both",
    "p_mcnemar": "exact McNemar test over those cases",
    "sensitivity": (
        "Jensen-Shannon divergence of the options' probabilities with and without a "
        "type of evidence"
    ),
    "corrected": (
        "prediction-powered: the judge's mean plus its mean error on the answers that "
        "people scored; Student's interval, 95 %"
    ),
    "nmse": "sum of (image - text) squared over sum of text squared; not symmetric",
    "concordance": "Lin's concordance correlation",
}
_ALWAYS: Final = frozenset({"items", "results"})


def report(
    results: Sequence[TrialResult], spec: RunSpec, context: ReportContext
) -> ReportData:
    """Return the tables of a run; without its data set only trials and rates."""
    params = read_params(spec.preset, spec.params)
    made = [one for one in results if Task(one.finding) in PREPARING]
    tables = [*trial_tables(results, means=False)]
    tables += [preparation_table(made), invented_table(made)]
    if context.dataset is not None and len(made) < len(results):
        rows = rows_of(results, context.dataset, params)
        asked = {row.case.key for row in rows}
        items = [item for item in context.dataset.items if item.key in asked]
        people = people_rows(items, params.human_mode)
        tables += tables_of(rows, people, params, spec.seed)
        tables.append(validation_table(items, spec.seed))
        labels = labels_of(items)
        tables.append(calibration_table(rows, labels, params.covered_from))
    full = tuple(table for table in tables if table.rows or table.name in _ALWAYS)
    return ReportData(
        tables=full,
        figures=(),
        metric_definitions=DEFINITIONS,
        incomplete=any(r.score.status is Status.PENDING for r in results),
        sections=tuple(sections({table.name: table for table in full}, params)),
    )


def rows_of(
    results: Sequence[TrialResult], dataset: Dataset, params: Params
) -> tuple[Row, ...]:
    """Return the trials of a run as the study's tables count them."""
    items = {item.key: item for item in dataset.items}
    known = {c.name: Showing.of_condition(c) for c in conditions(params)}
    cases: dict[str, EvidenceCase] = {}
    return tuple(
        _row(one, items, cases, known, params)
        for one in results
        if Task(one.finding) not in PREPARING
    )


def tables_of(
    rows: Sequence[Row], people: Sequence[Row], params: Params, seed: int
) -> Iterator[Table]:
    """Yield every table of the paper that the run has something for.

    Those that the paper has of cases in English follow once more for Chinese.
    """
    all_ = (*people, *rows)
    yield table_2(all_, models_of(people))
    if Task.DDX in params.tasks:
        yield table_8(rows)
    for language in asked_in(rows):
        yield from _tables_in(language, rows, all_, params)
    if params.cyclic_orders:
        yield positions(rows)
    if params.sensitivity:
        yield from _sensitivity_tables(rows, params, seed)
    yield rapt_table(rows)
    yield published_table(published_rows(), checks())


_ARMS: Final = {
    "03": (Arm.RAW, Arm.EXPERT),
    "04": (Arm.RAW, Arm.REMOVE_TEXT, Arm.RANDOM_TEXT),
    "06": (Arm.RAW, Arm.REFINED),
}


def _tables_in(
    language: Language, rows: Sequence[Row], all_: Sequence[Row], params: Params
) -> Iterator[Table]:
    for number, arms in _ARMS.items():
        if all(str(arm) in params.arms for arm in arms):
            yield table_arms(number, rows, arms, language)
    if Task.OPEN_FDX in params.tasks:
        yield table_9(rows, language)
    yield table_10(all_, params.small_cases, language)
    yield table_11(all_, params.small_cases, language)


def rapt_table(rows: Sequence[Row]) -> Table:
    """Return relative attention by model, arm, section and layer, mean over cases."""
    found: dict[tuple[str, str, str, int], list[float]] = {}
    for row in rows:
        for section, layer, value in row.rapt:
            key = row.model, row.showing.name, section, layer
            found.setdefault(key, []).append(value)
    lines = tuple((*key, sum(v) / len(v), len(v)) for key, v in found.items())
    return Table("rapt", ("model", "arm", "section", "layer", "rapt", "cases"), lines)


def _sensitivity_tables(
    rows: Sequence[Row], params: Params, seed: int
) -> Iterator[Table]:
    plain = case_sensitivities(rows, params, seed=seed)
    refined = case_sensitivities(rows, params, refined=True, seed=seed)
    yield sensitivity_table(plain, params)
    yield table_12(compared(plain))
    for language in asked_in(rows):
        yield table_5(rows, compared(plain), language)
    if refined:
        yield table_13(compared(plain), compared(refined))


def _row(
    one: TrialResult,
    items: Mapping[str, Item],
    cases: dict[str, EvidenceCase],
    known: Mapping[str, Showing],
    params: Params,
) -> Row:
    item = item_of(items, one.item)
    case = cases.setdefault(item.key, EvidenceCase.of_item(item))
    match, place = one.score.number(FIRST_MATCH), one.score.number(GOLD_PLACE)
    return Row(
        case=case,
        model=one.model,
        task=Task(one.finding),
        showing=known[one.condition],
        status=one.score.status,
        reason=one.score.reason,
        judge=one.score.number(JUDGE),
        first_match=None if match is None else int(match),
        chosen=one.said.option if isinstance(one.said, ChoiceAnswer) else None,
        place=None if place is None else int(place),
        posterior=posterior_of(one.score, params.estimator),
        repeat=one.repeat,
        rapt=rapt_of(one.score),
    )
