"""The synthetic studies, and the paper's pack on them in closed form."""

import csv
import json
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.multitest import multipletests

from tests.helpers.tiny_study import finish
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import SizePx
from viewer.domain.pack import PackData
from viewer.domain.report_study import study_of
from viewer.readers.datasets.report_studies import read
from viewer.readers.grades import read_grades
from viewer.services.reporting.figures import pack_data, pack_input
from viewer.services.reporting.pack import PackRequest, plan_pack
from viewer.services.reporting.report_run import checked_report
from viewer.services.synthetic.make_readings import make_readings
from viewer.services.synthetic.phantom.chest_reports import earlier
from viewer.services.synthetic.phantom.patient import make_patient
from viewer.store import cases
from viewer.store.database import open_store
from viewer.studies.catalog import pack_named
from viewer.writers.tables import csv_bytes

SIZE = SizePx(125, 100)
STUDIES = 5
OUTPUTS = 2 * STUDIES
Scores = Mapping[str, list[float]]
TOLERANCE = 1e-12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A written collection of five studies, ten outputs of each model."""
    out = tmp_path_factory.mktemp("readings") / "d"
    make_readings(out, STUDIES, 0, SIZE, lambda *_: None)
    return out


@pytest.fixture(scope="module")
def pack(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> PackData:
    """The paper's pack on it, with both scripted models; no figure is drawn."""
    out = tmp_path_factory.mktemp("pack")
    profiles = tuple(
        ModelProfile(
            name, "scripted", {"answers_file": str(folder / f"answers/{name}.json")}
        )
        for name in ("draws", "writes")
    )
    with open_store(out / "s.sqlite") as store:
        cases.add_dataset(store, read(folder, "readings"))
        run = plan_pack(store, PackRequest("rexecution2025", "readings", profiles))
        finish(store, run)
        report = checked_report(store, run)
        given = pack_input(store, report)
        return pack_data(pack_named("rexecution2025"), given, report)


def table(pack: PackData, name: str) -> list[dict[str, str]]:
    """Return the rows of a table as its CSV file has them."""
    (one,) = (one for one in pack.tables if one.name == name)
    text = csv_bytes(one.header, one.rows).decode()
    return list(csv.DictReader(text.splitlines()))


def first_reader(model: str, i: int) -> tuple[int, int, int, int]:
    """Return the main reader's process, execution, synthesis and language."""
    if model == "draws":
        return 5 - i % 2, 1 + i % 5, 4, 4 + i % 2
    return 4, 1 + (i + 1) % 5, 3 + i % 2, 5


def second_reader(model: str, i: int) -> tuple[int, int, int, int] | None:
    """Return the second reader's; he graded every other output."""
    process, execution, synthesis, language = first_reader(model, i)
    if i % 2:
        return None
    if model == "writes":
        return process, execution, synthesis, language
    if i % 10 == 2:
        return 2, 5, synthesis, language
    return process, min(5, execution + 1), synthesis, language - (i % 5 == 0)


def delivered(model: str) -> list[int]:
    return [i for i in range(OUTPUTS) if model == "draws" or i % 5 != 4]


def finals(model: str) -> Scores:
    """Return final scores by metric, over what was delivered, in order."""
    names = ("Process", "Execution", "Synthesis", "Language")
    found: dict[str, list[float]] = {name: [] for name in (*names, "Content")}
    for i in delivered(model):
        one, two = first_reader(model, i), second_reader(model, i)
        both = [mean(pair) for pair in zip(one, two or one, strict=True)]
        for name, value in zip(names, both, strict=True):
            found[name].append(value)
        found["Content"].append(min(both[:3]))
    return found


@pytest.mark.statement("E001-01", "E001-15")
def test_that_tables_1_and_2_equal_their_closed_forms(pack: PackData) -> None:
    for name in ("table_1", "table_2"):
        for row in table(pack, name):
            scores = finals(row["model"])[row["metric"]]
            assert int(row["n"]) == len(scores)
            assert abs(float(row["mean"]) - mean(scores)) < TOLERANCE
            assert abs(float(row["sd"]) - stdev(scores)) < TOLERANCE
    (content, *_) = table(pack, "table_1")
    assert (content["n"], float(content["mean"])) == ("10", 2.95)
    execution = table(pack, "table_2")[1]
    assert float(execution["mean"]) == 3.25


def flipped_by_study(
    one: Sequence[float], two: Sequence[float], studies: Sequence[int]
) -> float:
    """Return the signed-rank test's p over every flip of whole studies' signs."""
    gaps = np.subtract(one, two)
    ranks = np.zeros(gaps.size)
    ranks[gaps != 0] = rankdata(np.abs(gaps[gaps != 0]))
    sums = np.bincount(studies, ranks * np.sign(gaps))
    flips = [abs(np.dot(signs, sums)) for signs in product((-1, 1), repeat=sums.size)]
    return float(np.mean([total >= abs(sums.sum()) for total in flips]))


@pytest.mark.statement("E001-14")
def test_that_the_tests_of_tables_1_and_2_flip_signs_by_patient(pack: PackData) -> None:
    rows = table(pack, "tests")
    common = [i for i in delivered("draws") if i in delivered("writes")]
    draws, writes = finals("draws"), finals("writes")
    expected = []
    for row in rows:
        one = [draws[row["metric"]][i] for i in common]
        two = writes[row["metric"]]
        p = flipped_by_study(one, two, [i // 2 for i in common])
        assert abs(float(row["p"]) - p) < TOLERANCE
        assert int(row["n"]) == 8
        assert int(row["n_zero"]) == sum(a == b for a, b in zip(one, two, strict=True))
        expected.append(p)
    adjusted = multipletests(expected, method="fdr_bh")[1]
    for row, value in zip(rows, adjusted, strict=True):
        assert abs(float(row["p_adjusted"]) - value) < TOLERANCE


@pytest.mark.statement("E001-16")
def test_that_table_3_equals_its_closed_form(pack: PackData) -> None:
    rows = {row["category"]: row for row in table(pack, "table_3")}
    outputs = [
        (first_reader(model, i), second)
        for model in ("draws", "writes")
        for i in delivered(model)
        if (second := second_reader(model, i))
    ]
    for place, name in enumerate(("Process", "Execution", "Synthesis", "Language")):
        one = [a[place] for a, _ in outputs]
        two = [b[place] for _, b in outputs]
        row = rows[name]
        kappa = cohen_kappa_score(one, two, labels=[1, 2, 3, 4, 5], weights="quadratic")
        assert int(row["n"]) == len(outputs) == 9
        assert abs(float(row["qwk"]) - kappa) < TOLERANCE
        mad = mean(abs(x - y) for x, y in zip(one, two, strict=True))
        assert abs(float(row["mad"]) - mad) < TOLERANCE
        assert abs(float(row["main_mean"]) - mean(one)) < TOLERANCE
        assert abs(float(row["second_sd"]) - stdev(two)) < TOLERANCE


@pytest.mark.statement("E001-09", "E001-12", "E001-19", "E001-24")
def test_that_outputs_orders_abstention_and_images_are_counted(pack: PackData) -> None:
    outputs = {row["model"]: row for row in table(pack, "outputs")}
    assert outputs["draws"]["n_delivered"] == "10"
    assert int(outputs["writes"]["n_token_limit"]) == 2
    assert outputs["draws"]["n_with_boxes"] == "6"
    assert outputs["draws"]["n_annotated_images"] == "8"
    orders = {row["order"]: row for row in table(pack, "content_orders")[::2]}
    by_reader = [
        mean(
            min(s[:3])
            for s in (first_reader("draws", i), second_reader("draws", i))
            if s
        )
        for i in range(OUTPUTS)
    ]
    assert abs(float(orders["minimum_then_average"]["mean"]) - mean(by_reader)) < 1e-12
    assert len({row["mean"] for row in orders.values()}) == 2
    said = {(r["model"], r["answerable"]): r for r in table(pack, "abstention")}
    assert (said["draws", "no"]["n"], said["draws", "no"]["appropriate"]) == ("1", "1")
    assert said["draws", "yes"]["appropriate"] == "9"
    (crossed, _) = table(pack, "style_by_content")
    assert int(crossed["images"]) == 8
    images = {row["metric"]: row for row in table(pack, "images")[:1]}
    assert images["Image Content"]["tasks"] == "6"


@pytest.mark.statement("E001-17")
def test_that_figures_and_published_rows_are_there(pack: PackData) -> None:
    drawn = {figure.head.name for figure in pack.figures}
    numbers = {f"figure_{n}" for n in (2, 3, 4, 5)}
    assert drawn == {*numbers, "boxed_outputs", "supplementary_1b"}
    for model, metric in product(("draws", "writes"), ("Content", "Execution")):
        counts = {
            float(row["score"]): int(row["count"])
            for row in table(pack, "figure_3")
            if (row["model"], row["metric"]) == (model, metric)
        }
        scores = finals(model)[metric]
        assert counts == {s / 2: scores.count(s / 2) for s in range(2, 11)}
    both = [row for row in table(pack, "figure_5") if row["category"] == "Execution"]
    assert sum(int(row["count"]) for row in both) == 9
    published = table(pack, "published")
    assert sum(row["badge"] == "inconsistent" for row in published) == 11


def test_that_the_same_arguments_give_the_same_bytes(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for out in (one, other):
        make_readings(out, 2, 0, SIZE, lambda *_: None)
    files = sorted(p.relative_to(one) for p in one.rglob("*") if p.is_file())
    assert files == sorted(
        p.relative_to(other) for p in other.rglob("*") if p.is_file()
    )
    assert all((one / f).read_bytes() == (other / f).read_bytes() for f in files)


@pytest.mark.statement("E001-01")
def test_that_reports_say_what_is_there_and_what_changed(folder: Path) -> None:
    dataset = read(folder, "readings")
    assert [n.kind for n in dataset.notices] == []
    for item in dataset.items:
        study = study_of(item)
        index = int(study.key[5:]) - 1
        patient = make_patient(0, index)
        before, changed = earlier(patient)
        assert ("There is" in study.findings) == bool(patient.findings)
        assert study.findings.count("There is") == len(patient.findings)
        assert study.has_prior == (index % 3 == 0)
        if study.has_prior:
            word = "new" if changed in patient.findings else "resolved"
            assert study.findings.endswith(f"is {word}.")
            assert before.findings ^ patient.findings >= {changed}
        assert len(study.tasks) == 2
    grades = read_grades(folder / "grades.csv")
    assert grades.readers == ("Reader A", "Reader B")
    answers = json.loads((folder / "answers/draws.json").read_text(encoding="utf-8"))
    assert len(answers) == OUTPUTS


def test_that_numbers_out_of_range_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongUseError, match="0 studies of seed 0"):
        make_readings(tmp_path, 0, 0, SIZE, lambda *_: None)
    with pytest.raises(WrongUseError, match="not a valid size for a radiograph"):
        make_readings(tmp_path, 1, 0, SizePx(9, 9), lambda *_: None)
