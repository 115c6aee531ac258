from dataclasses import replace
from typing import Any

import pytest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from tests.helpers.evidence_cases import (
    CHINESE,
    ENGLISH,
    EVERY,
    frames_of,
    lines_of,
    random_rows,
    some_cases,
    table_of,
)
from viewer.domain.answer import Status
from viewer.domain.evidence import EvidenceType, Language
from viewer.domain.item import Item
from viewer.domain.specialties import GROUPS, SPECIALTIES
from viewer.metrics.posterior import cyclic_orders
from viewer.results.frame import frame_of_rows
from viewer.studies.evidence_diagnosis.frames import ANSWERS, SENSITIVITIES
from viewer.studies.evidence_diagnosis.params import Arm, Task
from viewer.studies.evidence_diagnosis.rows import Row, people_rows
from viewer.studies.evidence_diagnosis.sensitivity_tables import SIX_TYPES
from viewer.studies.evidence_diagnosis.showing import Showing, showing_of

ROWS = random_rows(0)
OUT = {Status.EXCLUDED, Status.PENDING}


def share(rows: list[Row]) -> tuple[int, int]:
    """Return right ones and the denominator, counted one by one."""
    k = n = 0
    for row in rows:
        if row.status not in OUT:
            n += 1
            k += row.status is Status.SCORED_CORRECT
    return k, n


def is_right(row: Row) -> bool:
    return row.status is Status.SCORED_CORRECT


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
    for line in lines_of("table_02", ROWS):
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
    people = [replace(row, person=True) for row in ROWS if row.model == "three"]
    models = [row for row in ROWS if row.model != "three"]
    found = lines_of("table_02", [*people, *models])
    assert [line["model"] for line in found] == ["three", "one", "two"]
    assert found[0]["rank_en"] is None
    assert sorted(str(line["rank_en"]) for line in found[1:]) == ["1", "2"]


@pytest.mark.statement("E004-10")
def test_that_a_subset_without_cases_has_neither_rate_nor_rank() -> None:
    english = [row for row in ROWS if row.case.language is Language.ENGLISH]
    line = lines_of("table_02", english)[0]
    assert line["fdx_zh"] is None
    assert line["rank_zh"] is None
    assert line["gap_pp_zh"] is None
    assert line["fdx_zh_n"] == 0


@pytest.mark.statement("E004-13", "E004-14", "E004-15")
@pytest.mark.parametrize(
    ("number", "arms"),
    [
        ("03", (Arm.RAW, Arm.EXPERT)),
        ("04", (Arm.RAW, Arm.REMOVE_TEXT, Arm.RANDOM_TEXT)),
        ("06", (Arm.RAW, Arm.REFINED)),
    ],
)
def test_that_interventions_are_compared_case_by_case(
    number: str, arms: tuple[Arm, ...]
) -> None:
    found = lines_of(f"table_{number}", ROWS)
    assert [line["arm"] for line in found] == [*map(str, arms)] * 3
    for line in found:
        model, arm = str(line["model"]), Arm(str(line["arm"]))
        other = {r.case.key: r for r in chosen(model, Task.FDX, arm, Language.ENGLISH)}
        base = chosen(model, Task.FDX, Arm.RAW, Language.ENGLISH)
        pairs = [
            (is_right(r), is_right(other[r.case.key]))
            for r in base
            if not {r.status, other[r.case.key].status} & OUT
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
        assert line["p_value"] == pytest.approx(expected, abs=1e-12)


def test_that_an_arm_without_a_shared_case_has_no_change() -> None:
    case = some_cases(2, 0)
    rows = [
        Row(case[0], "m", Task.FDX, Showing(), Status.SCORED_CORRECT),
        Row(case[1], "m", Task.FDX, showing_of(Arm.EXPERT), Status.SCORED_WRONG),
    ]
    found = lines_of("table_03", rows)
    assert [line["arm"] for line in found] == ["raw", "expert"]
    assert found[1]["delta_pp"] is None
    assert [line["arm"] for line in lines_of("table_06", rows)] == ["raw"]


@pytest.mark.statement("E004-14", "X-09")
def test_that_an_arm_whose_requests_all_failed_has_no_change() -> None:
    failed = Status.PROVIDER_ERROR
    shown = (Showing(), showing_of(Arm.REMOVE_TEXT), showing_of(Arm.RANDOM_TEXT))
    ended = (Status.SCORED_CORRECT, failed, failed)
    rows = [
        Row(case, "m", Task.FDX, showing, status)
        for case in some_cases(3, 0)
        for showing, status in zip(shown, ended, strict=True)
    ]
    rows[2] = replace(rows[2], status=Status.SCORED_WRONG)
    raw, removed, random = lines_of("table_04", rows)
    assert (removed["delta_pp"], removed["n_pairs"]) == (None, 0)
    assert removed["n_failed"] == 3
    assert (random["delta_pp"], random["n_pairs"]) == (-100, 3)
    assert raw["delta_pp"] is None


@pytest.mark.statement("E004-06", "E004-08")
def test_that_mean_scores_say_how_many_were_judged() -> None:
    for line in lines_of("table_08", ROWS):
        of = chosen(str(line["model"]), Task.DDX, Arm.RAW, Language.ENGLISH)
        scores = [r.judge for r in of if r.judge is not None]
        mean = sum(scores) / len(scores)
        assert line["score_en"] == pytest.approx(mean, abs=1e-12)
        assert (line["n_judged_en"], line["n_planned_en"]) == (len(scores), len(of))
        first = sum(r.first_match is not None and r.first_match <= 3 for r in of)
        _, n = share(of)
        assert line["top_3_en"] == pytest.approx(first / n, abs=1e-12)
    for line in lines_of("table_09", ROWS):
        of = chosen(str(line["model"]), Task.OPEN_FDX, Arm.RAW, Language.ENGLISH)
        scores = [r.judge for r in of if r.judge is not None]
        mean = sum(scores) / len(scores)
        assert line["score"] == pytest.approx(mean, abs=1e-12)


@pytest.mark.statement("E004-12")
def test_that_small_strata_bear_a_warning() -> None:
    by_specialty = lines_of("table_10", ROWS, replace(EVERY, small_cases=2))
    by_group = lines_of("table_11", ROWS, replace(EVERY, small_cases=5))
    assert {line["stratum"] for line in by_specialty} == set(SPECIALTIES)
    assert {line["stratum"] for line in by_group} == set(GROUPS)
    for found, small in ((by_specialty, 2), (by_group, 5)):
        for line in found:
            assert isinstance(line["n"], int)
            warned = line["warning"] == f"fewer than {small} cases"
            assert warned == (line["n"] < small)
    total = [sum(int(str(x["k"])) for x in found) for found in (by_specialty, by_group)]
    of = [
        is_right(row)
        for model in ("one", "two", "three")
        for row in chosen(model, Task.FDX, Arm.RAW, Language.ENGLISH)
    ]
    assert total == [sum(of)] * 2


def test_that_the_papers_denominator_keeps_what_failed() -> None:
    settled = (Status.SCORED_CORRECT, Status.PROVIDER_ERROR, Status.UNPARSED)
    statuses = (*settled, Status.PENDING, Status.EXCLUDED, Status.REFUSED)
    rows = [Row(ENGLISH, "m", Task.FDX, Showing(), s) for s in statuses]
    (found,) = lines_of("table_10", rows)
    assert (found["k"], found["n"], found["n_planned"]) == (1, 4, 6)
    assert (found["n_failed"], found["n_unparsed"], found["n_refused"]) == (1, 1, 1)
    assert found["fdx"] == 0.25


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
            zip(chosen_options, cyclic_orders(4), strict=False)
        )
    ]


@pytest.mark.statement("E004-07")
def test_that_a_model_that_says_a_letter_is_biased_and_inconsistent() -> None:
    (biased,) = lines_of("positions", turned([order[0] for order in cyclic_orders(4)]))
    assert [biased[f"gold_{letter}"] for letter in "ABCD"] == [1.0, 0.0, 0.0, 0.0]
    assert (biased["gold_A_k"], biased["gold_A_n"]) == (1, 1)
    assert biased["spread"] == 1.0
    assert biased["same"] == 0
    knows = turned([0, 0, 0, 0])
    assert lines_of("positions", knows)[0]["spread"] == 0.0
    both = [*knows, *turned([2, 2, 2, 2], "d"), *turned([0, None, 0, 0], "e")]
    (line,) = lines_of("positions", [*both, *turned([0], "f")])
    assert (line["n_orders_planned"], line["n_complete"]) == (3, 2)
    assert (line["same"], line["same_right"]) == (2, 1)
    assert lines_of("positions", knows[:1])[0]["spread"] is None


def test_that_a_trial_without_an_answer_is_wrong_at_its_letter() -> None:
    lost = replace(turned([0])[0], status=Status.PROVIDER_ERROR, chosen=None)
    (line,) = lines_of("positions", [*turned([0, 0, 0, 0]), lost])
    letter = "ABCD"[lost.place or 0]
    assert (line[f"gold_{letter}_k"], line[f"gold_{letter}_n"]) == (1, 2)
    assert (line["n_planned"], line["n_failed"]) == (5, 1)


def test_that_positions_are_told_of_one_language_at_a_time() -> None:
    chinese = [replace(one, case=CHINESE) for one in turned([2, 2, 2, 2])]
    english, other = lines_of("positions", [*turned([0, 0, 0, 0]), *chinese])
    assert (english["language"], other["language"]) == ("en", "zh")
    assert (english["n_planned"], other["n_planned"]) == (4, 4)


def moved(
    model: str, of: EvidenceType, image: float, refined: bool = False, to: str = "en"
) -> tuple[object, ...]:
    """Return a sensitivity whose text is 1, so that its NMSE is (image - 1) ** 2."""
    return "c", model, str(of), image, 1.0, refined, to


def sensitivity_lines(name: str, *moves: tuple[Any, ...]) -> list[dict[str, object]]:
    header = ("case", "model", "evidence", "image_corrected", "text_corrected")
    more = ("refined", "language", "patient", "compared", "below")
    lines = (
        (*move, move[0], move[3] is not None, (move[3] or 0) < (move[4] or 0))
        for move in moves
    )
    frame = frame_of_rows((*header, *more), lines)
    answers = frames_of([])[ANSWERS]
    return table_of(name, {SENSITIVITIES: frame, ANSWERS: answers}).records()


@pytest.mark.statement("E004-19", "E004-25")
def test_that_table_twelve_has_the_share_of_cases_below_the_line() -> None:
    moves = [
        (f"c{i}", "q", "CT", image, 0.5, False, "en")
        for i, image in enumerate((0.1, 0.2, 0.9, 0.3, None))
    ]
    line, average = sensitivity_lines("table_12", *moves)
    assert (line["below_k"], line["below_n"], line["below"]) == (3, 4, 0.75)
    low, high = proportion_confint(3, 4, method="beta")
    found = [line["ci_low"], line["ci_high"]]
    assert found == pytest.approx([low, high], abs=1e-12)
    assert average["below"] is None


@pytest.mark.statement("E004-19")
def test_that_table_twelve_has_the_papers_mean() -> None:
    printed = (1.15, 0.90, 0.73, 1.00, 0.85, 1.23)
    moves = [
        moved("q", of, 1 + x**0.5) for of, x in zip(SIX_TYPES, printed, strict=True)
    ]
    moves.append(moved("q", EvidenceType.PET, 51.0))
    moves.append(("c", "r", "CT", None, 1.0, False, "en"))
    moves.append(moved("q", EvidenceType.CT, 9.0, refined=True))
    table = sensitivity_lines("table_12", *moves)
    assert len(table) == 8 + 2
    types = [*SIX_TYPES, EvidenceType.PET, EvidenceType.CT]
    assert [line["evidence"] for line in table[:8]] == types
    assert [line["nmse"] for line in table[:6]] == pytest.approx(printed, abs=1e-12)
    assert (table[7]["cases"], table[7]["missing"]) == (0, 1)
    average = table[-2]
    assert (average["evidence"], average["model"]) == ("Average", "q")
    assert average["nmse"] == pytest.approx(sum(printed) / 6, abs=1e-12)
    assert average["cases"] is None
    assert table[-1]["nmse"] is None
    chinese = sensitivity_lines("table_12_zh", *moves)
    assert chinese == []
    moves.append(moved("q", EvidenceType.CT, 3.0, to="zh"))
    assert sensitivity_lines("table_12", *moves) == table
    (only, mean) = sensitivity_lines("table_12_zh", *moves)
    assert (only["nmse"], only["cases"], mean["nmse"]) == (4.0, 1, 4.0)
    assert sensitivity_lines("table_05_zh", *moves)[0]["nmse_mean"] == 4.0
    five = sensitivity_lines("table_05", *moves)
    assert five[0]["nmse_mean"] == average["nmse"]
    assert five[0]["fdx"] is None


@pytest.mark.statement("E004-15", "E004-19")
def test_that_table_thirteen_compares_microscopy_before_and_after() -> None:
    of = EvidenceType.MICROSCOPY
    before = [moved("q", of, 1 + 0.73**0.5), moved("r", of, 1 + 0.63**0.5)]
    after = moved("q", of, 1 + 0.67**0.5, refined=True)
    first, second = sensitivity_lines("table_13", *before, after)
    assert first["baseline"] == pytest.approx(0.73, abs=1e-12)
    assert first["delta"] == pytest.approx(-0.06, abs=1e-12)
    assert (second["refined"], second["delta"]) == (None, None)
    assert sensitivity_lines("table_13", *before) == []
    elsewhere = [moved("q", of, 3.0, to="zh"), moved("q", of, 2.0, True, to="zh")]
    both = sensitivity_lines("table_13", *before, after, *elsewhere)
    assert both == [first, second]
    (chinese,) = sensitivity_lines("table_13_zh", *before, after, *elsewhere)
    assert (chinese["baseline"], chinese["delta"]) == (4.0, -3.0)


def answered(item: Item, *entries: list[object]) -> Item:
    return replace(item, reference={**item.reference, "physicians": list(entries)})


@pytest.mark.statement("E004-10", "E004-20", "E004-24")
def test_that_physicians_stand_alone_as_their_mean_and_as_their_consensus() -> None:
    cases = some_cases(2, 0)
    right, wrong = cases[0].answer, cases[0].answer + 1
    both = ["Lymphoma", cases[0].diagnosis]
    items = [
        answered(cases[0].item(), ["r1", both, right], ["r2", both, 1, True, ""]),
        answered(cases[1].item(), ["r1", both, right], ["r2", both, None]),
        ENGLISH.item(),
    ]
    assert wrong == 1
    line, second, together = lines_of("table_02", people_rows(items))
    assert (line["model"], line["fdx_en"], line["rank_en"]) == ("r1", 1.0, None)
    assert (second["fdx_en_k"], second["fdx_en_n"]) == (0, 2)
    assert second["fdx_en_n_unparsed"] == 1
    assert together["model"] == "mean of individual readers"
    assert together["fdx_en"] == (line["fdx_en"] + second["fdx_en"]) / 2 == 0.5
    mean = [one for one in people_rows(items) if one.model == together["model"]]
    assert [row.first_match for row in mean if row.task is Task.DDX] == [2] * 4
    # What they answered together is none of what their mean is of.
    items[1] = answered(cases[1].item(), ["Consensus ", both, right])
    lines = lines_of("table_02", people_rows(items))
    assert [(one["model"], one["fdx_en"], one["fdx_en_n"]) for one in lines] == [
        *(("r1", 1.0, 1), ("r2", 0.0, 1), ("consensus of readers", 1.0, 1)),
        ("mean of individual readers", 0.5, 2),
    ]
    # One who answered alone has no mean.
    assert {one.model for one in people_rows(items[1:])} == {"consensus of readers"}
    (alone,) = lines_of("table_02", people_rows([answered(items[2], ["r1", both, 0])]))
    assert alone["model"] == "r1"
    assert people_rows([ENGLISH.item()]) == ()
