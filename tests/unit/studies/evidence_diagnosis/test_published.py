from fractions import Fraction

import pytest

from viewer.domain.specialties import GROUPS, SPECIALTIES
from viewer.metrics.printed import counts_that_print
from viewer.studies.consistency import badge_of, published_table
from viewer.studies.evidence_diagnosis.consistency import checks
from viewer.studies.evidence_diagnosis.published import (
    CASES,
    CLASSES,
    DDX,
    FDX,
    SPECIALTY_CASES,
    find,
    rows,
)
from viewer.studies.published import Badge

DISAGREEING = {
    *("Gemini 2.5 Flash", "Qwen2.5-VL (72B)", "InternVL3 (78B)", "InternVL3.5 (38B)"),
    *("Qwen3-VL (8B)", "HuatuoGPT-Vision (7B)", "InternVL3.5 (8B)", "Lingshu (7B)"),
    *("Qwen2.5-VL (7B)", "DeepSeek-VL2 (27B)", "Qwen3-VL (2B)", "DeepSeek-VL2 (3B)"),
    "Med-Mantis (8B)",
}


@pytest.mark.statement("E004-11")
def test_that_the_checks_flag_the_rows_that_are_known_and_no_other() -> None:
    table = published_table(rows(), checks())
    lines = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    found = {
        (x["table"], x["measure"], x["subject"], x["who"]): str(x["reason"])
        for x in lines
        if x["badge"] == "inconsistent"
    }
    overall = {("Table 2", DDX, "All", who) for who in DISAGREEING}
    assert set(found) == overall | {
        ("Table 2", DDX, "English", "Senior physicians"),
        ("Table 10", FDX, "General (internal) medicine", "Gemini 2.5 Pro"),
        ("Table 2", FDX, "English", "DeepSeek-VL2 (27B)"),
    }
    assert len(overall) == 13
    assert "307 / 398 = 77.14" in found["Table 2", DDX, "English", "Senior physicians"]
    assert "31.03, not 32.91" in found["Table 2", FDX, "English", "DeepSeek-VL2 (27B)"]


@pytest.mark.statement("E004-11")
def test_that_forty_rates_are_said_not_to_be_of_their_n() -> None:
    table = published_table(rows(), checks())
    lines = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    found = [line for line in lines if line["badge"] == str(Badge.NOT_OF_N)]
    assert len(found) == 40
    assert not any(
        abs(Fraction(100 * k, int(str(x["n_claimed"]))) - Fraction(str(x["value"])))
        <= Fraction(1, 200)
        for x in found
        for k in range(int(str(x["n_claimed"])) + 1)
    )
    consistent = [x for x in lines if x["badge"] == str(Badge.CONSISTENT)]
    assert all(
        counts_that_print(float(str(x["value"])), 2, int(str(x["n_claimed"])))
        for x in consistent
    )


@pytest.mark.statement("E004-11")
@pytest.mark.parametrize(
    ("who", "value", "n"), [("GPT-5.2", 58.33, 84), ("Qwen3-VL (32B)", 44.05, 84)]
)
def test_that_a_rate_of_one_case_less_names_the_n_that_fits(
    who: str, value: float, n: int
) -> None:
    row = find("Table 10", FDX, "Infectious diseases", who)
    assert (row.value, row.n_claimed, row.n_derived) == (value, 85, True)
    assert badge_of(row, checks()) is Badge.NOT_OF_N
    table = published_table((row,), checks())
    line = dict(zip(table.header, table.rows[0], strict=True))
    assert line["n_is"] == "derived"
    assert line["reason"] == f"no k / 85 rounds to it; a k / {n} does"
    assert not find("Table 2", FDX, "English", who).n_derived


def test_that_every_table_of_the_paper_is_there() -> None:
    counts = {t: sum(r.table == t for r in rows()) for t in {r.table for r in rows()}}
    assert counts == {
        "Table 2": 18 * 8 + 2,
        "Table 3": 18,
        "Table 4": 9,
        "Table 6": 6,
        "Table 7": 3,
        "Table 8": 54,
        "Table 9": 18,
        "Table 10": 18 * 17,
        "Table 11": 18 * 8,
        "Table 12": 21,
        "Table 13": 6,
        "Table 14": 2,
    }
    table = published_table(rows(), checks())
    assert len(table.rows) == len(rows())


def test_that_the_specialties_add_up_to_the_english_cases() -> None:
    assert set(SPECIALTY_CASES) == set(SPECIALTIES)
    assert sum(SPECIALTY_CASES.values()) == 398
    sizes = [sum(SPECIALTY_CASES[s] for s in of) for of in GROUPS.values()]
    assert sizes == [136, 88, 60, 52, 26, 13, 17, 6]
    assert CASES == 452


@pytest.mark.statement("E004-25", "E004-12")
def test_that_figure_four_follows_from_table_eleven() -> None:
    group = "Cardiology & Respiratory Medicine"
    means = {
        name: sum(find("Table 11", FDX, group, who).value for who in of) / len(of)
        for name, of in CLASSES.items()
    }
    assert means["Proprietary"] == pytest.approx(60.00, abs=0.005)
    assert means["Large"] == pytest.approx(46.15, abs=0.01)
    assert means["Medical"] == pytest.approx(64.10, abs=0.01)
