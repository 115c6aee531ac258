import hashlib
import json
from pathlib import Path

import pytest

from tests.helpers.scripted_server import Script, ScriptedServer
from tests.helpers.tiny_study import D4, a_spec, finish, planned, server_profile
from viewer.domain.answer import Status
from viewer.domain.case import ImageRef
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import BoxPx
from viewer.domain.grid import Grid
from viewer.domain.image import Window
from viewer.services.asking.ask import Question, ask
from viewer.services.inspecting.answers import (
    answer_of_trial,
    answers_about,
    sent_images,
    sent_text,
)
from viewer.services.reporting.report_run import report_data
from viewer.store.database import open_store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "s.sqlite"
    with open_store(path) as opened:
        finish(opened, planned(opened, tmp_path / "d", a_spec([D4], repeats=2)))
    return path


def image(tmp_path: Path) -> ImageRef:
    return ImageRef(tmp_path / "d" / "patient00000_frontal.png")


def test_that_an_answer_comes_back_with_all_that_explains_it(
    store: Path, tmp_path: Path
) -> None:
    answer = answer_of_trial(store, 1)
    with open_store(store) as opened:
        row = report_data(opened, 1).results[0]
    assert (answer.trial, answer.run, answer.ref) == (1, 1, image(tmp_path))
    assert (answer.finding, answer.view) == ("Edema", "frontal")
    assert (answer.model, answer.adapter, answer.reply_text) == (
        "says-d4",
        "scripted",
        "D4",
    )
    assert answer.grid == Grid(8, 8)
    assert answer.field == BoxPx(0, 10, 100, 110)
    assert answer.score == row.score
    assert list(answer.reference_cells) == json.loads(row.gold)["cells"]
    assert answer.request_sha256 == row.request_sha256
    assert len(answer.prompt_sha256) == 64
    assert answer.parameters["answer"] == "D4"
    assert answer.parameters["window"] == "of the file"
    assert answer.asked_at.endswith("+00:00")


def test_that_answers_about_an_image_come_newest_first_and_alone(
    store: Path, tmp_path: Path
) -> None:
    with open_store(store) as opened:
        reply = ask(opened, Question(image(tmp_path), "Edema", D4, "16"))
    found = answers_about(store, image(tmp_path))
    assert [answer.run for answer in found] == [reply.run, 1, 1]
    assert found[0].grid == Grid(16, 16)
    assert [answer.parameters["repeat"] for answer in found] == ["0", "1", "0"]
    assert {answer.ref for answer in found} == {image(tmp_path)}
    assert answers_about(store, ImageRef(tmp_path / "d" / "none.png")) == ()


def test_that_a_planned_trial_that_was_not_asked_has_an_empty_answer(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.sqlite"
    with open_store(path) as opened:
        planned(opened, tmp_path / "d", a_spec([D4]))
    answer = answer_of_trial(path, 1)
    assert (answer.score.status, answer.reply_text) == (Status.PENDING, "")
    assert answers_about(path, image(tmp_path)) == ()
    with pytest.raises(WrongUseError, match="Nothing was sent"):
        sent_images(path, answer.request_sha256)


def test_that_an_unknown_trial_is_refused(store: Path) -> None:
    with pytest.raises(WrongUseError, match="no trial 99"):
        answer_of_trial(store, 99)


def test_that_the_bytes_sent_hash_to_what_the_request_names(store: Path) -> None:
    answer = answer_of_trial(store, 1)
    (png,) = sent_images(store, answer.request_sha256)
    assert png.startswith(b"\x89PNG")
    with open_store(store) as opened:
        blobs = opened.rows("SELECT sha256 FROM blob")
    assert hashlib.sha256(png).hexdigest() in {row[0] for row in blobs}
    (system, user) = sent_text(store, answer.request_sha256)
    assert (system[0], user[0]) == ("system", "user")
    assert "Edema" in user[1]


def test_that_a_failed_question_is_among_the_answers_and_an_odd_body_is_shown(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.sqlite"
    with (
        ScriptedServer(Script(default="not-json")) as server,
        open_store(path) as opened,
    ):
        spec = a_spec([server_profile(server.base_url)])
        finish(opened, planned(opened, tmp_path / "d", spec, n=1))
    (answer,) = answers_about(path, image(tmp_path))
    assert answer.score.status is Status.PROVIDER_ERROR
    assert answer.adapter == "openai_api"


def test_that_the_window_asked_about_is_told(store: Path, tmp_path: Path) -> None:
    window = Window(100.0, 50.5)
    with open_store(store) as opened:
        ask(opened, Question(image(tmp_path), "Edema", D4, window=window))
    newest, *older = answers_about(store, image(tmp_path))
    assert newest.parameters["window"] == "100 / 50.5"
    assert newest.parameters["condition"] == "grid=8 window=100/50.5"
    assert newest.grid == Grid(8, 8)
    (windowed,) = sent_images(store, newest.request_sha256)
    assert windowed not in sent_images(store, older[0].request_sha256)


@pytest.mark.parametrize(
    ("reply", "convention", "advice"),
    [
        ('{"box_2d": [100, 200, 300, 400]}', {}, "set Coordinates to gemini."),
        ("D4", {"convention": "gemini"}, "set Coordinates to grid."),
        ("I do not know.", {}, ""),
    ],
)
def test_that_a_reply_in_another_convention_names_it(
    reply: str, convention: dict[str, object], advice: str, tmp_path: Path
) -> None:
    path = tmp_path / "s.sqlite"
    model = ModelProfile("m", "scripted", {"answer": reply, **convention})
    with open_store(path) as opened:
        finish(opened, planned(opened, tmp_path / "d", a_spec([model])))
    answer = answer_of_trial(path, 1)
    assert answer.score.status is Status.UNPARSED
    assert answer.advice.endswith(advice)
    assert bool(answer.advice) == bool(advice)
