from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.study_samples import SAMPLES
from tests.helpers.tiny_study import a_spec, plan_and_finish
from viewer.domain.answer import Status
from viewer.domain.case import Dataset
from viewer.domain.case_validation import VALIDATIONS, CaseValidation
from viewer.domain.evidence import EvidenceCase
from viewer.domain.exchange import ModelProfile
from viewer.domain.item import Item
from viewer.domain.physician import Alignment
from viewer.services.reporting.report_run import RunReport, report_data
from viewer.store import cases
from viewer.store.database import Store, open_store
from viewer.studies.evidence_diagnosis.figures import gap_figure
from viewer.studies.evidence_diagnosis.validation import problems_of

MODEL = ModelProfile("studied", "scripted", {"answer": "1. Gout\n2. Lupus"})
JUDGE = ModelProfile(
    "judge", "scripted", {"answer": "Score: 5\nRationale: It is there."}
)
READINGS = [["Ann", ["gout", "Sarcoidosis (stage II)"], 0], ["Bob", ["lupus"], None]]


def asked_people(folder: Path) -> Dataset:
    """Return cases in English and Chinese, each answered by two physicians."""
    made = SAMPLES["evidence_diagnosis"].make(folder / "d")
    items = (
        replace(item, reference={**item.reference, "physicians": READINGS})
        for item in made.items
    )
    return replace(made, items=tuple(items))


def finished(store: Store, dataset: Dataset, **params: object) -> RunReport:
    cases.add_dataset(store, dataset)
    spec = a_spec(
        [MODEL],
        study="evidence_diagnosis",
        dataset=dataset.name,
        repeats=2,
        params=params,
        known={"judge": JUDGE},
    )
    run = plan_and_finish(store, spec)
    return report_data(store, run)


@pytest.mark.statement("E004-06", "E004-20")
def test_that_the_judge_scores_physicians_as_it_scores_models(tmp_path: Path) -> None:
    dataset = asked_people(tmp_path)
    with open_store(tmp_path / "s.sqlite") as store:
        report = finished(store, dataset, judge="judge", tasks=["ddx", "fdx"])
    people = [one for one in report.results if one.model == "physicians"]
    assert len(people) == 2 * len(dataset.items)
    assert {one.finding for one in people} == {"ddx"}
    assert {one.score.status for one in people} == {Status.SCORED_CORRECT}
    assert {one.score.number("judge") for one in people} == {5.0}
    table = next(t for t in report.data.tables if t.name == "table_02").records()
    ann, bob, mean, studied = table
    assert (ann["model"], bob["model"], studied["model"]) == ("Ann", "Bob", "studied")
    assert mean["model"] == "mean of individual readers"
    assert mean["ddx_all_n"] == 2 * len(dataset.items)
    assert (ann["ddx_all"], ann["ddx_all_n"]) == (1.0, len(dataset.items))
    assert ann["rank_all"] is None
    figure = gap_figure(table)
    assert figure is not None
    assert figure.panels[0].groups[0] == "Ann"


def _evidence(item: Item) -> int:
    return len(EvidenceCase.of_item(item).evidence)


@pytest.mark.statement("X-08")
def test_that_people_are_counted_on_the_cases_that_models_are(tmp_path: Path) -> None:
    dataset = asked_people(tmp_path)
    first, *others = dataset.items
    found = CaseValidation("", "Cy", (), False, (Alignment.OK,) * _evidence(first))
    refuted = {VALIDATIONS: [found.as_json()]}
    unfit = replace(first, reference={**first.reference, **refuted})
    dataset = replace(dataset, items=(unfit, *others))
    assert problems_of(unfit)
    with open_store(tmp_path / "s.sqlite") as store:
        report = finished(store, dataset, judge="judge", tasks=["ddx", "fdx"])
    rows = next(t for t in report.data.tables if t.name == "table_02").records()
    for row in rows:
        for task in ("ddx", "fdx"):
            n = len(others) * (1 if row["model"] in {"Ann", "Bob"} else 2)
            assert row[f"{task}_all_n"] == n, (row["model"], task)
            assert row[f"{task}_all_n_excluded"] > 0


@pytest.mark.parametrize(
    "params",
    [
        {"tasks": ["ddx", "fdx"]},
        {"tasks": ["fdx"], "judge": "judge"},
        {"tasks": ["ddx"], "judge": "judge", "differential_arms": ["expert"]},
    ],
)
def test_that_without_a_judge_of_raw_differentials_no_physician_is_asked(
    tmp_path: Path, params: dict[str, object]
) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        report = finished(store, asked_people(tmp_path), **params)
    assert {one.model for one in report.results} == {"studied"}
