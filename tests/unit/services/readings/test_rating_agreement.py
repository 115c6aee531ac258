import csv
from pathlib import Path

import pytest
from sklearn.metrics import cohen_kappa_score

from tests.helpers.reading_forms import GRADING
from tests.helpers.reviewed_run import dataset
from tests.helpers.rubric_agreement import ac2_of_all, alpha_of_all
from viewer.cli import run_command_line
from viewer.domain.rubric import OF_IMAGE
from viewer.metrics.planning import variances
from viewer.services.readings import cases, opening, recording
from viewer.services.readings.mrmc import export_readings
from viewer.services.readings.rating_agreement import rating_agreement, rating_plans
from viewer.store import cases as data_sets
from viewer.store.database import open_store


def _grades(reader: int, unit: int) -> dict[str, int]:
    return {
        "process": 1 + (unit + reader * (unit % 3 == 0)) % 5,
        "execution": 1 + (unit * (reader + 1)) % 5,
        "synthesis": 3,
        "language": 4,
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A grading by two readers; the second stops after 15 of 20 cases."""
    path = tmp_path / "s.sqlite"
    with open_store(path) as store:
        data_sets.add_dataset(store, dataset(10, laterals=0))
    for reader, done in ((0, 20), (1, 15)):
        session = opening.open_reader_study(path, "reviewed", GRADING, f"R{reader}")
        for task in cases.queue(path, session)[:done]:
            unit = int(task.image.path.name[7]) * 2 + (task.finding == "Edema")
            recording.lock(path, session, task.position, _grades(reader, unit))
    return path


def _both(path: Path) -> list[int]:
    """Return the units that the second reader has graded."""
    tasks = cases.queue(path, opening.sessions(path)[0].id)
    return [
        int(task.image.path.name[7]) * 2 + (task.finding == "Edema")
        for task in tasks
        if task.values
    ]


def test_that_scales_agree_as_scikit_learn_says(path: Path) -> None:
    found = {one.question: one for one in rating_agreement(path, 1)}
    assert list(found) == ["process", "execution", "synthesis", "language", *OF_IMAGE]
    for name in ("process", "execution"):
        one, other = (
            [_grades(reader, unit)[name] for unit in _both(path)] for reader in (0, 1)
        )
        expected = cohen_kappa_score(
            one, other, labels=[1, 2, 3, 4, 5], weights="quadratic"
        )
        kappa = found[name].kappas["R0", "R1"]
        assert kappa.units == 15
        assert abs(kappa.value - expected) < 1e-12
        assert found[name].readers == ("R0", "R1")
        assert -1 <= found[name].alpha.value <= 1
    assert found["synthesis"].ac.value == 1
    assert found["synthesis"].alpha.reason


def test_that_the_exported_agreement_is_that_of_other_code(
    path: Path, tmp_path: Path
) -> None:
    export_readings(path, 1, tmp_path / "out")
    with (tmp_path / "out" / "agreement.csv").open(encoding="utf-8") as file:
        told = {(r["question"], r["measure"]): r for r in csv.DictReader(file)}
    units = _both(path)
    graded = [[_grades(reader, u)["process"] for u in units] for reader in (0, 1)]
    levels = [1, 2, 3, 4, 5]
    qwk = cohen_kappa_score(*graded, labels=levels, weights="quadratic")
    every = [
        [_grades(reader, u)["process"] for reader in (0, 1)[: 1 + (u in units)]]
        for u in range(20)
    ]
    for measure, expected in (
        ("kappa", qwk),
        ("alpha", alpha_of_all(every)),
        ("ac", ac2_of_all(every)),
    ):
        row = told["process", measure]
        assert float(row["value"]) == pytest.approx(float(expected), abs=1e-9)
        assert (row["readers"], row["n"]) == ("R0; R1", "15")
    assert told["synthesis", "alpha"]["value"] == ""
    assert told["synthesis", "alpha"]["reason"]


def test_that_a_single_reader_agrees_about_nothing(path: Path) -> None:
    recording.withdraw(path, opening.sessions(path)[0].id)
    assert rating_agreement(path, 1) == ()


def test_that_a_plan_is_made_of_what_both_readers_rated(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plans = {one.question: one for one in rating_plans(path, 1, 0.5)}
    ratings = [[_grades(r, unit)["process"] for unit in _both(path)] for r in (0, 1)]
    assert plans["process"].of == variances(ratings)
    words = ["readings", "--session", "1", "--plan", "0.5", "--store", str(path)]
    assert run_command_line(words) == 0
    assert "2 readers, 15 cases" in capsys.readouterr().out
    words[2] = str(opening.open_reader_study(path, "reviewed", GRADING, "R", seed=9))
    assert run_command_line(words) == 1
    assert "Two readers must have rated" in capsys.readouterr().err
