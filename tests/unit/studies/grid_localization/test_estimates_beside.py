"""Tables that stand beside results.csv: patients, mask modes, replicates."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from math import log2

import numpy as np
import pytest

from tests.unit.studies.grid_localization.cases import block, condition, spec
from tests.unit.studies.grid_localization.runs import (
    FINDINGS,
    ended,
    placed,
    random_run,
    result,
)
from viewer.domain.answer import Status
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask
from viewer.domain.report import ReportData
from viewer.domain.run import RunSpec
from viewer.metrics.cluster_bootstrap import Resampling, cluster_bootstrap
from viewer.metrics.proportions import macro_interval, patient_interval
from viewer.metrics.replicates import replicate_agreement
from viewer.studies.grid_localization.placed import PlacedTrial
from viewer.studies.grid_localization.study import STUDY

Record = dict[str, object]


def table(data: ReportData, name: str) -> list[Record]:
    found = next(t for t in data.tables if t.name == name)
    return [dict(zip(found.header, row, strict=True)) for row in found.rows]


def names(data: ReportData) -> list[str]:
    return [t.name for t in data.tables]


def is_hit(one: PlacedTrial) -> bool:
    return one.placed.cell_index in one.placed.reference_index


def is_other_hit(one: PlacedTrial) -> bool:
    return one.placed.cell_index in (one.placed.alternate_index or ())


def with_modes(results: Sequence[PlacedTrial]) -> list[PlacedTrial]:
    """Return trials of which every third has another cell too in the other mode."""
    return [
        placed(r, alternate_index=(*r.placed.reference_index, r.placed.cell_index or 0))
        if i % 3 == 0
        else r
        for i, r in enumerate(results)
    ]


@pytest.mark.statement("E000-20", "E000-21", "X-02")
def test_that_intervals_over_patients_are_those_of_their_sums() -> None:
    results, of = random_run(repeats=1)
    rows = table(STUDY.report(results, of), "recommended")
    patients = sorted({r.patient for r in results})
    for view in ("frontal", "lateral", "all"):
        for model in ("a", "constant"):
            mine = [
                r
                for r in results
                if r.model == model
                and r.condition == "grid=8"
                and view in {"all", r.view}
            ]
            n = Counter((r.patient, r.finding) for r in mine)
            k = Counter((r.patient, r.finding) for r in mine if is_hit(r))
            hits = np.array([[k[p, f] for f in FINDINGS] for p in patients])
            trials = np.array([[n[p, f] for f in FINDINGS] for p in patients])
            expected = cluster_bootstrap(hits, trials, Resampling(200, 0))
            wanted = dict(zip(FINDINGS, expected.cells, strict=True))
            wanted |= {"(macro)": expected.macro, "(micro)": expected.micro}
            got = {
                str(r["finding"]): r
                for r in rows
                if (r["view"], r["condition"], r["model"]) == (view, "grid=8", model)
            }
            assert list(got) == list(wanted)
            for name, estimate in wanted.items():
                assert got[name]["hit_rate"] == estimate.value
                assert got[name]["patient_sd"] == estimate.standard_deviation


@pytest.mark.statement("E000-20")
def test_that_items_of_a_patient_travel_together() -> None:
    alone = [result(f"p{i:02d}_a", "Edema", 0, (i % 2,)) for i in range(40)]
    twins = [
        result(f"p{i // 4:02d}_{i}", "Edema", 0, ((i // 4) % 2,)) for i in range(40)
    ]
    of = spec(findings=["Edema"], replicates=4000, paper_replicates=4000)
    sds = []
    for results in (alone, twins):
        data = STUDY.report(results, of)
        (row,) = (
            r
            for r in table(data, "recommended")
            if r["finding"] == "Edema" and r["view"] == "all"
        )
        items = next(
            r["bootstrap_sd"]
            for r in table(data, "results")
            if r["finding"] == "Edema" and r["view"] == "all"
        )
        assert items == pytest.approx(0.5 / np.sqrt(40), rel=0.05)
        sds.append(float(str(row["patient_sd"])))
    assert sds[0] == pytest.approx(0.5 / np.sqrt(40), rel=0.05)
    assert sds[1] == pytest.approx(0.5 / np.sqrt(10), rel=0.05)


def test_that_only_hits_give_an_interval_with_a_width() -> None:
    of = spec(findings=["Edema"], replicates=50)
    hits = [result(f"p{i}_a", "Edema", 0, (0,)) for i in range(5)]
    for row in table(STUDY.report(hits, of), "recommended"):
        assert row["ci_low"] == pytest.approx(0.025 ** (1 / 5))
        assert row["ci_high"] == 1.0
        assert row["ci_method"] == "Clopper-Pearson, 95 %"


def test_that_one_patient_gives_no_interval_over_patients() -> None:
    of = spec(findings=["Edema"], replicates=50)
    alone = [result("p1_a", "Edema", 0, (0,)), result("p1_b", "Edema", 0, (1,))]
    data = STUDY.report(alone, of)
    for row in table(data, "recommended"):
        assert (row["hit_rate"], row["patient_sd"]) == (0.5, None)
        assert (row["ci_low"], row["ci_high"]) == (None, None)
        assert "not estimable from one patient" in str(row["ci_method"])
    for row in table(data, "results"):
        gains = ("location_prior", "gain", "gain_low", "gain_high")
        assert {row[name] for name in gains} == {None}


def test_that_trials_without_a_verdict_have_no_interval_and_no_table() -> None:
    lost = ended(result("p1_a", "Edema", 0, ()), Status.EXCLUDED, "no_gt")
    data = STUDY.report([lost], spec(findings=["Edema"], replicates=5))
    assert not {"recommended", "mask_modes", "replicates"} & set(names(data))


@pytest.mark.statement("X-02")
def test_that_paper_numbers_and_recommended_ones_share_no_column() -> None:
    results, of = random_run()
    data = STUDY.report(results, of)
    paper = {"bootstrap_sd"}
    (recommended,) = (t for t in data.tables if t.name == "recommended")
    assert not paper & set(recommended.header)
    for section in data.sections:
        grouped, start = {}, 0
        for name, span in section.groups:
            grouped[name] = section.table.header[start : start + span]
            start += span
        assert not set(grouped.get("Paper mode", ())) & set(
            grouped.get("Recommended", ())
        )
    (first,) = (s for s in data.sections if s.title == "Results, 8 × 8 grid")
    assert [name for name, _ in first.groups][1:] == [
        "Paper mode",
        "Trials",
        "Recommended",
    ]


@pytest.mark.statement("E000-17")
def test_that_both_mask_modes_stand_side_by_side_whichever_was_chosen() -> None:
    results, of = random_run()
    results = with_modes(results)
    swapped = [
        placed(
            r,
            reference_index=r.placed.alternate_index,
            alternate_index=r.placed.reference_index,
        )
        for r in results
        if r.placed.alternate_index is not None
    ]
    exact = replace(of, params={**of.params, "mask_mode": "exact"})
    rows = table(STUDY.report(results, of), "mask_modes")
    assert rows == table(STUDY.report(swapped, exact), "mask_modes")
    assert any(row["k_paper"] != row["k_exact"] for row in rows)


@pytest.mark.statement("E000-17")
def test_that_rates_in_both_modes_and_what_differs_equal_a_loop() -> None:
    results, of = random_run()
    results = with_modes(results)
    data = STUDY.report(results, of)
    rows = table(data, "mask_modes")
    parts = defaultdict(list)
    for row in rows:
        if row["finding"] in FINDINGS:
            mine = [
                r
                for r in results
                if (r.finding, r.condition, r.model)
                == (row["finding"], row["condition"], row["model"])
                and row["view"] in {"all", r.view}
            ]
            both = [(is_hit(r), is_other_hit(r)) for r in mine]
            assert row["n"] == len(mine)
            assert row["k_paper"] == sum(a for a, _ in both)
            assert row["k_exact"] == sum(b for _, b in both)
            assert row["n_verdict_differs"] == sum(a != b for a, b in both)
            assert row["hit_rate_exact"] == sum(b for _, b in both) / len(mine)
            parts[row["view"], row["condition"], row["model"]].append(row)
    for row in rows:
        same = parts[row["view"], row["condition"], row["model"]]
        if row["finding"] == "(macro)":
            mean = np.mean([float(str(p["hit_rate_exact"])) for p in same])
            assert row["hit_rate_exact"] == pytest.approx(mean, abs=1e-12)
        if row["finding"] == "(micro)":
            assert row["k_exact"] == sum(int(str(p["k_exact"])) for p in same)
    listed = table(data, "mask_mode_items")
    differ = {
        (r.item, r.condition, r.repeat, r.model)
        for r in results
        if is_hit(r) != is_other_hit(r)
    }
    keys = [(r["item"], r["condition"], r["repeat"], r["model"]) for r in listed]
    assert len(keys) == len(differ)
    assert set(keys) == differ
    assert keys == sorted(keys)
    (section,) = (
        s for s in data.appendix if s.title == "Hit rates with paper and exact masks"
    )
    named = [key.replace("|", ", ") for key in sorted({key[0] for key in differ})]
    shown = [item in section.text for item in named]
    assert shown == [i < 30 for i in range(len(shown))]
    assert f"and {len(shown) - 30} more, listed in mask_mode_items.csv" in section.text
    means = [r for r in section.table.rows if r[0] == "Mean of findings"]
    assert {(r[3], r[4], r[6]) for r in means} == {("mean of rates",) * 3}


@pytest.mark.statement("E000-17")
def test_that_a_real_mask_can_hang_on_the_mode() -> None:
    """A mask whose edge cuts native pixels: half of a cell by count, less by area."""
    params = STUDY.read_params("gosai2025", {"side": 32})
    mask = Mask.of_array(block(0, 4, 0, 3, 50))
    geometry = ImageGeometry(mask.size)
    reference = STUDY.places(params).reference(mask, geometry, condition(8))
    other = STUDY.read_params("recommended", {"side": 32})
    exact = STUDY.places(other).reference(mask, geometry, condition(8))
    assert reference.alternate_hits == exact.hits
    assert exact.alternate_hits == reference.hits
    assert reference.covered != exact.covered


def asked_often() -> tuple[list[PlacedTrial], RunSpec]:
    results, of = random_run(repeats=5, models=("a", "constant"))
    return results, of


@pytest.mark.statement("E000-14")
def test_that_an_items_replicates_have_their_mode_entropy_and_mean_hit() -> None:
    results, of = asked_often()
    rows = table(STUDY.report(results, of), "replicates")
    by_item = defaultdict(list)
    for r in results:
        by_item[r.item, r.condition, r.model].append(r)
    assert len(rows) == len(by_item)
    for row in rows:
        mine = by_item[str(row["item"]), str(row["condition"]), str(row["model"])]
        answers = Counter(r.score.answer or "(no cell)" for r in mine)
        most = max(answers.values())
        assert row["replicates"] == 5
        assert answers[str(row["mode"])] == most
        assert row["mode_share"] == most / 5
        assert row["tied"] is (sum(n == most for n in answers.values()) > 1)
        entropy = -sum(n / 5 * log2(n / 5) for n in answers.values())
        assert row["entropy_bits"] == pytest.approx(entropy, abs=1e-12)
        assert row["mean_hit"] == sum(map(is_hit, mine)) / 5


@pytest.mark.statement("E000-14")
def test_that_the_rate_averaged_over_replicates_has_an_interval_by_patient() -> None:
    results, of = asked_often()
    data = STUDY.report(results, of)
    (row,) = (
        r
        for r in table(data, "replicate_agreement")
        if (r["condition"], r["model"]) == ("grid=16", "a")
    )
    items = defaultdict(list)
    for r in results:
        if (r.condition, r.model) == ("grid=16", "a"):
            items[r.item].append(r)
    ordered = [items[name] for name in sorted(items)]
    patients = sorted({r.patient for r in results})
    hits, asked = np.zeros((2, len(patients), len(FINDINGS)))
    for trials in ordered:
        at = patients.index(trials[0].patient), FINDINGS.index(trials[0].finding)
        hits[at] += np.mean([is_hit(one) for one in trials])
        asked[at] += 1
    macro = macro_interval(hits, asked, len(ordered))
    pooled = patient_interval(hits.sum(axis=1), asked.sum(axis=1), len(ordered))
    assert row["macro_hit_rate"] == pytest.approx(macro.value)
    assert row["macro_low"] == pytest.approx(macro.interval.low)
    assert row["macro_method"] == macro.method
    assert row["pooled_high"] == pytest.approx(pooled.interval.high)
    assert row["pooled_method"] == pooled.method
    agreement = replicate_agreement([[float(is_hit(r)) for r in t] for t in ordered])
    assert row["icc"] == agreement.icc
    assert row["items"] == len(ordered)
    (constant,) = (
        r
        for r in table(data, "replicate_agreement")
        if (r["condition"], r["model"]) == ("grid=8", "constant")
    )
    assert constant["mean_entropy_bits"] == 0
    assert constant["items_unanimous"] == constant["items"]
    assert "Replicates" in [s.title for s in data.sections]


@pytest.mark.statement("E000-14")
def test_that_paper_mode_asks_once_and_has_no_replicates() -> None:
    results, of = random_run(repeats=1)
    assert "replicates" not in names(STUDY.report(results, of))


def test_that_pending_replicates_do_not_count() -> None:
    first = result("p1_a", "Edema", 0, (0,))
    second = ended(result("p1_a", "Edema", 0, (0,), repeat=1), Status.PENDING)
    data = STUDY.report([first, second], spec(repeats=2, replicates=5))
    (row,) = table(data, "replicates")
    assert row["replicates"] == 1
    (arm,) = table(data, "replicate_agreement")
    assert (arm["pairs_agreeing"], arm["icc"]) == (None, None)
