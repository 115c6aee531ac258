"""A run's report: its study's own, and what it tells of variants and controls beside.

The tables of a study are of the run's own prompts without any control.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from viewer.domain.answer import Status
from viewer.domain.conditions import is_studys_own, variant_of
from viewer.domain.report import ReportData, Section, Table
from viewer.domain.result import TrialResult
from viewer.domain.run import RunSpec
from viewer.results.evaluate import evaluate_all
from viewer.results.frame import Frame
from viewer.results.page import sections
from viewer.results.records import NOT_COUNTED
from viewer.results.spec import Spec
from viewer.studies.control_tables import (
    are_controlled,
    control_definitions,
    control_frames,
    control_specs,
)
from viewer.studies.controls import Controlled
from viewer.studies.protocol import ReportContext
from viewer.studies.study import Study
from viewer.studies.variants import (
    OF_VARIANTS,
    VARIANTS,
    variants_frame,
    variants_spec,
)


def whole_report(
    study: Study,
    results: Sequence[TrialResult],
    spec: RunSpec,
    context: ReportContext,
) -> ReportData:
    """Return a study's report, and variants of its prompts and controls beside it."""
    plain = [one for one in results if is_studys_own(one.condition)]
    data = study.report(plain, spec, context)
    if isinstance(study, Controlled) and are_controlled(results):
        frames = control_frames(study, results)
        definitions = control_definitions(study)
        data = _with(data, control_specs(study, results), frames, definitions)
    if any(variant_of(one.condition) for one in results):
        specs = (variants_spec(study.words),)
        data = _with(data, specs, {VARIANTS: variants_frame(results)}, OF_VARIANTS)
    data = _with_unanswered(data, study, results)
    pending = any(one.score.status is Status.PENDING for one in results)
    return replace(data, incomplete=data.incomplete or pending)


def _with_unanswered(
    data: ReportData, study: Study, results: Sequence[TrialResult]
) -> ReportData:
    """Return a report that says which of a model's conditions got no reply at all."""
    failed = Counter(
        (one.model, one.condition)
        for one in results
        if one.score.status is Status.PROVIDER_ERROR
    )
    # an output that nobody graded is excluded, and still a reply
    replied = {
        (one.model, one.condition)
        for one in results
        if one.said is not None
        or one.score.status not in {*NOT_COUNTED, Status.PROVIDER_ERROR}
    }
    models = {model for model, _ in replied}
    rows = tuple(
        (model, study.words.called("condition", condition), n)
        for (model, condition), n in failed.items()
        if (model, condition) not in replied and model in models
    )
    table = Table("unanswered", ("Model", "Condition", "Failed"), rows)
    text = "Every request failed, so there is no difference to another condition."
    sentences = (
        f"Every request of {model} under '{condition}' failed ({n}), so there is no "
        "difference to it: overread run STUDY.toml --retry-failed asks again."
        for model, condition, n in rows
    )
    return replace(
        data,
        sections=(
            *((Section("Conditions without a reply", text, table),) if rows else ()),
            *data.sections,
        ),
        warnings=(*data.warnings, *sentences),
    )


def _with(
    data: ReportData,
    specs: Sequence[Spec],
    frames: Mapping[str, Frame],
    definitions: Mapping[str, str],
) -> ReportData:
    """Return a report with further tables, which come first on its page."""
    tables = evaluate_all(specs, frames)
    return replace(
        data,
        tables=(*data.tables, *tables),
        specs=(*data.specs, *specs),
        sections=(*sections(specs, tables), *data.sections),
        metric_definitions={**data.metric_definitions, **definitions},
    )
