"""Words of an item that seem to name somebody wait for a person's decision."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.quiz_study import quiz_dataset, quiz_in_catalog, quiz_spec
from tests.helpers.scripted_server import ScriptedServer
from tests.helpers.tiny_study import everything_is_remote, finish
from viewer.cli import run_command_line
from viewer.domain.answer import Status
from viewer.domain.exchange import ModelProfile
from viewer.domain.privacy import ReviewDecision
from viewer.domain.run import ModelStopped
from viewer.services.privacy.word_review import keep_words, words_of_dataset
from viewer.services.privacy.word_scan import words_sha256
from viewer.services.running.plan_run import plan_run
from viewer.store import cases, consents, runs
from viewer.store.database import Store, open_store

NAMING = "Mr. Smith was seen on March 9, 2019."


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    everything_is_remote(monkeypatch)
    with quiz_in_catalog(), open_store(tmp_path / "s.sqlite") as opened:
        dataset = quiz_dataset(tmp_path / "pictures")
        first, *others = dataset.items
        named = replace(first, facts={**first.facts, "history": NAMING})
        cases.add_dataset(opened, replace(dataset, items=(named, *others)))
        yield opened


@pytest.fixture
def server(store: Store) -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        address = running.base_url.removesuffix("/v1")
        consents.add_consent(store, address, "quizzes", "questions", granted=True)
        yield running


def planned(store: Store, server: ScriptedServer) -> int:
    settings = {"base_url": server.base_url, "model": "tiny-vlm"}
    far = ModelProfile("far", "openai_api", settings)
    return plan_run(store, quiz_spec([far], images=False))


def review(store: Store, capsys: pytest.CaptureFixture[str], *words: str) -> object:
    """Return the rows that the review of the data set's words prints as JSON."""
    capsys.readouterr()
    command = ["review", "quizzes", "--words", *words, "--json"]
    assert run_command_line([*command, "--store", str(store.path)]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.statement("E004-05")
def test_that_a_question_waits_until_a_person_read_its_words(
    store: Store, server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    run = planned(store, server)
    (told,) = [e for e in finish(store, run) if isinstance(e, ModelStopped)]
    assert "its item's text seems to contain a name and a date" in told.sentence
    assert "Smith" not in told.sentence
    assert told.words_of == "quizzes"
    first = cases.dataset_named(store, "quizzes").items[0].key
    (pending,) = runs.trials_in(store, run, [Status.PENDING])
    assert pending.trial.item == first
    assert not any(b"Smith" in one.body for one in server.script.received)
    row = {"item": first, "found": "a name, a date", "words": "Mr. Smith … March 9"}
    assert review(store, capsys) == [{**row, "decision": ""}]
    assert review(store, capsys, "--clean") == [{**row, "decision": "clean"}]
    assert not [e for e in finish(store, run) if isinstance(e, ModelStopped)]
    assert runs.trials_in(store, run, [Status.PENDING]) == ()


@pytest.mark.statement("E004-05")
def test_that_words_a_person_blocked_never_leave(
    store: Store, server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    other = cases.dataset_named(store, "quizzes").items[1]
    review(store, capsys, "--clean")
    review(store, capsys, "--block", "--item", other.key)
    assert consents.reviews(store)[words_sha256(other)].decision.value == "blocked"
    run = planned(store, server)
    told = [e.sentence for e in finish(store, run) if isinstance(e, ModelStopped)]
    assert any("decided that its item's text may not leave" in one for one in told)
    waiting = {one.trial.item for one in runs.trials_in(store, run, [Status.PENDING])}
    assert other.key in waiting


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--words", "--black-found"), "Text cannot be blacked out"),
        (("--words", "--clean", "--item", "nobody"), "has no case 'nobody'"),
        (("--words", "--clean", "--block"), "More than one decision"),
    ],
)
def test_that_a_decision_that_cannot_be_is_told_in_a_sentence(
    store: Store, words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["review", "quizzes", *words, "--store", str(store.path)]
    assert run_command_line(command) == 2
    assert said in capsys.readouterr().err


def test_that_a_decision_is_about_the_words_that_were_read(store: Store) -> None:
    dataset = cases.dataset_named(store, "quizzes")
    (read,) = words_of_dataset(store.path, "quizzes")
    assert read.found == ("a name", "a date")
    assert read.decision is None
    assert "".join(piece for piece, _ in read.pieces) == read.text
    assert [piece for piece, found in read.pieces if found] == ["Mr. Smith", "March 9"]
    keep_words(store.path, (read,), ReviewDecision.BLOCKED)
    (again,) = words_of_dataset(store.path, "quizzes")
    assert again.decision is ReviewDecision.BLOCKED
    first = dataset.items[0]
    other = replace(first, facts={**first.facts, "history": NAMING + " Then home."})
    assert words_sha256(other) not in consents.reviews(store)


def test_that_words_without_names_need_no_decision(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    second = cases.dataset_named(store, "quizzes").items[1].key
    command = ["review", "quizzes", "--words", "--item", second]
    assert run_command_line([*command, "--store", str(store.path)]) == 0
    assert "No text was found" in capsys.readouterr().out
