"""Two models of a study in words compared on the screen."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.helpers.study_samples import item_run
from viewer.services.comparing.runs import condition_words
from viewer.services.worker.background import WorkerReply
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.studies.catalog import study_named
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.panels.comparing.page import ComparePage
from viewer.ui.workspaces.measure import MeasureWorkspace

_PATIENCE_MS = 30_000


def _page(qtbot: QtBot, settings: Settings) -> ComparePage:
    page = ComparePage(AppContext(settings, WorkerBridge(settings.store)))
    qtbot.addWidget(page)
    page.resize(1300, 850)
    page.show()
    page.open([1])
    qtbot.waitUntil(lambda: page.choice.sides is not None, timeout=_PATIENCE_MS)
    qtbot.waitUntil(page.choice.compare.isEnabled, timeout=_PATIENCE_MS)
    return page


def _is_open(workspace: MeasureWorkspace) -> bool:
    return workspace.comparing.shown


def _compared(page: ComparePage, qtbot: QtBot) -> ComparePage:
    page.compare()
    qtbot.waitUntil(lambda: page.statistics is not None, timeout=_PATIENCE_MS)
    return page


@pytest.fixture
def arms(settings: Settings, tmp_path: Path) -> tuple[str, ...]:
    with open_store(settings.store) as store:
        item_run(
            store,
            tmp_path / "tiles",
            "pathology_mcq",
            {"arms": ["image", "text_only"]},
            other="B",
        )
    return ("plain", "text_only")


def test_that_one_condition_at_a_time_is_told_in_the_words_of_the_study(
    arms: tuple[str, ...], settings: Settings, qtbot: QtBot
) -> None:
    page = _page(qtbot, settings)
    qtbot.waitUntil(page.choice.declare.isVisible, timeout=_PATIENCE_MS)
    assert "subset" in page.choice.declare.text()
    _compared(page, qtbot)
    offered = [page.condition.itemData(i) for i in range(page.condition.count())]
    assert offered == [*arms]
    assert page.condition.itemText(1) == "text only"
    assert page.finding.itemText(0) == "Every subset"
    assert "(with its image)" in page.summary.text()
    assert "answers" in page.summary.text()
    assert "hit" not in page.summary.text()
    assert "text only" not in page.summary.text()
    assert page.plot.figure is not None
    names = [row.name for row in page.plot.figure.rows]
    assert "mean over subsets" in names
    assert len({*names}) == len(names)
    page.condition.setCurrentIndex(1)
    assert "(text only)" in page.summary.text()
    assert page.group is not None
    assert page.group.condition == "text_only"
    both = page.cells.buttons[True, True]
    assert both.accessibleName() == "Answered right by both"
    for button in page.cells.buttons.values():
        button.setChecked(True)
    film = page.film
    qtbot.waitUntil(
        lambda: {one.pair.condition for one in film.model.items} == {"text_only"},
        timeout=_PATIENCE_MS,
    )
    assert film.title.text().startswith("Every subset: ")
    caption = str(film.model.index(0).data()).splitlines()
    assert len(caption) == 2
    assert {line[0] for line in caption} <= {"✓", "✗"}
    story = str(film.model.index(0).data(Qt.ItemDataRole.ToolTipRole))
    assert "text only" in story
    assert "|" not in story.splitlines()[0]


def test_that_answers_without_a_verdict_say_why_nothing_is_compared(
    settings: Settings, qtbot: QtBot, tmp_path: Path
) -> None:
    with open_store(settings.store) as store:
        item_run(store, tmp_path / "studies", "rubric_reading", other="Nothing.")
    page = _compared(_page(qtbot, settings), qtbot)
    assert page.hint.isVisible()
    assert "Nobody has graded these answers yet." in page.hint.text()
    assert not page.film.isVisible()
    assert not page.plot.isVisible()


def test_that_conditions_that_differ_are_both_named() -> None:
    words = study_named("pathology_mcq").words
    assert condition_words(words, "plain / hue-2") == "with its image / hue, level 2"
    places = study_named("grid_localization").words
    assert condition_words(places, "grid=8 / grid=16") == "8 × 8 grid / 16 × 16 grid"


def test_that_a_new_run_takes_the_place_of_a_comparison(
    arms: tuple[str, ...], settings: Settings, qtbot: QtBot
) -> None:
    del arms
    bridge = WorkerBridge(settings.store)
    workspace = MeasureWorkspace(AppContext(settings, bridge))
    qtbot.addWidget(workspace)
    workspace.show()
    film = workspace.film
    qtbot.waitUntil(lambda: bool(film.model.trials), timeout=_PATIENCE_MS)
    workspace.comparing.open()
    assert _is_open(workspace)
    bridge.message.emit(WorkerReply(7, {"run": 1, "planned": 4}, ""))
    assert not _is_open(workspace)
    assert workspace.runs.wanted == 1
