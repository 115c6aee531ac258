"""Every draw for readers has one seed, that of the run which a report speaks of."""

import json
from pathlib import Path

import pytest

from tests.helpers.read_answers import answer_of
from tests.helpers.reviewed_run import missed_run
from tests.helpers.task_stores import imported, phantom
from viewer.domain.form_catalog import VERDICT
from viewer.domain.reading import SessionId
from viewer.services.readings import cases, recording
from viewer.services.readings.certificate import certify
from viewer.services.readings.opening import open_error_review, session
from viewer.services.readings.review_offer import MissSample, review_offer
from viewer.services.readings.task_choice import TaskWanted, seed_of
from viewer.services.readings.task_readings import open_task, task_offer
from viewer.store import readings
from viewer.store.database import open_store

SEED = 7
GRADING = TaskWanted("rubric_reading", "grading", "people", run=1)


def with_seed(store: Path, seed: int) -> Path:
    """Let the run of a store have a seed."""
    with open_store(store) as opened, opened.transaction():
        opened.execute("UPDATE run SET spec = json_set(spec, '$.seed', ?)", (seed,))
    return store


def trials(store: Path, number: SessionId) -> list[int | None]:
    with open_store(store) as opened:
        return [task.trial for task in readings.tasks_of(opened, number)]


def test_that_a_review_is_drawn_by_the_seed_of_its_run(tmp_path: Path) -> None:
    missed_run(store := tmp_path / "s.sqlite", 12)
    with_seed(store, SEED)
    sample = MissSample(cap=3)
    offer = review_offer(store, 1, sample)
    assert offer.sentence.endswith("Drawn and mixed by seed 7.")
    drawn = open_error_review(store, 1, "Zoe", cap=3)
    assert session(store, drawn).seed == SEED
    assert open_error_review(store, 1, "Zoe", SEED, cap=3) == drawn
    other = open_error_review(store, 1, "Ann", 0, cap=3)
    assert set(trials(store, drawn)) != set(trials(store, other))
    recording.lock(store, drawn, 0, {VERDICT: "2"})
    path, page = certify(store, drawn, tmp_path / "zoe.json")
    assert json.loads(path.read_text())["seed"] == SEED
    assert "Seed of the draw" in page.read_text()


def test_that_outputs_are_drawn_by_the_seed_of_their_run(tmp_path: Path) -> None:
    folder = phantom(tmp_path / "studies", "rubric_reading", 3)
    store = with_seed(imported(folder, "report-studies"), SEED)
    assert task_offer(store, GRADING).seed == SEED
    drawn = open_task(store, GRADING, "Zoe")
    assert session(store, drawn).seed == SEED


def test_that_cases_of_a_data_set_are_drawn_by_the_seed_of_others_or_of_its_run(
    tmp_path: Path,
) -> None:
    folder = phantom(tmp_path / "cases", "evidence_diagnosis", 4)
    store = imported(folder, "medsyn", run=False)
    wanted = TaskWanted("evidence_diagnosis", "validation", "people")
    assert task_offer(store, wanted).seed == 0
    store.unlink()
    store = with_seed(imported(folder, "medsyn"), SEED)
    assert task_offer(store, wanted).sentence.endswith("by seed 7.")
    first = open_task(store, wanted, "Zoe")
    with_seed(store, SEED + 1)
    second = open_task(store, wanted, "Ann")
    assert {session(store, one).seed for one in (first, second)} == {SEED}
    assert session(store, first).work == session(store, second).work
    with open_store(store) as opened:
        other = TaskWanted("evidence_diagnosis", "differential", "people")
        assert seed_of(opened, other) == SEED + 1
    task = cases.queue(store, first)[0]
    assert answer_of(session(store, first).form, task)


@pytest.mark.parametrize("seed", [0, 3])
def test_that_a_seed_that_is_named_is_used(seed: int, tmp_path: Path) -> None:
    folder = phantom(tmp_path / "cases", "evidence_diagnosis", 3)
    store = imported(folder, "medsyn", run=False)
    wanted = TaskWanted("evidence_diagnosis", "validation", "people", seed=seed)
    assert session(store, open_task(store, wanted, "Zoe")).seed == seed
