"""A finding that nothing can be asked about is told, never left out silently."""

from dataclasses import replace

import pytest

from tests.unit.studies.grid_localization.cases import block, dataset, image, spec
from viewer.domain.case import Dataset, View
from viewer.domain.plain import plain
from viewer.domain.reference import Mask
from viewer.domain.report import Section
from viewer.studies.catalog import study_named
from viewer.studies.grid_localization.missing_findings import (
    missing_findings,
    missing_findings_sentence,
)
from viewer.studies.grid_localization.params import (
    Params,
    read_params,
)
from viewer.studies.grid_localization.plan import plan
from viewer.studies.protocol import ReportContext

FULL = Mask.of_array(block(0, 32, 0, 32))
DATA = dataset(
    image("p1", {"Edema": FULL}),
    image("p2", labels={"Lung Lesion": True, "Atelectasis": False}),
    image("p3", {"Consolidation": FULL}, view=View.LATERAL),
    image("p4", defects={"Pneumothorax": "mask_size"}),
)
STUDY = study_named("grid_localization")


def not_asked(data: Dataset | None, chosen: Params) -> list[Section]:
    of = replace(spec(), params=plain(chosen))
    appendix = STUDY.report([], of, ReportContext(data)).appendix
    return [one for one in appendix if one.title.startswith("Not asked")]


FINDINGS = ("Edema", "lung opacity", "Lung Lesion", "Atelectasis", "Consolidation")


def params(**overrides: object) -> Params:
    findings = [*FINDINGS, "Pneumothorax"]
    return read_params("gosai2025", {"findings": findings, **overrides})


@pytest.mark.statement("X-01")
@pytest.mark.parametrize(
    ("overrides", "missing"),
    [
        ({}, ("Lung Opacity", "Atelectasis")),
        ({"absent_findings": True}, ("Lung Opacity",)),
        (
            {"views": ["frontal"]},
            ("Lung Opacity", "Atelectasis", "Consolidation"),
        ),
    ],
)
def test_that_what_is_told_is_what_the_plan_has_no_trial_of(
    overrides: dict[str, object], missing: tuple[str, ...]
) -> None:
    chosen = params(**overrides)
    assert missing_findings(DATA, chosen) == missing
    planned = plan(DATA, replace(spec(), params=plain(chosen)))
    assert {*chosen.findings} - {trial.finding for trial in planned} == {*missing}


def test_that_it_is_said_in_a_sentence_and_in_the_report() -> None:
    said = missing_findings_sentence(DATA, params())
    assert said.endswith("label for: Lung Opacity, Atelectasis.")
    (section,) = not_asked(DATA, params())
    assert section.title == "Not asked: 2 findings"
    assert section.table.rows == (("Lung Opacity",), ("Atelectasis",))


@pytest.mark.parametrize("data", [DATA, None])
def test_that_nothing_is_said_where_every_finding_is_asked(
    data: Dataset | None,
) -> None:
    edema = read_params("gosai2025", {"findings": ["Edema"]})
    assert not_asked(data, edema) == []
    assert missing_findings_sentence(DATA, edema) == ""
