"""A run's report: its study's own, and what it tells of variants and controls beside.

The tables of a study are of the run's own prompts without any control.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from viewer.domain.answer import Status
from viewer.domain.conditions import is_studys_own, variant_of
from viewer.domain.report import ReportData
from viewer.domain.result import TrialResult
from viewer.domain.run import RunSpec
from viewer.results.evaluate import evaluate_all
from viewer.results.frame import Frame
from viewer.results.page import sections
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
    pending = any(one.score.status is Status.PENDING for one in results)
    return replace(data, incomplete=data.incomplete or pending)


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
