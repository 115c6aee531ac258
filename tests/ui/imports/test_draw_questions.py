"""Questions drawn on a page of their own, from what a data set has."""

from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTableWidget
from pytestqt.qtbot import QtBot

from tests.helpers.phantom_folders import write_phantom
from tests.helpers.tiny_study import write_images
from viewer.domain.errors import CancelledError, WrongUseError
from viewer.domain.geometry import SizePx
from viewer.services.configuring.form_field import FormField
from viewer.services.importing import draw_questions as module
from viewer.services.importing.draw_questions import (
    draw_questions,
    drawables,
    drawing,
    drawing_fields,
    source_dataset,
)
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.running.batch_form import dataset_names
from viewer.services.synthetic.make_chests import make_chests
from viewer.settings import Settings
from viewer.store import cases
from viewer.store.database import open_store
from viewer.store.drawing import DrawingMaterial
from viewer.ui.dialogs.draw_questions import WAIT_MS, DrawQuestions
from viewer.ui.dialogs.import_reading import FilesRead

_SIZE = SizePx(120, 96)


@pytest.fixture
def chests(settings: Settings, tmp_path: Path) -> Path:
    """Register chests with masks and boxes, and two data sets without some of them."""
    write_phantom(make_chests, tmp_path / "chests", 4, 0, _SIZE)
    with open_store(settings.store) as store:
        import_dataset(store, "vindr", tmp_path / "chests", "chests")
        import_dataset(store, "folder", write_images(tmp_path / "plain", 1), "plain")
    return settings.store


@pytest.fixture
def page(qtbot: QtBot, settings: Settings, chests: Path) -> DrawQuestions:
    assert chests == settings.store
    page = DrawQuestions(settings)
    page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(page)
    page.show()
    return page


def _cells(table: QTableWidget) -> list[tuple[str, str]]:
    found = []
    for row in range(table.rowCount()):
        first, second = table.item(row, 0), table.item(row, 1)
        found.append((first.text() if first else "", second.text() if second else ""))
    return found


def test_that_what_would_be_drawn_is_shown_before_it_is_registered(
    page: DrawQuestions, settings: Settings, qtbot: QtBot
) -> None:
    qtbot.waitUntil(page.foot.go.isEnabled, timeout=20_000)
    assert page.dataset.currentText() == "chests"
    assert page.name.text() == "chests-questions"
    shown = _cells(page.kinds)
    assert [kind.partition(",")[0] for kind, _ in shown] == [
        "Closed",
        "Closed",
        "Open",
        "Open",
    ]
    told = drawing(source_dataset(settings.store, "chests"))
    assert [int(n) for _, n in shown] == [each.questions for each in told.kinds]
    rules = _cells(page.rules)
    assert [words for words, _ in rules] == [
        "IoU over 0.1 (paper)",
        "Share of box from 0.5",
    ]
    assert [n for _, n in rules] == [f"{r.placed} / {r.findings}" for r in told.rules]
    assert [name for name, _ in _cells(page.boxes)] == [b.finding for b in told.boxes]
    assert page.boxes.columnCount() == 5
    page.resize(900, 700)
    last = page.rules.visualRect(page.rules.model().index(1, 0))
    assert last.bottom() < page.rules.viewport().height()
    form = page.form.mapTo(page, page.form.rect().topRight()).x()
    assert form < page.kinds.x()
    total = sum(int(n) for _, n in shown)
    assert page.foot.sentence.text() == f"{total} questions about 4 images of 4"
    assert dataset_names(settings.store) == ("plain", "chests")
    with qtbot.waitSignal(page.drawn) as drawn:
        page.foot.go.click()
    assert drawn.args == ["chests-questions"]
    assert dataset_names(settings.store)[0] == "chests-questions"
    with open_store(settings.store) as store:
        kept = cases.dataset_named(store, "chests-questions")
    assert kept.items == told.dataset.items
    assert not page.isVisible()


def test_that_a_seed_set_before_the_settings_are_there_is_used_with_them(
    page: DrawQuestions,
    settings: Settings,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found, go_on = drawing_fields, Event()

    def waits(*wanted: Any) -> tuple[FormField, ...]:  # noqa: ANN401 - passed on
        go_on.wait()
        return found(*wanted)

    monkeypatch.setattr(module, "drawing_fields", waits)
    qtbot.waitUntil(lambda: page.name.text() == "chests-questions")
    page.seed.setValue(7)
    qtbot.wait(2 * WAIT_MS)
    go_on.set()
    qtbot.waitUntil(page.foot.go.isEnabled)
    page.foot.go.click()
    qtbot.waitUntil(lambda: dataset_names(settings.store)[0] == "chests-questions")
    told = drawing(source_dataset(settings.store, "chests"), seed=7)
    with open_store(settings.store) as store:
        kept = cases.dataset_named(store, "chests-questions")
    assert kept.items == told.dataset.items


@pytest.mark.statement("E002-08")
def test_that_questions_are_drawn_about_several_data_sets_together(
    settings: Settings, chests: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    write_phantom(make_chests, tmp_path / "more", 3, 5, _SIZE)
    with open_store(chests) as store:
        import_dataset(store, "vindr", tmp_path / "more", "more")
    page = DrawQuestions(settings)
    page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(page)
    page.show()
    qtbot.waitUntil(page.foot.go.isEnabled, timeout=20_000)
    assert page.dataset.currentText() == "more"
    assert [page.others.item(i).text() for i in range(page.others.count())] == [
        "chests"
    ]
    page.others.item(0).setCheckState(Qt.CheckState.Checked)
    assert not page.foot.go.isEnabled()
    qtbot.waitUntil(page.foot.go.isEnabled, timeout=20_000)
    told = [drawing(source_dataset(chests, name)) for name in ("more", "chests")]
    n = sum(len(one.dataset.items) for one in told)
    assert page.foot.sentence.text() == (
        f"{n} questions. more: {told[0].sentence}; chests: {told[1].sentence}"
    )
    assert sum(int(count) for _, count in _cells(page.kinds)) == n
    assert [words for words, _ in _cells(page.rules)] == [
        f"{name}: {rule}"
        for name in ("more", "chests")
        for rule in ("IoU over 0.1 (paper)", "Share of box from 0.5")
    ]
    page.name.setText("both")
    with qtbot.waitSignal(page.drawn):
        page.foot.go.click()
    with open_store(chests) as store:
        kept = cases.dataset_named(store, "both")
        draw_questions(store, ["more", "chests"], "typed")
        typed = cases.dataset_named(store, "typed")
    assert len(kept.items) == n
    assert kept.items == typed.items


def test_that_a_setting_and_the_seed_draw_anew(
    page: DrawQuestions, settings: Settings, qtbot: QtBot
) -> None:
    qtbot.waitUntil(page.foot.go.isEnabled, timeout=20_000)
    before = _cells(page.kinds)
    page.form.editors["most_questions"].set_value(2)
    page.seed.setValue(7)
    assert not page.foot.go.isEnabled()
    assert _cells(page.kinds) == []
    qtbot.waitUntil(page.foot.go.isEnabled, timeout=20_000)
    after = _cells(page.kinds)
    assert sum(int(n) for _, n in after) == 8 < sum(int(n) for _, n in before)
    source = source_dataset(settings.store, "chests")
    told = drawing(source, overrides={"most_questions": 2}, seed=7)
    assert [int(n) for _, n in after] == [each.questions for each in told.kinds]
    page.form.editors["fewest_questions"].set_value(3)
    qtbot.waitUntil(
        lambda: "at least 3 and at most 2" in page.foot.sentence.text(), timeout=20_000
    )
    assert not page.foot.go.isEnabled()


def test_that_a_data_set_without_the_material_says_why_and_another_does(
    page: DrawQuestions, qtbot: QtBot
) -> None:
    qtbot.waitUntil(page.foot.go.isEnabled, timeout=20_000)
    page.dataset.setCurrentIndex(page.dataset.findText("plain"))
    page.dataset.activated.emit(page.dataset.currentIndex())
    words = "'plain' has neither masks of anatomies nor boxes of findings."
    assert page.foot.sentence.text() == words
    assert not page.foot.go.isEnabled()
    assert not page.form.isEnabled()
    page.dataset.setCurrentIndex(page.dataset.findText("chests"))
    page.dataset.activated.emit(page.dataset.currentIndex())
    qtbot.waitUntil(page.foot.go.isEnabled, timeout=20_000)
    page.name.setText("chests")
    page.foot.go.click()
    qtbot.waitUntil(lambda: "keeps its own name" in page.foot.sentence.text())
    assert page.foot.go.isEnabled()
    page.name.setText(" ")
    assert not page.foot.go.isEnabled()


def test_that_it_tells_how_far_it_is_and_can_be_stopped(
    page: DrawQuestions, qtbot: QtBot
) -> None:
    qtbot.waitUntil(page.foot.go.isEnabled, timeout=20_000)
    page._draw()
    assert page.foot.progress.isVisible()
    page._reading.progressed.emit(FilesRead(2, 4))
    assert page.foot.sentence.text() == "Checking 2 of 4 images"
    page.foot.stop.click()
    assert not page.foot.progress.isVisible()
    assert page.foot.sentence.text() == "Stopped; nothing was registered."
    page._reading.progressed.emit(FilesRead(3, 4))
    assert "Stopped" in page.foot.sentence.text()
    page.reject()


def test_that_a_store_without_such_a_data_set_says_what_to_import(
    qtbot: QtBot, settings: Settings
) -> None:
    page = DrawQuestions(settings)
    qtbot.addWidget(page)
    qtbot.waitUntil(lambda: "anatomy.json" in page.foot.sentence.text())
    assert not page.foot.go.isEnabled()
    assert not page.form.isEnabled()


def test_that_the_anatomies_offered_are_those_of_the_data_set(chests: Path) -> None:
    fields = {
        field.name: field for field in drawing_fields(chests, ["chests"], "heal2025")
    }
    anatomies = fields["anatomies"]
    assert "Heart" in anatomies.choices
    assert anatomies.default == anatomies.choices[:8]
    assert [name for name in anatomies.choices if name == "Trachea"] == ["Trachea"]
    with open_store(chests) as store:
        draw_questions(store, ["chests"], "q")
    assert [each.reason for each in drawables(chests)] == [
        "'plain' has neither masks of anatomies nor boxes of findings.",
        "",
        "",
    ]
    assert [each.name for each in drawables(chests)] == ["plain", "chests", "q"]


@pytest.mark.parametrize(
    ("has", "said"),
    [
        (
            DrawingMaterial("d", 0, 3, 0),
            "'d' has boxes of findings, but no masks of anatomies",
        ),
        (
            DrawingMaterial("d", 3, 0, 0),
            "'d' has masks of anatomies, but no boxes of findings",
        ),
    ],
)
def test_that_a_data_set_with_one_of_both_says_which_is_missing(
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
    has: DrawingMaterial,
    said: str,
) -> None:
    monkeypatch.setattr(module, "drawing_material", lambda _: (has,))
    (found,) = drawables(settings.store)
    assert found.reason.startswith(said)


def test_that_masks_without_any_box_and_a_stop_draw_nothing(chests: Path) -> None:
    source = source_dataset(chests, "chests")
    bare = replace(source, images=tuple(replace(i, boxes={}) for i in source.images))
    with pytest.raises(WrongUseError, match="no boxes of findings"):
        drawing(bare)
    stop = Event()
    stop.set()
    with pytest.raises(CancelledError, match="was stopped"):
        drawing(source, stop=stop)
    told: list[tuple[int, int]] = []
    drawing(source, progress=lambda done, every: told.append((done, every)))
    assert told == [(n, 4) for n in range(1, 5)]
