"""The Ask panel: what it asks, and what it says where it cannot."""

from pytestqt.qtbot import QtBot

from viewer.domain.case import View
from viewer.domain.plain import plain
from viewer.services.running.batch_form import ModelState
from viewer.ui.application.choices import restored
from viewer.ui.panels.asking.ask_panel import (
    AskChoice,
    AskPanel,
    AskWanted,
    ModelsTicked,
)

_STATES = (
    ModelState("asymmetry", "compares the sides", "ready", ready=True),
    ModelState("uniform", "draws a cell", "ready", ready=True),
    ModelState("large", "needs more", "needs torch", ready=False),
)


def _panel(qtbot: QtBot) -> AskPanel:
    panel = AskPanel()
    qtbot.addWidget(panel)
    panel.set_findings(("Lung Lesion", "Cardiomegaly"))
    panel.set_models(_STATES, ("asymmetry", "uniform", "large"))
    panel.set_image(View.FRONTAL)
    return panel


def _asked(panel: AskPanel) -> list[AskWanted]:
    asked: list[AskWanted] = []
    panel.ask_wanted.connect(asked.append)
    panel.ask.click()
    return asked


def test_that_the_button_names_how_many_models_it_asks(qtbot: QtBot) -> None:
    panel = _panel(qtbot)
    assert panel.ask.text() == "Ask 2 models"
    expected = AskWanted("Lung Lesion", ("asymmetry", "uniform"), View.FRONTAL)
    assert _asked(panel) == [expected]


def test_that_a_model_that_is_not_ready_cannot_be_ticked(qtbot: QtBot) -> None:
    assert "large" not in _panel(qtbot).ticked


def test_that_an_unknown_view_is_asked_for_and_never_guessed(qtbot: QtBot) -> None:
    panel = _panel(qtbot)
    panel.set_image(View.UNKNOWN)
    assert not panel.ask.isEnabled()
    assert "view" in panel.hint.text()
    assert _asked(panel) == []
    panel.view.setCurrentIndex(panel.view.findText("lateral"))
    assert [asked.view for asked in _asked(panel)] == [View.LATERAL]


def test_that_a_view_said_for_one_image_does_not_stay_for_the_next(
    qtbot: QtBot,
) -> None:
    panel = _panel(qtbot)
    panel.set_image(View.UNKNOWN)
    panel.view.setCurrentIndex(panel.view.findText("lateral"))
    panel.set_image(View.UNKNOWN)
    assert not panel.ask.isEnabled()


def test_that_a_known_view_leaves_nothing_to_say(qtbot: QtBot) -> None:
    panel = _panel(qtbot)
    panel.show()
    assert not panel.view.isVisible()


def test_that_a_finding_of_ones_own_may_be_typed(qtbot: QtBot) -> None:
    panel = _panel(qtbot)
    panel.finding.setEditText("  Rib fracture ")
    assert [asked.finding for asked in _asked(panel)] == ["Rib fracture"]


def test_that_nothing_is_asked_without_image_finding_or_model(qtbot: QtBot) -> None:
    panel = _panel(qtbot)
    panel.set_image(None)
    assert "image" in panel.hint.text()
    panel.set_image(View.FRONTAL)
    panel.finding.setEditText("")
    assert "finding" in panel.hint.text()
    panel.finding.setEditText("Edema")
    panel.set_models(_STATES)
    assert "model" in panel.hint.text()
    assert panel.ask.text() == "Ask"


def test_that_cancel_shows_only_while_a_question_runs(qtbot: QtBot) -> None:
    panel = _panel(qtbot)
    panel.show()
    assert not panel.cancel.isVisible()
    panel.set_running(running=True)
    assert panel.cancel.isVisible()
    assert not panel.ask.isEnabled()
    with qtbot.waitSignal(panel.cancel_wanted):
        panel.cancel.click()
    panel.set_running(running=False)
    assert panel.ask.isEnabled()


def test_that_a_remembered_choice_is_chosen_again(qtbot: QtBot) -> None:
    panel = _panel(qtbot)
    kept = plain(AskChoice("Edema", ("uniform", "large", "gone")))
    panel.set_choice(restored(AskChoice(), kept))
    assert panel.choice == AskChoice("Edema", ("uniform",))


def test_that_remembered_models_that_are_gone_leave_the_default_ticked(
    qtbot: QtBot,
) -> None:
    panel = _panel(qtbot)
    panel.set_choice(AskChoice("", ("gone", "large")))
    assert panel.choice == AskChoice("Lung Lesion", ("asymmetry", "uniform"))


def test_that_a_ticked_model_of_another_machine_is_told_of(qtbot: QtBot) -> None:
    panel = AskPanel()
    qtbot.addWidget(panel)
    told: list[ModelsTicked] = []
    panel.models_ticked.connect(told.append)
    far = ModelState("far", "a server", "ready", ready=True, host="api.example.org")
    panel.set_models((*_STATES, far), ("asymmetry",))
    assert told[-1] == ModelsTicked(())
    panel.set_choice(AskChoice("", ("far", "uniform")))
    assert told[-1] == ModelsTicked(("api.example.org",))


def test_that_asking_without_a_view_goes_to_where_it_is_chosen(qtbot: QtBot) -> None:
    panel = _panel(qtbot)
    panel.show()
    panel.set_image(View.UNKNOWN)
    asked: list[AskWanted] = []
    panel.ask_wanted.connect(asked.append)
    panel.send()
    assert panel.focusWidget() is panel.view
    assert asked == []
    panel.view.setCurrentText("frontal")
    panel.send()
    assert [one.view for one in asked] == [View.FRONTAL]


def test_that_a_long_name_makes_the_panel_no_wider(qtbot: QtBot) -> None:
    panel = _panel(qtbot)
    before, long = panel.minimumSizeHint().width(), "medgemma-27b-it-q8-0" * 4
    panel.set_models((ModelState(long, "sees images", "ready", ready=True),), (long,))
    assert panel.minimumSizeHint().width() <= before
    panel.resize(300, 400)
    panel.show()
    ((_, box),) = panel._models
    assert "…" in box.text()
    assert box.accessibleName() == long
    assert long in box.toolTip()
    assert panel.ticked == (long,)
    panel.resize(1200, 400)
    assert box.text() == long
