from collections.abc import Sequence

import numpy as np
import pytest

from tests.unit.studies.grid_localization.cases import spec
from tests.unit.studies.grid_localization.runs import (
    FINDINGS,
    ended,
    placed,
    random_run,
    result,
)
from viewer.domain.answer import Status
from viewer.domain.report import ReportData
from viewer.domain.run import RunSpec
from viewer.studies.catalog import study_named
from viewer.studies.grid_localization.placed import PlacedTrial

STUDY = study_named("grid_localization")
RESULTS = (
    "finding,view,condition,model,n_planned,n_scored,n_failed,n_refused,n_unparsed,"
    "n_excluded,n_pending,k,hit_rate,bootstrap_sd,ci_low,ci_high,ci_method,"
    "random_baseline,location_prior,gain,gain_low,gain_high,partial"
)
Row = dict[str, object]


def report(results: Sequence[PlacedTrial], of: RunSpec | None = None) -> ReportData:
    return STUDY.report(results, of or spec(findings=list(FINDINGS), replicates=50))


def rows(data: ReportData) -> list[Row]:
    table = data.tables[0]
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


def row(data: ReportData, finding: str, view: str = "all", **where: str) -> Row:
    (one,) = (
        r
        for r in rows(data)
        if r["finding"] == finding
        and r["view"] == view
        and all(r[key] == value for key, value in where.items())
    )
    return one


def test_that_the_tables_have_the_agreed_headers() -> None:
    data = report([result("p1_a", "Edema", 0, (0,))])
    names = [table.name for table in data.tables]
    assert names == [
        "results",
        "recommended",
        "mask_modes",
        "mask_mode_items",
        "published",
        "claims",
    ]
    assert ",".join(data.tables[0].header) == RESULTS


def test_that_the_order_of_trials_changes_no_rate() -> None:
    results, of = random_run(repeats=3)
    shuffled = [results[i] for i in np.random.default_rng(0).permutation(len(results))]
    assert report(shuffled, of).tables[0] == report(results, of).tables[0]


@pytest.mark.statement("E000-22", "X-01")
def test_that_every_status_is_counted_where_it_belongs() -> None:
    base = [result(f"p{i}_a", "Edema", 0, (0,) if i < 3 else (5,)) for i in range(4)]
    others = [
        ended(result(f"q{i}_a", "Edema", 0, (0,)), status, "why")
        for i, status in enumerate(Status)
        if not status.startswith("scored")
    ]
    one = row(report([*base, *others]), "Edema")
    assert one["n_planned"] == 4 + len(others)
    assert (one["n_scored"], one["k"]) == (4, 3)
    assert (one["n_failed"], one["n_refused"], one["n_unparsed"]) == (1, 1, 5)
    assert (one["n_excluded"], one["n_pending"]) == (1, 1)
    assert one["hit_rate"] == 3 / 11
    assert report(others).incomplete
    assert not report(base).incomplete


@pytest.mark.statement("X-01")
def test_that_statuses_add_up_to_the_plan_in_every_row() -> None:
    results, of = random_run()
    for one in rows(report(results, of)):
        parts = [int(str(n)) for key, n in one.items() if key.startswith("n_")]
        assert one["n_planned"] == sum(parts[1:])


def test_that_there_is_a_row_for_every_finding_view_condition_and_model() -> None:
    results, of = random_run()
    got = [
        (r["finding"], r["view"], r["condition"], r["model"])
        for r in rows(report(results, of))
    ]
    expected = [
        (finding, view, condition, model)
        for finding in (*FINDINGS, "(macro)", "(micro)")
        for view in ("frontal", "lateral", "all")
        for condition in ("grid=8", "grid=16")
        for model in ("a", "constant")
    ]
    assert got == expected


@pytest.mark.statement("E000-19", "X-04")
def test_that_rates_and_baselines_equal_a_double_loop() -> None:
    results, of = random_run()
    data = report(results, of)
    for finding in FINDINGS:
        kept = [
            r
            for r in results
            if (r.finding, r.condition, r.model) == (finding, "grid=8", "a")
        ]
        strata = [[r for r in kept if r.view == v] for v in ("frontal", "lateral")]
        prior = sum(
            sum(one.placed.cell_index in g.placed.reference_index for one in others)
            / len(others)
            for stratum in strata
            for s in [[one for one in stratum if one.placed.cell_index is not None]]
            for g in s
            for others in [[one for one in s if one.patient != g.patient]]
        ) / len(kept)
        k = sum(r.placed.cell_index in r.placed.reference_index for r in kept)
        one = row(data, finding, condition="grid=8", model="a")
        assert one["hit_rate"] == k / len(kept)
        assert one["location_prior"] == pytest.approx(prior, abs=1e-12)
        assert one["gain"] == pytest.approx(k / len(kept) - prior, abs=1e-12)
        shares = {r.item: len(r.placed.reference_index) / 64 for r in kept}
        random = sum(shares.values()) / len(shares)
        assert one["random_baseline"] == pytest.approx(random, abs=1e-15)


@pytest.mark.statement("E000-21")
def test_that_macro_is_the_mean_and_micro_the_pool_of_findings() -> None:
    results, of = random_run()
    data = report(results, of)
    where = {"condition": "grid=8", "model": "a"}
    parts = [row(data, finding, **where) for finding in FINDINGS]
    macro, micro = row(data, "(macro)", **where), row(data, "(micro)", **where)
    for name in ("hit_rate", "random_baseline", "location_prior", "gain"):
        values = [float(str(part[name])) for part in parts]
        assert macro[name] == pytest.approx(np.mean(values), abs=1e-12)
    for name in ("n_planned", "n_refused", "k", "partial"):
        total = sum(int(str(part[name])) for part in parts)
        assert micro[name] == macro[name] == total
    settled = sum(int(str(part["n_planned"])) for part in parts)
    assert micro["hit_rate"] == int(str(micro["k"])) / settled
    assert float(str(macro["ci_low"])) < float(str(macro["hit_rate"]))
    assert macro["ci_method"] == "Clopper-Pearson by patient, mean of rates, 95 %"
    for title in ("Results, 8 × 8 grid", "Hit rates with intervals over patients"):
        (page,) = (s.table for s in data.sections if s.title == title)
        at = page.header.index("k / n")
        told = {of[0]: of[at] for of in page.rows}
        assert told["Mean of findings"] == "mean of rates"
        assert "/" in str(told["All trials pooled"])


@pytest.mark.statement("X-04")
def test_that_a_constant_answer_gains_exactly_zero_in_every_row() -> None:
    results, of = random_run()
    found = [r for r in rows(report(results, of)) if r["model"] == "constant"]
    assert found
    for one in found:
        assert one["gain"] == 0.0
        assert one["gain_low"] == -float(str(one["gain_high"]))


@pytest.mark.statement("E000-20")
def test_that_the_bootstrap_sd_is_that_of_resampled_items() -> None:
    hits = [i % 3 == 0 for i in range(30)]
    results = [
        result(f"p{i:02d}_a", "Edema", 0, (0,) if hit else (1,), repeat=repeat)
        for i, hit in enumerate(hits)
        for repeat in range(5)
    ]
    of = spec(repeats=5, findings=["Edema"], paper_replicates=20_000, replicates=2)
    got = row(report(results, of), "Edema")["bootstrap_sd"]
    p = sum(hits) / len(hits)
    assert got == pytest.approx(np.sqrt(p * (1 - p) / len(hits)), rel=0.03)


@pytest.mark.statement("E000-20")
def test_that_one_item_tells_no_spread() -> None:
    results = [result("p1_a", "Edema", 0, (0,), repeat=i) for i in range(3)]
    of = spec(repeats=3, findings=["Edema"])
    for name in ("Edema", "(macro)", "(micro)"):
        assert row(report(results, of), name)["bootstrap_sd"] is None


def test_that_the_seed_alone_decides_the_draws() -> None:
    results, of = random_run()
    assert rows(report(results, of)) == rows(report(results, of))
    other = spec(
        ("a", "constant"),
        2,
        seed=1,
        grids=[8, 16],
        findings=list(FINDINGS),
        replicates=200,
    )
    first = row(report(results, of), "Edema", condition="grid=8", model="a")
    again = row(report(results, other), "Edema", condition="grid=8", model="a")
    assert first["hit_rate"] == again["hit_rate"]
    assert first["bootstrap_sd"] != again["bootstrap_sd"]


def test_that_a_row_without_a_settled_trial_has_no_rates() -> None:
    lost = ended(result("p1_a", "Edema", 0, ()), Status.EXCLUDED, "no_gt")
    data = report([lost, result("p2_a", "Cardiomegaly", 0, (0,))])
    one = row(data, "Edema")
    assert one["n_excluded"] == 1
    rates = ("hit_rate", "bootstrap_sd", "ci_low", "random_baseline", "gain_low")
    assert all(one[name] is None for name in rates)
    assert row(data, "(macro)")["hit_rate"] == 1.0
    only_lost = report([lost])
    assert row(only_lost, "(macro)")["hit_rate"] is None


def test_that_a_model_without_a_finding_has_no_row_for_it() -> None:
    data = report(
        [
            result("p1_a", "Edema", 0, (0,), model="a"),
            result("p1_a", "Cardiomegaly", 0, (0,), model="b"),
            result("p2_l", "Edema", 0, (0,), model="b", view="lateral"),
        ],
        spec(("a", "b"), findings=list(FINDINGS), replicates=5),
    )
    got = {(r["finding"], r["view"], r["model"]) for r in rows(data)}
    assert ("Cardiomegaly", "all", "a") not in got
    assert ("(macro)", "lateral", "a") not in got
    assert ("(macro)", "lateral", "b") in got


def test_that_references_say_nothing_where_nothing_was_recorded() -> None:
    one = placed(result("p1_a", "Edema", 0, (0,)), alternate_index=None)
    (section,) = (
        s
        for s in report([one]).appendix
        if s.title == "References seen through the grids"
    )
    assert section.table.rows == (("8 × 8 grid", 1, 1, 1, "-", "-", "-", "-"),)


@pytest.mark.statement("E000-05", "X-01")
def test_that_excluded_items_are_listed_by_name_with_their_reason() -> None:
    lost = ended(result("p1_a", "Edema", 0, ()), Status.EXCLUDED, "no_gt")
    data = report([lost, result("p2_a", "Edema", 0, (0,))])
    (section,) = (s for s in data.appendix if s.title.startswith("Excluded"))
    meaning = "The label is positive, but there is no reference mask."
    assert section.table.rows == (("p1_a|Edema", "no_gt", meaning, 1),)


@pytest.mark.statement("X-05")
def test_that_published_values_stand_apart_and_only_beside_a_finished_run() -> None:
    done = result("p1_a", "Edema", 0, (0,))
    open_ = ended(result("p2_a", "Edema", 0, (0,)), Status.PENDING)
    titles = [section.title for section in report([done]).appendix]
    assert "Published values and their checks" in titles
    titles = [section.title for section in report([done, open_]).appendix]
    assert "Published values and their checks" not in titles


@pytest.mark.statement("X-01")
def test_that_a_summary_prints_what_was_lost_beside_each_rate() -> None:
    results = [
        result("p1_a", "Edema", 0, (0,)),
        result("p2_a", "Edema", None, (0,), status=Status.REFUSED),
        result("p3_a", "Edema", None, (0,), status=Status.TRUNCATED),
        result("p4_a", "Edema", 1, (0,)),
    ]
    section = report(results).sections[0]
    first = dict(zip(section.table.header, section.table.rows[0], strict=True))
    assert first["k / n"] == "1 / 4"
    assert first["Hit rate %"] == "25.0"
    assert first["Answered only %"] == "50.0"
    assert (first["Planned"], first["Refused"], first["Unparsed"]) == (4, 1, 1)
    assert sum(span for _, span in section.groups) == len(section.table.header)


def test_that_the_figure_shows_each_finding_and_their_mean() -> None:
    results, of = random_run()
    eight, sixteen = report(results, of).figures
    assert eight.file_name == "hit_rate_grid_8.svg"
    assert sixteen.file_name == "hit_rate_grid_16.svg"
    assert eight.groups == (*FINDINGS, "Mean of findings")
    assert [series.name for series in eight.series] == ["a", "constant"]
    assert len(eight.baseline) == 4


@pytest.mark.statement("E000-08", "E000-16", "E000-17")
def test_that_references_tell_fallback_and_what_the_other_mode_would_change() -> None:
    plain = result("p1_a", "Edema", 0, (0,))
    odd = placed(
        result("p2_a", "Edema", 0, (0,)),
        fallback=True,
        fraction_outside=0.2,
        alternate_index=(0, 1),
    )
    (section,) = (
        s
        for s in report([plain, odd]).appendix
        if s.title == "References seen through the grids"
    )
    assert section.table.rows == (("8 × 8 grid", 2, 2, 2, *["50.0 (1 / 2)"] * 4),)
