"""Every published row has its badge, and the checks find exactly what is known."""

from collections import Counter

import pytest

from viewer.services.reporting.published_rows import published_rows
from viewer.studies.benchmarks import Benchmark
from viewer.studies.catalog import benchmarks, study_named
from viewer.studies.published import Badge

OVERALL = "differential coverage"
MEDSYN_OVERALL = {
    "Gemini 2.5 Flash",
    "Qwen2.5-VL (72B)",
    "InternVL3 (78B)",
    "InternVL3.5 (38B)",
    "Qwen3-VL (8B)",
    "HuatuoGPT-Vision (7B)",
    "InternVL3.5 (8B)",
    "Lingshu (7B)",
    "Qwen2.5-VL (7B)",
    "DeepSeek-VL2 (27B)",
    "Qwen3-VL (2B)",
    "DeepSeek-VL2 (3B)",
    "Med-Mantis (8B)",
}
"""Rows of which the differential's overall rate is not that of its languages."""
KNOWN = {
    "rubric_reading": {
        *(("share of tasks by region", 37.0), ("share of tasks by region", 3.0)),
        *(("share below 3", 5.0), ("share below 3", 34.5), ("share of 5", 10.1)),
    },
    "pathology_mcq": {
        *(("accuracy", 28.1), ("accuracy", 33.3), ("accuracy", 41.8)),
        *(("change under corruption", -0.3), ("change under corruption", -0.1)),
        ("change under corruption", -0.2),
    },
}


def benchmark_of(study: str) -> Benchmark:
    found = study_named(study).benchmark()
    assert found is not None
    return found


def flagged(study: str) -> list[tuple[str, str, float, str]]:
    """Return measure, who, value and reason of every row that is flagged."""
    table = benchmark_of(study).table
    lines = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    return [
        (str(x["measure"]), str(x["who"]), float(str(x["value"])), str(x["reason"]))
        for x in lines
        if x["badge"] == str(Badge.INCONSISTENT)
    ]


@pytest.mark.statement("X-05")
def test_that_rexecutions_rows_are_flagged_and_no_other() -> None:
    found = flagged("rubric_reading")
    assert {(measure, value) for measure, _, value, _ in found} >= KNOWN[
        "rubric_reading"
    ]
    assert len(found) == 8 + 3
    reasons = " ".join(reason for *_, reason in found)
    assert "4 / 81 = 4.9 %" in reasons
    assert "28 / 81 = 34.6 %" in reasons
    assert "of sizes below 130, 69 gives 10.1 and 36.2" in reasons
    assert reasons.count("add up to 99 %") == 8


@pytest.mark.statement("X-05")
def test_that_43_f1_of_heal_6_of_them_impossible_and_a_sentence_are_flagged() -> None:
    found = flagged("grounded_vqa")
    f1 = [one for one in found if one[0] == "F1"]
    assert (len(found), len(f1)) == (44, 43)
    assert sum("beyond P and R" in reason for *_, reason in f1) == 6
    (sentence,) = [one for one in found if one[0] == "most below"]
    assert sentence[3].startswith("0 of 6 are below 50, the least is 52.1 %; ")


@pytest.mark.statement("X-05")
def test_that_three_micro_averages_and_three_signs_of_pathmmu_are_flagged() -> None:
    found = flagged("pathology_mcq")
    assert {(measure, value) for measure, _, value, _ in found} == KNOWN[
        "pathology_mcq"
    ]
    assert len(found) == 6
    assert {who for measure, who, *_ in found if measure == "accuracy"} == {
        "Otter",
        "BLIP-2 FLAN-T5-XXL",
        "GPT-4 Turbo (text)",
    }


@pytest.mark.statement("X-05", "E004-11")
def test_that_medsyns_thirteen_overall_rows_and_three_more_are_flagged() -> None:
    found = flagged("evidence_diagnosis")
    overall = {who for measure, who, *_ in found if measure == OVERALL} - {
        "Senior physicians"
    }
    assert overall == MEDSYN_OVERALL
    others = {(who, value) for _, who, value, _ in found if who not in overall}
    assert others == {("Senior physicians", 77.13), ("Gemini 2.5 Pro", 57.55)}
    (pooled,) = [
        one
        for one in found
        if one[0] == "final diagnosis accuracy" and one[1] == "DeepSeek-VL2 (27B)"
    ]
    assert (pooled[2], pooled[3]) == (32.91, "its parts pool to 31.03, not 32.91")
    assert len(found) == 16


def test_that_every_flagged_row_has_its_reason_and_its_tolerance() -> None:
    lines = [r for r in published_rows() if r["study"] != "grid_localization"]
    assert len(lines) == 11 + 44 + 6 + 16 + 40
    assert all(line["reason"] and line["tolerance"] for line in lines)
    tables = [one.table for one in benchmarks()]
    badges = Counter(r[t.header.index("badge")] for t in tables for r in t.rows)
    assert set(badges) == {str(badge) for badge in Badge}
    assert sum(badges.values()) > 1000


def test_that_of_the_first_paper_what_is_of_other_trials_is_flagged_with_why() -> None:
    found = {value: reason for _, _, value, reason in flagged("grid_localization")}
    assert set(found) == {4.4, 49.8, 50.7}
    assert "54 of the 1,225 pairs would round to it" in found[4.4]
    assert "bootstrap replicates" in found[49.8]


def test_that_no_row_of_a_paper_stands_twice() -> None:
    for one in benchmarks():
        keys = Counter((r.table, r.measure, r.subject, r.who) for r in one.rows)
        assert [key for key, n in keys.items() if n > 1] == []
