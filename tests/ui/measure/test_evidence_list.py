"""The evidence of a case on its trial's page: in colour, with sign and name."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QPlainTextEdit
from pytestqt.qtbot import QtBot

from tests.helpers.evidence_cases import cases_dataset
from tests.helpers.tiny_study import a_spec, plan_and_finish
from viewer.domain.evidence import EvidenceCase
from viewer.domain.exchange import ModelProfile
from viewer.domain.styles import contrast, style_of
from viewer.services.inspecting.trial_detail import TrialDetail, trial_detail
from viewer.settings import Settings
from viewer.store import cases, items, trials
from viewer.store.database import open_store
from viewer.ui.panels.measure.evidence_list import KindLabel
from viewer.ui.panels.measure.trial_page import TrialPage
from viewer.ui.widgets import theme

pytestmark = pytest.mark.statement("E004-24")


@pytest.fixture
def told(settings: Settings, tmp_path: Path) -> dict[str, TrialDetail]:
    """Ask for the final diagnosis of a case; its trials by condition."""
    params = {"tasks": ["fdx"], "arms": ["raw", "expert"], "controls": ["no_image"]}
    model = ModelProfile("says-a", "scripted", {"answer": "A"})
    spec = a_spec([model], study="evidence_diagnosis", dataset="cases", params=params)
    with open_store(settings.store) as store:
        cases.add_dataset(store, cases_dataset(tmp_path / "cases", 1))
        run = plan_and_finish(store, spec)
        every = [
            (one.trial.condition.name, one.id)
            for one in trials.scored_trials(store, run)
        ]
    return {name: trial_detail(settings.store, trial) for name, trial in every}


@pytest.fixture
def case(settings: Settings, told: dict[str, TrialDetail]) -> EvidenceCase:
    """Return the case."""
    with open_store(settings.store) as store:
        detail = told["raw"]
        item = items.item_of_run(store, detail.run, detail.trial.item)
    return EvidenceCase.of_item(item)


def colours_of(view: QPlainTextEdit) -> Iterator[tuple[str, QColor]]:
    """Yield the coloured words of a text, with their colours."""
    block = view.document().firstBlock()
    while block.isValid():
        for one in block.layout().formats():
            words = block.text()[one.start : one.start + one.length]
            yield words, one.format.foreground().color()
        block = block.next()


def test_that_each_image_stands_below_its_evidence_and_all_is_listed(
    told: dict[str, TrialDetail], case: EvidenceCase, qtbot: QtBot
) -> None:
    page = TrialPage(told["raw"])
    qtbot.addWidget(page)
    labels = [label.text() for label in page.findChildren(KindLabel)]
    for one in case.evidence:
        sign = style_of(str(one.type)).sign
        count = f"{len(one.images)} image" + "s" * (len(one.images) > 1)
        assert f"{sign} {one.title}: {count}" in labels
    pictured = Counter(label for label in labels if ":" not in label)
    assert pictured == Counter(
        f"{style_of(str(one.type)).sign} {one.title}"
        for one in case.evidence
        for _ in one.images
    )


@pytest.mark.parametrize("palette", [theme.DARK, theme.LIGHT], ids=lambda p: p.name)
def test_that_names_are_read_in_their_colours_in_both_themes(
    told: dict[str, TrialDetail],
    case: EvidenceCase,
    qtbot: QtBot,
    qapp: QApplication,
    palette: theme.Palette,
) -> None:
    page = TrialPage(told["expert"])
    qtbot.addWidget(page)
    page.show()
    theme.apply(qapp, palette)
    QGuiApplication.processEvents()
    (step,) = page.steps
    named = dict(colours_of(step.text))
    for one in case.evidence:
        expected = style_of(str(one.type)).colour_on(palette.ground)
        assert named[one.title] == QColor(expected)
        assert contrast(expected, palette.field) >= 4.5
    for label in page.findChildren(KindLabel):
        colour = label.palette().color(QPalette.ColorRole.WindowText).name()
        assert contrast(colour, palette.panel) >= 4.5
    page.close()


def test_that_nothing_is_listed_where_a_control_hides_the_images(
    told: dict[str, TrialDetail],
) -> None:
    hidden = [one for name, one in told.items() if name not in {"raw", "expert"}]
    assert hidden
    assert {
        one.evidence for one in hidden if one.steps and not one.steps[0].images
    } == {()}
