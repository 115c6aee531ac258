from dataclasses import FrozenInstanceError

import pytest

from tests.unit.studies.grid_localization.cases import spec
from tests.unit.studies.grid_localization.runs import ended, result
from viewer.domain.answer import Status
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.report import ReportData
from viewer.domain.run import RunSpec
from viewer.models.catalog import profile_from_table
from viewer.studies.catalog import study_named
from viewer.studies.grid_localization.benchmark import who_is
from viewer.studies.grid_localization.findings import NINE
from viewer.studies.grid_localization.placed import PlacedTrial
from viewer.studies.grid_localization.published import (
    CNN,
    ERROR_SHARES,
    GPT_4,
    GPT_5,
    HIT_RATES,
    HUMAN,
    MEAN,
    MEDGEMMA,
    RANDOM,
    ROWS,
    TEST_PAIRS,
)
from viewer.studies.published import Badge

STUDY = study_named("grid_localization")
Record = dict[str, object]
PAPERS = ModelProfile("four", "openai_api", {"model": "gpt-4o-2024-05-13"})


def run_of(hits: dict[str, int], planned: dict[str, int]) -> list[PlacedTrial]:
    """Return trials of model ``four``: so many hits of so many pairs."""
    return [
        result(f"p{i:03d}_{f}", f, 0, (0,) if i < hits[f] else (9,), model="four")
        for f, n in planned.items()
        for i in range(n)
    ]


def spec_of(*profiles: ModelProfile) -> RunSpec:
    of = spec(replicates=2, paper_replicates=2)
    return RunSpec(of.study, of.dataset, of.preset, 0, 1, profiles, of.params, of.limit)


def published(data: ReportData) -> list[Record]:
    table = next(t for t in data.tables if t.name == "published")
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


@pytest.mark.statement("X-05", "E000-23")
def test_that_the_checks_find_what_is_known_of_the_paper() -> None:
    counted = {p.finding + p.who: p for p in HIT_RATES if p.n_claimed}
    consistent = {
        name: p.counts for name, p in counted.items() if p.badge is Badge.CONSISTENT
    }
    assert consistent == {
        f"Enlarged Cardiomediastinum{GPT_4}": (275,),
        f"Enlarged Cardiomediastinum{GPT_5}": (267,),
        f"Cardiomegaly{GPT_4}": (156,),
        f"Cardiomegaly{GPT_5}": (126,),
    }
    impossible = [p for p in counted.values() if p.badge is Badge.INCONSISTENT]
    assert [(p.who, p.printed) for p in impossible] == [(CNN, "49.8"), (CNN, "50.7")]
    assert all("bootstrap" in p.check for p in impossible)


@pytest.mark.statement("X-05")
def test_that_every_row_says_where_it_stands_and_whether_it_can_be() -> None:
    for row in ROWS:
        assert row.source
        assert row.table
        assert row.check
        assert row.badge in Badge
        assert round(row.value, row.decimals) == row.value
        assert row.printed == f"{row.value:.{row.decimals}f}"
    images, frontal = ROWS[-2:]
    assert images.badge is Badge.INCONSISTENT
    assert images.check == (
        "no k / 668 rounds to it (54 of the 1,225 pairs would round to it)"
    )
    assert round(100 * 54 / sum(TEST_PAIRS.values()), 1) == images.value
    assert frontal.check == "578 to 584 of 668"


@pytest.mark.statement("E000-04")
def test_that_the_published_pairs_add_up() -> None:
    assert sum(TEST_PAIRS.values()) == 1225
    assert tuple(TEST_PAIRS) == NINE


def test_that_the_published_means_are_those_of_the_abstract() -> None:
    means = {p.who: p.value for p in HIT_RATES if p.finding == MEAN}
    assert means == {
        HUMAN: 80.1,
        CNN: 59.9,
        GPT_5: 49.7,
        GPT_4: 39.1,
        MEDGEMMA: 17.7,
        RANDOM: 11.9,
    }
    shares = {p.who: p.value for p in ERROR_SHARES}
    assert shares == {GPT_5: 6.3, GPT_4: 18.0, MEDGEMMA: 29.9}
    assert all(p.badge is Badge.UNCHECKED for p in (*ERROR_SHARES, *HIT_RATES[:6]))


@pytest.mark.statement("X-05")
def test_that_no_run_changes_a_published_row() -> None:
    with pytest.raises(FrozenInstanceError):
        HIT_RATES[0].value = 99.0  # type: ignore[misc]
    none = STUDY.report([result("p1_a", "Edema", 0, (0,))], spec())
    all_ = STUDY.report(run_of(TEST_PAIRS, TEST_PAIRS), spec_of(PAPERS))
    kept = ("source", "table", "finding", "who", "value", "decimals", "n_claimed")
    for before, after in zip(published(none), published(all_), strict=True):
        assert [before[k] for k in kept] == [after[k] for k in kept]
        assert before["badge"] == after["badge"]


@pytest.mark.statement("X-06")
def test_that_a_run_of_as_many_pairs_is_compared_to_the_last_printed_decimal() -> None:
    hits = {**dict.fromkeys(NINE, 0), NINE[0]: 275, NINE[1]: 155}
    rows = published(STUDY.report(run_of(hits, TEST_PAIRS), spec_of(PAPERS)))
    compared = {r["finding"]: r for r in rows if r["who"] == GPT_4 and r["model"]}
    assert compared[NINE[0]]["this_run"] == 275 / 298
    assert compared[NINE[0]]["matches"] is True
    assert compared[NINE[1]]["matches"] is False
    assert compared[MEAN]["matches"] is False
    (random,) = (r for r in rows if r["who"] == RANDOM)
    assert random["this_run"] == pytest.approx(1 / 64)
    assert random["matches"] is False


@pytest.mark.statement("X-06")
def test_that_a_run_of_other_trials_is_not_said_to_match_or_miss() -> None:
    planned = {NINE[0]: 12}
    rows = published(STUDY.report(run_of({NINE[0]: 11}, planned), spec_of(PAPERS)))
    compared = [r for r in rows if r["model"] == "four"]
    assert [r["matches"] for r in compared] == [None, None]
    section = next(
        s
        for s in STUDY.report(run_of({NINE[0]: 11}, planned), spec_of(PAPERS)).appendix
        if s.title == "Published values and their checks"
    )
    assert sum(span for _, span in section.groups) == len(section.table.header)
    assert ("four", "91.7", "-") in [row[-3:] for row in section.table.rows]


@pytest.mark.statement("X-01")
def test_that_an_unfinished_run_stands_beside_nothing_published() -> None:
    open_ = ended(result("p2_a", "Edema", 0, (0,)), Status.PENDING)
    names = [table.name for table in STUDY.report([open_], spec()).tables]
    assert "published" not in names


@pytest.mark.parametrize(
    ("asked", "who"),
    [
        ("gpt-4o-2024-05-13", GPT_4),
        ("gpt-4o", None),
        ("gpt-5", GPT_5),
        ("openai/gpt-5", GPT_5),
        ("gpt-5-mini", None),
        ("puyangwang/medgemma-27b-it:q8", MEDGEMMA),
        ("google/medgemma-4b-it", None),
        ("", None),
    ],
)
def test_that_the_papers_models_are_known_by_their_servers_name(
    asked: str, who: str | None
) -> None:
    assert who_is(ModelProfile("x", "openai_api", {"model": asked})) == who


@pytest.mark.statement("E000-31")
@pytest.mark.parametrize(
    ("told", "who"), [("GPT-4", GPT_4), ("GPT-5", GPT_5), ("MedGemma 27B", MEDGEMMA)]
)
def test_that_a_profile_may_say_which_of_the_papers_models_it_is(
    told: str, who: str
) -> None:
    table = {"name": "x", "adapter": "scripted", "answer": "E5", "paper_model": told}
    assert who_is(profile_from_table(table)) == who
    with pytest.raises(WrongUseError, match="GPT-4 or GPT-5 or MedGemma 27B"):
        profile_from_table({**table, "paper_model": "GPT-3"})
