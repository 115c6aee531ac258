"""The study from end to end on a phantom, against closed forms (Shows 2 and 4)."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.helpers.heal_run import heal_run, is_wrong
from tests.helpers.tiny_study import tables_of
from viewer.domain.answer import Status
from viewer.domain.case import Dataset
from viewer.services.reporting.pack import write_pack
from viewer.services.reporting.report_run import RunReport, report_data
from viewer.services.reporting.rescore import rescore_run
from viewer.store import cases, trials
from viewer.store.database import Store, open_store
from viewer.studies.grounded_vqa.benchmark import benchmarks_of
from viewer.studies.grounded_vqa.items import question_of
from viewer.studies.grounded_vqa.params import Params
from viewer.studies.grounded_vqa.questions import Question
from viewer.studies.grounded_vqa.textual import Swapped, plan_text_edits

Row = Mapping[str, object]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("heal")
    with open_store(folder / "s.sqlite") as opened:
        heal_run(opened, folder)
        yield opened


@pytest.fixture(scope="module")
def report(store: Store) -> RunReport:
    return report_data(store, 1)


@pytest.fixture(scope="module")
def dataset(store: Store) -> Dataset:
    return cases.dataset_named(store, "q")


@pytest.fixture(scope="module")
def questions(dataset: Dataset) -> tuple[Question, ...]:
    found = (question_of(item) for item in dataset.items)
    return tuple(q for q in found if isinstance(q, Question))


def rows(report: RunReport, name: str) -> list[Row]:
    table = next(t for t in report.data.tables if t.name == name)
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


def row(report: RunReport, name: str, **where: str) -> Row:
    found = [r for r in rows(report, name) if where.items() <= r.items()]
    assert len(found) == 1
    return found[0]


@pytest.mark.statement("E002-08", "E002-07")
def test_that_accuracy_equals_its_closed_form(
    report: RunReport, questions: tuple[Question, ...]
) -> None:
    closed = [q for q in questions if q.closed]
    opened = [q for q in questions if not q.closed]
    for model in ("grounded", "no-to-edits"):
        perfect = row(report, "table_2_accuracy", model=model)
        for name in ("yes_no_f1", "yes_no_precision", "open_f1", "open_f1_dropped"):
            assert perfect[name] == perfect[f"{name}_high"] == 1
            assert 0.5 < float(str(perfect[f"{name}_low"])) < 1
        assert perfect["open_precision"] == perfect["open_precision_dropped"] == 1
        assert perfect["yes_no_n_planned"] == perfect["yes_no_n_scored"] == len(closed)
    got = row(report, "table_2_accuracy", model="careless")
    tp = sum(q.yes and not is_wrong(q) for q in closed)
    fp = sum(not q.yes and is_wrong(q) for q in closed)
    fn = sum(q.yes and is_wrong(q) for q in closed)
    assert (got["yes_no_precision"], got["yes_no_recall"]) == (
        tp / (tp + fp),
        tp / (tp + fn),
    )
    assert got["yes_no_f1"] == 2 * tp / (2 * tp + fp + fn)
    right = sum(max(len(q.labels), 1) for q in opened if not is_wrong(q))
    wrong = sum(is_wrong(q) for q in opened)
    missed = sum(max(len(q.labels), 1) for q in opened if is_wrong(q))
    assert got["open_f1"] == 2 * right / (2 * right + wrong + missed)
    named = sum(len(q.labels) for q in opened if not is_wrong(q))
    dropped = sum(len(q.labels) for q in opened if is_wrong(q))
    assert got["open_recall_dropped"] == named / (named + dropped)
    every = row(report, "closed_scores", model="careless")
    hallucinated = [q for q in closed if not q.yes]
    right_no = len(hallucinated) - fp
    assert every["specificity"] == right_no / len(hallucinated)
    right_closed = sum(not is_wrong(q) for q in closed)
    assert every["accuracy"] == right_closed / len(closed)


@pytest.mark.statement("E002-09", "E002-12")
def test_that_perturbation_scores_equal_their_closed_forms(
    report: RunReport, dataset: Dataset, questions: tuple[Question, ...]
) -> None:
    benchmark = benchmarks_of(dataset, Params())[0]
    positive = [q for q in questions if q.closed and q.yes]
    plan = plan_text_edits(positive, benchmark, Params(), 0)
    for part in Swapped:
        without = sum(kind is part for _, kind in plan.without_swap)
        for model in ("grounded", "no-to-edits"):
            got = row(report, "table_3_textual", model=model, test=f"TPT {part}")
            assert (got["n_true_positives"], got["score"]) == (len(positive), 1.0)
            assert got["n_without_edit"] == without
            assert got["n_flipped"] == len(positive) - without
        careless = row(report, "table_3_textual", model="careless", test=f"TPT {part}")
        assert careless["n_true_positives"] == sum(not is_wrong(q) for q in positive)
        assert careless["score"] == 0.0
    assert row(report, "table_4_visual", model="grounded")["score"] == 1.0


@pytest.mark.statement("E002-11", "E002-12")
def test_that_shams_take_everything_off_a_model_that_says_no_to_edits(
    report: RunReport,
) -> None:
    nets = {(r["model"], r["test"]): r for r in rows(report, "sham_control")}
    tests = {test for _, test in nets}
    assert tests == {"VPT", "VPT, own region"}
    for test in tests:
        blind, seeing = nets["no-to-edits", test], nets["grounded", test]
        assert (blind["flip"], blind["sham_flip"], blind["net"]) == (1.0, 1.0, 0.0)
        assert float(str(seeing["net"])) >= 0.95
        assert float(str(seeing["net_low"])) < float(str(seeing["net"]))
        assert nets["careless", test]["net"] == 0.0
    shared = [r for r in rows(report, "common_true_positives") if r["test"] == "VPT"]
    assert len({r["n_items"] for r in shared}) == 1
    whole = nets["grounded", "VPT"]["n_items"]
    assert int(str(shared[0]["n_items"])) < int(str(whole))


def test_that_only_true_positives_are_followed_up(
    report: RunReport, store: Store
) -> None:
    wrong = [
        r
        for r in report.results
        if r.model == "careless" and r.score.reason == "not_true_positive"
    ]
    assert wrong
    assert {r.score.status for r in wrong} == {Status.EXCLUDED}
    assert {r.score.answer for r in wrong} == {"No"}
    assert not report.data.incomplete
    followed = next(r for r in report.results if r.condition == "vpt" and r.said)
    assert trials.sent_request(store, followed.request_sha256).document


@pytest.mark.statement("E002-10")
def test_that_an_edited_image_is_kept_as_it_was_sent(
    report: RunReport, store: Store
) -> None:
    own = [r for r in report.results if r.model == "grounded"]
    by_arm = {result.condition: result for result in reversed(own)}
    hashes = set()
    for arm in ("plain", "vpt", "vpt-sham-own", "vpt-sham-same"):
        result = by_arm[arm]
        document = str(trials.sent_request(store, result.request_sha256).document)
        hashes.add(document)
    assert len(hashes) == 4


def test_that_scoring_again_changes_nothing(store: Store) -> None:
    before = tables_of(store, 1)
    assert rescore_run(store, 1).changed == 0
    assert tables_of(store, 1) == before


@pytest.mark.statement("E002-02", "E002-08")
def test_that_the_pack_has_the_paper_s_tables_and_its_composites(
    store: Store, tmp_path: Path
) -> None:
    files = write_pack(store, "heal2025", 1, tmp_path)
    names = {path.relative_to(tmp_path).as_posix() for path in files}
    assert {
        "tables/table_2_accuracy.csv",
        "tables/table_3_textual.csv",
        "tables/table_4_visual.csv",
        "tables/sham_control.csv",
        "tables/threshold_curve_iou.csv",
        "tables/published.csv",
        "figures/perturbation_tests.svg",
        "figures/composites.svg",
        "report.html",
        "run/items.csv",
    } <= names
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Visual perturbation minus its shams" in page
    assert "beyond P and R" in page
