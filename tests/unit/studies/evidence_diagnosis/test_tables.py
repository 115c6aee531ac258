from dataclasses import replace
from math import nan

import pytest
from statsmodels.stats.contingency_tables import mcnemar

from tests.helpers.evidence_cases import ENGLISH
from tests.helpers.evidence_rows import random_rows, some_cases
from viewer.domain.answer import Status
from viewer.domain.evidence import EvidenceType, Language
from viewer.domain.item import Item
from viewer.domain.report import Table
from viewer.domain.specialties import GROUPS, SPECIALTIES
from viewer.metrics.posterior import cyclic_orders
from viewer.metrics.sensitivity import CrossModal
from viewer.studies.evidence_diagnosis.options import consistency, position_bias
from viewer.studies.evidence_diagnosis.params import Arm, HumanMode, Task
from viewer.studies.evidence_diagnosis.rows import (
    Rate,
    Row,
    models_of,
    people_rows,
)
from viewer.studies.evidence_diagnosis.showing import Showing, showing_of
from viewer.studies.evidence_diagnosis.tables import (
    SIX_TYPES,
    positions,
    table_2,
    table_5,
    table_8,
    table_9,
    table_10,
    table_11,
    table_12,
    table_13,
    table_arms,
)

ROWS = random_rows(0)
OUT = {Status.EXCLUDED, Status.PENDING}


def lines(table: Table) -> list[dict[str, object]]:
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


def share(rows: list[Row]) -> tuple[int, int]:
    """Return right ones and the denominator, counted one by one."""
    k = n = 0
    for row in rows:
        if row.status not in OUT:
            n += 1
            k += row.status is Status.SCORED_CORRECT
    return k, n


def chosen(model: str, task: Task, arm: Arm, language: Language | None) -> list[Row]:
    return [
        r
        for r in ROWS
        if (r.model, r.task, r.showing) == (model, task, showing_of(arm))
        and language in {None, r.case.language}
    ]


@pytest.mark.statement("E004-06", "E004-07", "E004-11", "E004-12")
@pytest.mark.parametrize(
    ("subset", "language"),
    [("en", Language.ENGLISH), ("zh", Language.CHINESE), ("all", None)],
)
def test_that_table_two_pools_each_subset(
    subset: str, language: Language | None
) -> None:
    for line in lines(table_2(ROWS)):
        model, found = str(line["model"]), {}
        for name, task in (("ddx", Task.DDX), ("fdx", Task.FDX)):
            of = chosen(model, task, Arm.RAW, language)
            k, n = share(of)
            found[name] = k / n
            assert line[f"{name}_{subset}"] == pytest.approx(k / n, abs=1e-12)
            assert (line[f"{name}_{subset}_k"], line[f"{name}_{subset}_n"]) == (k, n)
            assert line[f"{name}_{subset}_n_planned"] == len(of)
            refused = sum(r.status is Status.REFUSED for r in of)
            assert line[f"{name}_{subset}_n_refused"] == refused
        gap = 100 * (found["ddx"] - found["fdx"])
        assert line[f"gap_pp_{subset}"] == pytest.approx(gap, abs=1e-12)


@pytest.mark.statement("E004-10", "E004-24")
def test_that_people_stand_first_and_bear_no_rank() -> None:
    found = lines(table_2(ROWS, ("three",)))
    assert [line["model"] for line in found] == ["three", "one", "two"]
    assert found[0]["rank_en"] is None
    assert sorted(str(line["rank_en"]) for line in found[1:]) == ["1", "2"]


@pytest.mark.statement("E004-10")
def test_that_a_subset_without_cases_has_neither_rate_nor_rank() -> None:
    english = [row for row in ROWS if row.case.language is Language.ENGLISH]
    line = lines(table_2(english))[0]
    assert line["fdx_zh"] is None
    assert line["rank_zh"] is None
    assert line["gap_pp_zh"] is None
    assert line["fdx_zh_n"] == 0


@pytest.mark.statement("E004-13", "E004-14", "E004-15")
@pytest.mark.parametrize(
    "arms",
    [
        (Arm.RAW, Arm.EXPERT),
        (Arm.RAW, Arm.REMOVE_TEXT, Arm.RANDOM_TEXT),
        (Arm.RAW, Arm.REFINED),
    ],
)
def test_that_interventions_are_compared_case_by_case(arms: tuple[Arm, ...]) -> None:
    found = lines(table_arms("04", ROWS, arms))
    assert len(found) == 3 * len(arms)
    for line in found:
        model, arm = str(line["model"]), Arm(str(line["arm"]))
        other = {r.case.key: r for r in chosen(model, Task.FDX, arm, Language.ENGLISH)}
        base = chosen(model, Task.FDX, Arm.RAW, Language.ENGLISH)
        pairs = [
            (r.right, other[r.case.key].right)
            for r in base
            if r.settled and other[r.case.key].settled
        ]
        if arm is Arm.RAW:
            assert line["delta_pp"] is None
            continue
        gained = sum(b and not a for a, b in pairs)
        lost = sum(a and not b for a, b in pairs)
        assert (line["gained"], line["lost"]) == (gained, lost)
        change = 100 * (gained - lost) / len(pairs)
        assert line["delta_pp"] == pytest.approx(change, abs=1e-12)
        expected = mcnemar([[0, lost], [gained, 0]], exact=True).pvalue
        assert line["p_mcnemar"] == pytest.approx(expected, abs=1e-12)


def test_that_an_arm_without_a_shared_case_has_no_change() -> None:
    case = some_cases(2, 0)
    rows = [
        Row(case[0], "m", Task.FDX, Showing(), Status.SCORED_CORRECT),
        Row(case[1], "m", Task.FDX, showing_of(Arm.EXPERT), Status.SCORED_WRONG),
    ]
    found = lines(table_arms("03", rows, (Arm.RAW, Arm.EXPERT, Arm.REFINED)))
    assert [line["arm"] for line in found] == ["raw", "expert"]
    assert found[1]["delta_pp"] is None


@pytest.mark.statement("E004-06", "E004-08")
def test_that_mean_scores_say_how_many_were_judged() -> None:
    for line in lines(table_8(ROWS)):
        of = chosen(str(line["model"]), Task.DDX, Arm.RAW, Language.ENGLISH)
        scores = [r.judge for r in of if r.judge is not None]
        mean = sum(scores) / len(scores)
        assert line["score_en"] == pytest.approx(mean, abs=1e-12)
        assert (line["n_judged_en"], line["n_planned_en"]) == (len(scores), len(of))
        first = sum(r.first_match is not None and r.first_match <= 3 for r in of)
        _, n = share(of)
        assert line["top_3_en"] == pytest.approx(first / n, abs=1e-12)
    for line in lines(table_9(ROWS)):
        of = chosen(str(line["model"]), Task.OPEN_FDX, Arm.RAW, Language.ENGLISH)
        scores = [r.judge for r in of if r.judge is not None]
        mean = sum(scores) / len(scores)
        assert line["score"] == pytest.approx(mean, abs=1e-12)


@pytest.mark.statement("E004-12")
def test_that_small_strata_bear_a_warning() -> None:
    by_specialty, by_group = lines(table_10(ROWS, 2)), lines(table_11(ROWS, 5))
    assert {line["stratum"] for line in by_specialty} == set(SPECIALTIES)
    assert {line["stratum"] for line in by_group} == set(GROUPS)
    for found, small in ((by_specialty, 2), (by_group, 5)):
        for line in found:
            assert isinstance(line["n"], int)
            warned = line["warning"] == f"fewer than {small} cases"
            assert warned == (line["n"] < small)
    total = [sum(int(str(x["k"])) for x in found) for found in (by_specialty, by_group)]
    of = [
        row.right
        for model in ("one", "two", "three")
        for row in chosen(model, Task.FDX, Arm.RAW, Language.ENGLISH)
    ]
    assert total == [sum(of)] * 2


def test_that_the_papers_denominator_keeps_what_failed() -> None:
    settled = (Status.SCORED_CORRECT, Status.PROVIDER_ERROR, Status.UNPARSED)
    statuses = (*settled, Status.PENDING, Status.EXCLUDED, Status.REFUSED)
    rows = [Row(ENGLISH, "m", Task.FDX, Showing(), s) for s in statuses]
    found = Rate.of(rows)
    assert (found.k, found.n, found.planned) == (1, 4, 6)
    assert (found.failed, found.unparsed, found.refused) == (1, 1, 1)
    assert (found.value, found.answered) == (0.25, 1.0)
    assert (Rate().value, Rate().answered) == (None, None)
    assert (found + found).planned == 12


def turned(chosen_options: list[int | None], case: str = "c") -> list[Row]:
    """Return one case's choices in every cyclic order."""
    return [
        Row(
            replace(ENGLISH, key=case),
            "m",
            Task.FDX,
            Showing().turned(order),
            Status.SCORED_CORRECT if option == ENGLISH.answer else Status.SCORED_WRONG,
            chosen=option,
            place=list(shown).index(ENGLISH.answer),
        )
        for order, (option, shown) in enumerate(
            zip(chosen_options, cyclic_orders(4), strict=True)
        )
    ]


@pytest.mark.statement("E004-07")
def test_that_a_model_that_says_a_letter_is_biased_and_inconsistent() -> None:
    always_a = turned([order[0] for order in cyclic_orders(4)])
    bias = position_bias(always_a, "m")
    assert [rate.value for rate in bias.by_letter] == [1.0, 0.0, 0.0, 0.0]
    assert bias.spread == 1.0
    assert consistency(always_a, "m").same == 0
    knows = turned([0, 0, 0, 0])
    assert position_bias(knows, "m").spread == 0.0
    both = [*knows, *turned([2, 2, 2, 2], "d"), *turned([0, None, 0, 0], "e")]
    found = consistency(both, "m")
    assert (found.planned, found.complete) == (3, 2)
    assert (found.same, found.same_right) == (2, 1)
    line = lines(positions(both))[0]
    assert (line["n_complete"], line["same"], line["same_right"]) == (2, 2, 1)
    assert position_bias(knows[:1], "m").spread is None


def crossed(nmse: float, above: int = 1) -> CrossModal:
    return CrossModal(above, 2, 0, 0, nmse, 2 * nmse, 0.5)


@pytest.mark.statement("E004-19")
def test_that_table_twelve_has_the_papers_mean() -> None:
    printed = (1.15, 0.90, 0.73, 1.00, 0.85, 1.23)
    found = {("q", of): crossed(x) for of, x in zip(SIX_TYPES, printed, strict=True)}
    found["q", EvidenceType.PET] = crossed(50.0)
    found["r", EvidenceType.CT] = crossed(nan)
    table = lines(table_12(found))
    assert len(table) == 8 + 2
    average = table[-2]
    assert (average["evidence"], average["model"]) == ("Average", "q")
    assert average["nmse"] == pytest.approx(sum(printed) / 6, abs=1e-12)
    assert table[-1]["nmse"] is None
    five = lines(table_5([], found))
    assert five[0]["nmse_mean"] == average["nmse"]
    assert five[0]["fdx"] is None


@pytest.mark.statement("E004-15", "E004-19")
def test_that_table_thirteen_compares_microscopy_before_and_after() -> None:
    of = EvidenceType.MICROSCOPY
    before = {("q", of): crossed(0.73), ("r", of): crossed(0.63)}
    after = {("q", of): crossed(0.67)}
    first, second = lines(table_13(before, after))
    assert first["delta"] == pytest.approx(-0.06, abs=1e-12)
    assert (second["refined"], second["delta"]) == (None, None)


def answered(item: Item, *entries: list[object]) -> Item:
    return replace(item, reference={**item.reference, "physicians": list(entries)})


@pytest.mark.statement("E004-10", "E004-20", "E004-24")
def test_that_physicians_stand_above_the_models_as_one_or_as_their_mean() -> None:
    cases = some_cases(2, 0)
    right, wrong = cases[0].answer, cases[0].answer + 1
    both = ["Lymphoma", cases[0].diagnosis]
    items = [
        answered(cases[0].item(), ["r1", both, right], ["r2", both, 1, True, ""]),
        answered(cases[1].item(), ["r1", both, right], ["r2", both, None]),
        ENGLISH.item(),
    ]
    consensus = people_rows(items, HumanMode.CONSENSUS)
    assert wrong == 1
    line, second = lines(table_2(consensus, models_of(consensus)))
    assert (line["model"], line["fdx_en"], line["rank_en"]) == ("r1", 1.0, None)
    assert (second["fdx_en_k"], second["fdx_en_n"]) == (0, 2)
    assert second["fdx_en_n_unparsed"] == 1
    mean = people_rows(items, HumanMode.MEAN)
    (together,) = lines(table_2(mean, models_of(mean)))
    assert (together["model"], together["fdx_en"]) == ("Physicians, mean", 0.5)
    assert [row.first_match for row in mean if row.task is Task.DDX] == [2] * 4
    assert people_rows([ENGLISH.item()], HumanMode.MEAN) == ()
