from fractions import Fraction
from math import nan

import pytest

from tests.helpers.by_patient import ends_of
from tests.unit.studies.pathology_mcq.small import dataset, item, result, spec
from viewer.domain.answer import Status
from viewer.domain.item import Item
from viewer.domain.report import ReportData, Table
from viewer.domain.result import TrialResult
from viewer.results.estimators.rates import arrow
from viewer.studies.pathology_mcq.dataset_sizes import QUESTIONS, size_rows
from viewer.studies.pathology_mcq.params import KINDS, LEVELS
from viewer.studies.pathology_mcq.questions import mcqs_of
from viewer.studies.pathology_mcq.report import report
from viewer.studies.pathology_mcq.robustness import level_figure
from viewer.studies.pathology_mcq.scopes import OVERALL, Scope
from viewer.studies.protocol import NO_CONTEXT, ReportContext

RIGHT, WRONG, PENDING = Status.SCORED_CORRECT, Status.SCORED_WRONG, Status.PENDING
ITEMS = (
    *(item(f"PubMed-val-{i}", 1) for i in range(2)),
    *(item(f"PubMed-test_tiny-{i}", 1, images=(f"{i // 2}.png",)) for i in range(4)),
    *(item(f"PubMed-test-{i}", 0) for i in range(3)),
    *(item(f"PathCLS-test_tiny-{i}", 2, 8) for i in range(2)),
    *(item(f"Atlas-test-{i}", 1, 2) for i in range(5)),
)
Record = dict[str, object]


def table(data: ReportData, name: str) -> Table:
    return next(one for one in data.tables if one.name == name)


def rows_of(data: ReportData) -> dict[str, list[Record]]:
    return {one.name: one.records() for one in data.tables}


def records(data: ReportData, name: str) -> list[Record]:
    found = table(data, name)
    return [dict(zip(found.header, row, strict=True)) for row in found.rows]


def reported(results: list[TrialResult], *items: Item, **params: object) -> ReportData:
    context = ReportContext(dataset(items or ITEMS))
    return report(results, spec(settings=params), context)


def every_other(condition: str = "plain", model: str = "m") -> list[TrialResult]:
    """Return results in which every second item is right."""
    return [
        result(one, WRONG if i % 2 else RIGHT, condition, model, official=i % 2)
        for i, one in enumerate(ITEMS)
    ]


@pytest.mark.statement("E003-02", "E003-14")
def test_that_overall_is_micro_and_all_holds_the_tiny_test() -> None:
    rows = records(reported(every_other()), "accuracy_paper")
    found = {(r["part"], r["subset"]): (r["k"], r["n"]) for r in rows}
    assert found == {
        ("val", "Overall"): (1, 2),
        ("tiny", "Overall"): (3, 6),
        ("all", "Overall"): (7, 14),
        ("val", "PubMed"): (1, 2),
        ("tiny", "PubMed"): (2, 4),
        ("all", "PubMed"): (4, 7),
        ("all", "Atlas"): (2, 5),
        ("tiny", "PathCLS"): (1, 2),
        ("all", "PathCLS"): (1, 2),
    }


@pytest.mark.statement("E003-03")
def test_that_chance_stands_beside_each_accuracy_exactly() -> None:
    rows = records(reported(every_other()), "accuracy_paper")
    by_part = {(r["part"], r["subset"]): r for r in rows}
    whole = by_part["all", "Overall"]
    exact = Fraction(7 * Fraction(1, 4) + 2 * Fraction(1, 8) + 5 * Fraction(1, 2)) / 14
    assert whole["random"] == float(exact)
    assert (whole["frequent"], whole["frequent_letter"]) == (9 / 14, "B")
    unasked = [r for r in every_other() if r.view != "val"]
    again = records(reported(unasked), "accuracy_paper")
    assert {r["frequent_letter"] for r in again} == {"B"}
    same = records(
        reported(every_other(), frequent_from="same_split"), "accuracy_paper"
    )
    pathcls = next(r for r in same if (r["part"], r["subset"]) == ("tiny", "PathCLS"))
    assert (pathcls["frequent"], pathcls["frequent_letter"]) == (1.0, "C")


@pytest.mark.statement("E003-18")
def test_that_what_could_not_be_read_is_wrong_and_what_waits_is_in_no_rate() -> None:
    statuses = [RIGHT, Status.UNPARSED, Status.REFUSED, Status.PROVIDER_ERROR, PENDING]
    some = [result(i, s) for i, s in zip(ITEMS[2:7], statuses, strict=True)]
    some.append(result(ITEMS[7], Status.EXCLUDED))
    data = reported(some)
    assert data.incomplete
    row = next(r for r in records(data, "accuracy_recommended") if r["part"] == "all")
    assert (row["k"], row["n"], row["n_planned"]) == (1, 4, 6)
    assert row["accuracy"] == 0.25
    assert row["answered_rate"] == 1.0
    assert (row["n_unparsed"], row["n_refused"], row["n_failed"]) == (1, 1, 1)


@pytest.mark.statement("X-08")
def test_that_chance_is_that_of_the_questions_that_count() -> None:
    kept, out = item("PubMed-val-0", 1, 4), item("PubMed-val-1", 0, 2)
    data = reported([result(kept, WRONG), result(out, Status.EXCLUDED)])
    row = next(r for r in records(data, "accuracy_paper") if r["part"] == "val")
    assert (row["n_planned"], row["n"], row["random"]) == (2, 1, 0.25)


@pytest.mark.statement("E003-18")
def test_that_intervals_are_by_image() -> None:
    data = reported(every_other())
    row = next(
        r
        for r in records(data, "accuracy_recommended")
        if (r["part"], r["subset"]) == ("tiny", "PubMed")
    )
    low, high = ends_of([1, 1], [2, 2], items=4)
    assert row["ci_low"] == pytest.approx(low, abs=1e-12)
    assert row["ci_high"] == pytest.approx(high, abs=1e-12)
    assert row["ci_method"] == "Clopper-Pearson by patient, 95 %"
    paper = next(
        r
        for r in records(data, "accuracy_paper")
        if (r["part"], r["subset"]) == ("tiny", "PubMed")
    )
    assert (paper["ci_low"], paper["ci_high"]) == (row["ci_low"], row["ci_high"])


@pytest.mark.statement("E003-05")
def test_that_the_official_count_stands_beside_the_typed_one() -> None:
    one, two = ITEMS[2:4]
    results = [
        result(one, RIGHT, official=1),
        result(two, Status.UNPARSED, official=-1),
        result(ITEMS[4], Status.PROVIDER_ERROR),
        result(ITEMS[5], PENDING),
    ]
    data = reported(results)
    (row,) = records(data, "official")
    assert (row["typed_k"], row["typed_n"], row["official_n"]) == (1, 3, 2)
    assert (row["official_at_random"], row["official_dropped"]) == (1, 1)
    names = {str(r["item"]) for r in records(data, "official_items")}
    assert ITEMS[4].key in names
    assert "mean_official" not in table(data, "results").header
    assert any("Official" in section.title for section in data.sections)


def shaken() -> list[TrialResult]:
    """Return clean and corrupted results: level n of kind k has n + k wrong of 10."""
    items = [item(f"PubMed-test_tiny-{i}") for i in range(20)]
    results = [result(one, RIGHT if i < 16 else WRONG) for i, one in enumerate(items)]
    for k, kind in enumerate(KINDS):
        for level in LEVELS:
            wrong = int(level) + k
            results += [
                result(one, RIGHT if i >= wrong else WRONG, f"{kind}-{level}")
                for i, one in enumerate(items)
            ]
    return results


@pytest.mark.statement("E003-06")
def test_that_a_corruption_is_the_mean_over_levels_and_overall_over_kinds() -> None:
    items = [item(f"PubMed-test_tiny-{i}") for i in range(20)]
    rows = records(reported(shaken(), *items), "corruption")
    by_kind = {r["corruption"]: r for r in rows}
    for k, kind in enumerate(KINDS):
        assert by_kind[kind]["accuracy"] == pytest.approx(1 - (3 + k) / 20, abs=1e-12)
        assert by_kind[kind]["change"] == pytest.approx(0.05 - k / 20, abs=1e-12)
    overall = by_kind["overall"]
    assert overall["accuracy"] == pytest.approx(1 - 6.5 / 20, abs=1e-12)
    assert overall["direction"] == "↓"
    assert by_kind["brightness"]["direction"] == "↑"
    assert [arrow(c) for c in (nan, 0.0, 0.1, -0.1)] == ["", "=", "↑", "↓"]


@pytest.mark.statement("E003-06", "E003-19")
def test_that_figure_4_has_colour_and_quality_apart_with_level_0_clean() -> None:
    items = tuple(item(f"PubMed-test_tiny-{i}") for i in range(20))
    figure = level_figure(rows_of(reported(shaken(), *items)))
    assert figure is not None
    colour, quality = figure.panels
    assert list(colour.series[0].x) == [0, 1, 2, 3, 4, 5]
    assert colour.series[0].y[0] == pytest.approx(80)
    for panel, kinds in ((colour, (0, 3, 7)), (quality, (1, 2, 4, 5, 6))):
        for level in range(1, 6):
            mean = sum(20 - level - k for k in kinds) / len(kinds) / 20
            assert panel.series[0].y[level] == pytest.approx(100 * mean, abs=1e-10)
    some = [r for r in shaken() if r.condition not in {"plain", "hue-2"}]
    partial = level_figure(rows_of(reported(some, *items)))
    assert partial is not None
    assert [list(panel.series[0].x) for panel in partial.panels] == [
        [1, 3, 4, 5],
        [1, 2, 3, 4, 5],
    ]
    assert level_figure(rows_of(reported(every_other()))) is None


@pytest.mark.statement("E003-07")
def test_that_noise_stands_beside_the_image_with_its_sign() -> None:
    noisy = [result(one, WRONG, "noise") for one in ITEMS]
    rows = records(reported([*every_other(), *noisy]), "noise")
    row = next(r for r in rows if (r["part"], r["subset"]) == ("tiny", "Overall"))
    assert (row["clean"], row["noise"], row["change"]) == (0.5, 0.0, -0.5)
    assert row["direction"] == "↓"
    alone = records(reported(noisy), "noise")
    assert {r["change"] for r in alone} == {None}


@pytest.mark.statement("E003-07", "X-09")
def test_that_noise_whose_requests_all_failed_changes_nothing() -> None:
    failed = [result(one, Status.PROVIDER_ERROR, "noise") for one in ITEMS]
    rows = records(reported([*every_other(), *failed]), "noise")
    assert {(r["noise"], r["change"]) for r in rows} == {(None, None)}
    assert {r["n_pairs"] for r in rows} == {0}
    wrong = result(ITEMS[0], WRONG, "noise")
    rows = records(reported([*every_other(), wrong, *failed[1:]]), "noise")
    row = next(r for r in rows if (r["part"], r["subset"]) == ("tiny", "Overall"))
    assert row["change"] == -0.5  # where one got a reply, failed ones are wrong


@pytest.mark.statement("E003-08", "E003-11")
def test_that_guesses_and_experts_are_reported_where_there_are_any() -> None:
    read = item("PubMed-test_tiny-1", 1, experts=[("I", "ann", 1), ("II", "ben", 0)])
    data = reported([result(read, RIGHT, "text_only")], read, guessed_by=1)
    assert records(data, "guesses")[0]["guessable"] == 1
    means = [r for r in records(data, "experts") if r["group"] == "mean"]
    assert {r["score"] for r in means} == {0.5}
    bare = reported(every_other())
    assert {"guesses", "experts", "noise"}.isdisjoint(t.name for t in bare.tables)


@pytest.mark.statement("E003-02", "E003-18")
def test_that_sizes_stand_beside_the_papers() -> None:
    _, sizes = size_rows(tuple(mcqs_of(ITEMS).values()))
    rows = {row[:2]: row[2:] for row in sizes}
    assert rows["tiny", "Overall"] == (6, 1156, 3, None)
    assert rows["all", "Overall"][1:4:2] == (9677, 7213)
    assert rows["val", "Overall"] == (2, 710, 1, 510)
    parts = [QUESTIONS[s] for s in QUESTIONS if s.part == "all" and s.subset != OVERALL]
    assert sum(parts) == QUESTIONS[Scope("all", OVERALL)] == 9677
    tiny = [QUESTIONS[s] for s in QUESTIONS if s.part == "tiny" and s.subset != OVERALL]
    assert sum(tiny) == 1156
    assert QUESTIONS[Scope("train", OVERALL)] + 710 + 9677 == 33_428
    assert 16_344 + 510 + 7213 == 24_067


def test_that_without_its_data_set_a_run_still_has_its_trials() -> None:
    data = report(every_other(), spec(), NO_CONTEXT)
    assert [one.name for one in data.tables] == ["results"]
    assert not data.sections
