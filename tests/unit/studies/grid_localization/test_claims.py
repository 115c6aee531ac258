from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.unit.studies.grid_localization.cases import spec
from tests.unit.studies.grid_localization.runs import ended, placed, result
from viewer.domain.answer import Status
from viewer.domain.exchange import ModelProfile
from viewer.domain.report import ReportData
from viewer.domain.run import RunSpec
from viewer.studies.catalog import study_named
from viewer.studies.grid_localization.findings import NINE
from viewer.studies.grid_localization.placed import PlacedTrial
from viewer.studies.places import PlacesContext
from viewer.studies.protocol import ReportContext

STUDY = study_named("grid_localization")
FOUR = ModelProfile("four", "openai_api", {"model": "gpt-4o-2024-05-13"})
FIVE = ModelProfile("five", "openai_api", {"model": "gpt-5"})
PAIRS = 20


def run(hits: Mapping[str, Mapping[str, int]]) -> list[PlacedTrial]:
    """Return frontal trials of each model, 20 of each finding, so many of them hits."""
    return [
        result(f"p{i:02d}_{f}", f, 0, (0,) if i < n else (9,), model=model)
        for model, of in hits.items()
        for f, n in of.items()
        for i in range(PAIRS)
    ]


def spec_of(*models: ModelProfile) -> RunSpec:
    of = spec(replicates=2, paper_replicates=2)
    return RunSpec(of.study, of.dataset, of.preset, 0, 1, models, of.params)


def claims(data: ReportData) -> list[tuple[str, str, str]]:
    table = next(t for t in data.tables if t.name == "claims")
    return [(str(r[0]), str(r[2]), str(r[3])) for r in table.rows]


def verdicts(
    hits: Mapping[str, Mapping[str, int]],
    anatomy: Mapping[tuple[str, str], float] | None = None,
    models: tuple[ModelProfile, ...] = (FOUR, FIVE),
) -> list[str]:
    context = ReportContext(beside=PlacesContext(anatomy or {}))
    data = STUDY.report(run(hits), spec_of(*models), context)
    return [verdict for _, verdict, _ in claims(data)]


BOTH = {"four": dict.fromkeys(NINE, 5), "five": dict.fromkeys(NINE, 9)}
FEW = {(m, f): 1.0 for m in ("four", "five") for f in NINE}
AS_PAPER = {
    **FEW,
    ("five", "Consolidation"): 0.0,
    **{(m, f): 3.0 for m in ("four", "five") for f in NINE if f[:2] in {"Pl", "Pn"}},
}


@pytest.mark.statement("E000-31")
def test_that_a_gain_of_twenty_points_is_found_and_one_of_fifteen_is_none() -> None:
    assert verdicts(BOTH)[:4] == ["holds"] * 4
    less = {**BOTH, "five": {**BOTH["five"], "Edema": 8}}
    assert verdicts(less)[:4] == ["holds", "holds", "does not hold", "holds"]


@pytest.mark.statement("E000-31")
def test_that_claims_about_models_that_were_not_asked_say_so() -> None:
    assert verdicts({"four": BOTH["four"]}, AS_PAPER, (FOUR,)) == [
        *["not run"] * 5,
        "holds",
        "not run",
    ]
    other = ModelProfile("m", "scripted")
    assert verdicts({"m": BOTH["four"]}, models=(other,)) == ["not run"] * 7
    some = {m: {"Edema": n["Edema"]} for m, n in BOTH.items()}
    assert verdicts(some)[:4] == ["not run", "not run", "holds", "not run"]


@pytest.mark.statement("E000-31")
def test_that_claims_about_anatomy_wait_for_readers() -> None:
    assert verdicts(BOTH)[4:] == ["not reviewed"] * 3
    assert verdicts(BOTH, AS_PAPER)[4:] == ["holds"] * 3
    assert verdicts(BOTH, FEW)[4:] == ["does not hold"] * 3
    partly = {k: n for k, n in AS_PAPER.items() if k[1] != "Consolidation"}
    assert verdicts(BOTH, partly)[4:] == ["not reviewed"] * 3


def test_that_a_finding_without_a_miss_needs_no_reader() -> None:
    hits = {**BOTH, "five": {**BOTH["five"], "Consolidation": PAIRS}}
    partly = {k: n for k, n in AS_PAPER.items() if k != ("five", "Consolidation")}
    assert verdicts(hits, partly)[4:] == ["holds"] * 3


def test_that_a_model_without_any_miss_needs_no_reader() -> None:
    hits = {**BOTH, "five": dict.fromkeys(NINE, PAIRS)}
    assert verdicts(hits)[4:] == ["holds", "not reviewed", "does not hold"]


def test_that_findings_that_were_not_asked_about_wait_for_no_reader() -> None:
    some = {m: {"Edema": n["Edema"]} for m, n in BOTH.items()}
    of = {key: n for key, n in AS_PAPER.items() if key[1] == "Edema"}
    context = ReportContext(beside=PlacesContext(of))
    found = claims(STUDY.report(run(some), spec_of(FOUR, FIVE), context))[4:]
    assert {verdict for _, verdict, _ in found} == {"not run"}
    assert found[0][2] == (
        "The run has no frontal answers of this model for consolidation."
    )


@pytest.mark.statement("E000-31")
def test_that_nothing_is_claimed_of_a_finding_of_which_every_request_failed() -> None:
    trials = [
        ended(one, Status.PROVIDER_ERROR)
        if one.model == "five" and one.finding == "Consolidation"
        else one
        for one in run(BOTH)
    ]
    context = ReportContext(beside=PlacesContext(AS_PAPER))
    found = claims(STUDY.report(trials, spec_of(FOUR, FIVE), context))
    told = "The run has no frontal answers of this model for consolidation."
    assert found[1][1:] == ("not run", "It has no answers of them for consolidation.")
    assert [of[1:] for of in (found[4], found[6])] == [("not run", told)] * 2
    assert [of[1] for of in (*found[:1], *found[2:4], found[5])] == ["holds"] * 4


@pytest.mark.statement("E000-31")
def test_that_misses_reviewed_at_another_grid_tell_nothing_of_eight_by_eight() -> None:
    of, context = spec_of(FOUR, FIVE), ReportContext(beside=PlacesContext(AS_PAPER))
    asked = [replace(one, condition="grid=16") for one in run(BOTH)]
    finer = [placed(one, n_cells=256) for one in asked]
    for grids, expected in (([8, 16], "holds"), ([16, 8], "not reviewed")):
        both = replace(of, params={**of.params, "grids": grids})
        data = STUDY.report([*run(BOTH), *finer], both, context)
        assert {verdict for _, verdict, _ in claims(data)[4:]} == {expected}


@pytest.mark.statement("E000-31", "X-01")
def test_that_an_unfinished_run_settles_no_claim() -> None:
    open_ = ended(result("q_a", "Edema", 0, (0,), model="four"), Status.PENDING)
    context = ReportContext(beside=PlacesContext(AS_PAPER))
    data = STUDY.report([*run(BOTH), open_], spec_of(FOUR, FIVE), context)
    assert {verdict for _, verdict, _ in claims(data)} == {"incomplete"}


def test_that_the_page_says_why() -> None:
    data = STUDY.report(run(BOTH), spec_of(FOUR, FIVE))
    (section,) = (s for s in data.appendix if s.title == "Claims of the paper")
    assert section.table.rows[0][-1] == "45.0 % against 25.0 %."
