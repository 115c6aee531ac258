"""Nothing that a reader must not see is anywhere in the window before a lock."""

import json
import shutil
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QStringListModel
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QLabel, QListView
from pytestqt.qtbot import QtBot

from tests.helpers.blind_reading import OTHERS_WORD, BlindReading, blind_reading
from tests.helpers.blind_reading import read_by_another as read_before
from tests.helpers.leak_search import CHANNELS, Leak
from tests.helpers.read_tasks import READ_TASKS
from tests.helpers.reading_monkey import ReadingMonkey
from tests.helpers.reviewed_run import MODELS
from tests.helpers.sealed_sessions import look_through
from tests.helpers.secret_words import SECRET_MODELS, secret_model, secrets_in
from viewer.domain.reference import Mask
from viewer.services.readings.sealing import seal_session
from viewer.settings import Settings
from viewer.store.database import open_store

_STATES = 557
"""10,026 of all tasks."""
_QUICK = (
    *("panel, then a model", "differential", "edited images", "adjudication"),
    "placing",
)
_SEALED = (
    *("panel", "outlines", "validation", "judging", "error review", "placing"),
    *("differential", "validity", "panel, then a model", "placing in both arms"),
)
Reads = Callable[[str], BlindReading]


@pytest.fixture(scope="module")
def store_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return what makes a store of a task, once, in which another reader has read."""

    @cache
    def made(name: str) -> Path:
        task = READ_TASKS[name]
        store = task.material.store(tmp_path_factory.mktemp("leaks") / "task")
        read_before(task, store)
        return store

    return made


@pytest.fixture
def reads(
    qtbot: QtBot,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    store_of: Callable[[str], Path],
) -> Iterator[Reads]:
    """Return what lets a reader begin a task in the window."""
    begun: list[BlindReading] = []

    def begin(name: str) -> BlindReading:
        shutil.copy(store_of(name), settings.store)
        begun.append(blind_reading(qtbot, settings, READ_TASKS[name], monkeypatch))
        return begun[-1]

    yield begin
    for one in begun:
        one.end()


def searched(reading: BlindReading, states: int, seed: int) -> Counter[Leak]:
    """Search after each of a monkey's actions; return what was found how often."""
    monkey, found = ReadingMonkey(reading, seed), Counter(reading.search())
    while reading.states < states:
        monkey.act()
        found.update(reading.search())
    return found


@pytest.mark.parametrize("name", _QUICK)
def test_that_nothing_leaks_in_a_dozen_states(name: str, reads: Reads) -> None:
    assert searched(reads(name), 12, seed=1) == Counter()


@pytest.mark.proof
@pytest.mark.parametrize("name", READ_TASKS)
def test_that_nothing_leaks_in_ten_thousand_states(name: str, reads: Reads) -> None:
    reading = reads(name)
    found = searched(reading, _STATES, seed=2)
    print(f"{name}: {reading.states} states, {reading.readers} readers")  # noqa: T201 - a proof
    assert found == Counter()


def _told(reading: BlindReading) -> None:
    label = QLabel(reading.story.page)
    label.setAccessibleDescription(OTHERS_WORD)


def _named(reading: BlindReading) -> None:
    reading.story.window.setWindowTitle(secret_model("knows"))


def _commanded(reading: BlindReading) -> None:
    action = QAction(reading.story.window)
    action.setData((1, secret_model("knows")))


def _listed(reading: BlindReading) -> None:
    view = QListView(reading.story.page)
    view.setModel(QStringListModel([secret_model("knows")], view))


def _copied(_: BlindReading) -> None:
    QApplication.clipboard().setText(secret_model("knows"))


def _logged(reading: BlindReading) -> None:
    (reading.settings.home / "draft.json").write_text(secret_model("knows"))


def _kept(reading: BlindReading) -> None:
    hidden = {"reveal": [lambda: None, (secret_model("knows"),)]}
    vars(reading.story.page)["_ahead"] = hidden


def _enclosed(reading: BlindReading) -> None:
    name = [secret_model("knows")]
    vars(reading.story.page)["_then"] = lambda: name


def _loaded(reading: BlindReading) -> None:
    with open_store(reading.settings.store) as store:
        store.rows("SELECT withheld FROM reading_task")


def _drawn(reading: BlindReading) -> None:
    size = reading.story.task.canvas.size
    mask = Mask.of_array(np.ones((size.rows, size.columns), dtype=bool))
    reading.story.page.image.set_reference(mask)


_PLANTED = {
    "widgets": (_told, _named),
    "commands": (_commanded,),
    "lists": (_listed,),
    "clipboard": (_copied,),
    "files": (_logged,),
    "objects": (_kept, _enclosed),
    "store": (_loaded,),
    "canvas": (_drawn,),
}


def test_that_a_leak_is_found_in_each_channel(reads: Reads) -> None:
    assert _PLANTED.keys() == CHANNELS.keys()
    reading = reads("panel, then a model")
    assert reading.search() == []
    for channel, planted in _PLANTED.items():
        for plant in planted:
            before = Counter(reading.search())
            plant(reading)
            found = Counter(reading.search()) - before
            assert channel in {leak.channel for leak in found}, plant.__name__
    QApplication.clipboard().clear()


@pytest.mark.parametrize("name", _SEALED)
def test_that_a_sealed_file_has_no_model_truth_or_other_answer(
    name: str, tmp_path: Path, store_of: Callable[[str], Path]
) -> None:
    store = tmp_path / "s.sqlite"
    shutil.copy(store_of(name), store)
    session = READ_TASKS[name].open(store, "Sealed")
    path = tmp_path / "sealed.session"
    look_through(store, session)
    seal_session(store, session, path)
    with zipfile.ZipFile(path) as sealed:
        members = {n: sealed.read(n) for n in sealed.namelist()}
    text = json.dumps({n: data.decode("latin-1") for n, data in members.items()})
    with open_store(store) as opened:
        rows = opened.rows(
            "SELECT withheld FROM reading_task WHERE session_id = ?", (session,)
        )
    truth = {word for row in rows for word in secrets_in(row["withheld"])}
    secret = SECRET_MODELS | truth | {OTHERS_WORD}
    assert secrets_in(text) & secret == set()
    assert not any(model in text for model in MODELS)
