"""The generated benchmark, and its three models."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from tests.helpers.tiny_study import plan_and_finish
from viewer.domain.case import Dataset
from viewer.domain.geometry import SizePx
from viewer.readers.datasets.catalog import formats_of
from viewer.services.configuring.study_file import read_study_file
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.reporting.report_run import report_data
from viewer.services.synthetic.phantom.chest_questions import NOTHING, SIDES
from viewer.services.synthetic.phantoms import phantom_for
from viewer.store.cases import dataset_named
from viewer.store.database import open_store

N, SIZE = 26, SizePx(120, 96)
Card = dict[tuple[str, str], dict[str, float]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("q") / "chests"
    summary = phantom_for("question_set").write(out, N, 0, SIZE, lambda *_: None)
    assert (summary.patients, sum(summary.positives.values())) == (7, N)
    return out


@pytest.fixture(scope="module")
def run(folder: Path) -> tuple[Dataset, Card]:
    """Return the imported benchmark and the card of its models."""
    with open_store(folder.parent / "s.sqlite") as store:
        import_dataset(store, "question-set", folder, "chests")
        spec = read_study_file(folder / "study.toml", folder / "none.toml")
        number = plan_and_finish(store, spec)
        tables = {t.name: t for t in report_data(store, number).data.tables}
        dataset = dataset_named(store, "chests")
    rows = tables["image_dependence"].records()
    return dataset, {(row["model"], row["control"]): row for row in rows}


def test_that_it_is_imported_whole(run: tuple[Dataset, Card], folder: Path) -> None:
    dataset, _ = run
    assert formats_of(folder)[0] == "question-set"
    assert len(dataset.items) == N
    assert dataset.notices == ()
    assert len({item.patient for item in dataset.items}) == 7


def test_that_questions_are_of_every_topic_and_their_answers_among_the_options(
    folder: Path,
) -> None:
    with (folder / "questions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert Counter(row["topic"] for row in rows) == {
        "which": 7,
        "presence": 13,
        "side": 6,
    }
    for row in rows:
        options = [row[letter] for letter in "ABCD"]
        if row["kind"] == "yes_no":
            assert row["answer"] in {"yes", "no"}
            continue
        assert row["answer"] in options
        assert len(set(options)) == 4
        assert row["topic"] == "which" or tuple(options) == SIDES
    assert {row["answer"] for row in rows if row["kind"] == "yes_no"} == {"yes", "no"}
    assert any(NOTHING in (row["B"], row["C"], row["D"], row["A"]) for row in rows)


def test_that_the_same_arguments_give_the_same_bytes(
    folder: Path, tmp_path: Path
) -> None:
    phantom_for("question_set").write(tmp_path / "q", 5, 0, SIZE, lambda *_: None)
    whole = (folder / "questions.csv").read_bytes()
    assert whole.startswith((tmp_path / "q" / "questions.csv").read_bytes())


def test_that_who_looks_needs_the_image_and_who_does_not_look_needs_none(
    run: tuple[Dataset, Card],
) -> None:
    _, card = run
    for control in ("no_image", "guess", "noise", "other_image", "options_only"):
        blind, sighted = card["blind", control], card["sighted", control]
        assert blind["difference"] == blind["n_need_image"] == 0
        assert sighted["with_image"] == 1
        assert sighted["difference"] > 0.4
    assert card["sighted", "shuffled_options"]["difference"] == 0
    shortcuts = card["shortcuts", "no_image"]
    assert 0 < shortcuts["difference"] < card["shortcuts", "guess"]["difference"]
