"""A form of parameters keeps its widgets where its fields stay the same."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from viewer.services.configuring.form_field import FormField
from viewer.ui.widgets.field_editors import OneOf, SomeOf
from viewer.ui.widgets.params_form import ParamsForm

FIELDS = (
    FormField("grid", "int", 8, "rows of the grid", low=2, high=20),
    FormField("ratio", "float", 0.5, "share of the images"),
    FormField("order", "choice", "sorted", "order", choices=("sorted", "shuffled")),
    FormField(
        "findings", "choices", ("Edema",), "findings", choices=("Edema", "Fracture")
    ),
    FormField("limit", "maybe_int", None, "most images", more=True),
    FormField("note", "text", "", "a note", more=True),
    FormField("blind", "bool", default=False, help="without names", more=True),
)
OTHERS: dict[str, object] = {
    "grid": 4,
    "ratio": 0.25,
    "order": "shuffled",
    "findings": ["Fracture", "Pneumonia"],
    "limit": 7,
    "note": "late",
    "blind": True,
}
DEFAULTS = {
    "grid": 8,
    "ratio": 0.5,
    "order": "sorted",
    "findings": ["Edema"],
    "limit": None,
    "note": "",
    "blind": False,
}


@pytest.fixture
def form(qtbot: QtBot) -> ParamsForm:
    made = ParamsForm()
    qtbot.addWidget(made)
    assert made.show_fields(FIELDS)
    made.show()
    return made


def test_that_the_same_fields_keep_their_widgets_and_return_to_their_defaults(
    form: ParamsForm, qtbot: QtBot
) -> None:
    editors = dict(form.editors)
    assert form.set_values(OTHERS) == ()
    assert form.changed() == OTHERS
    with qtbot.assertNotEmitted(form.edited):
        assert not form.show_fields(FIELDS)
    assert form.editors == editors
    assert form.values() == DEFAULTS
    assert form.changed() == {}
    with qtbot.waitSignal(form.edited):
        form.set_values({"grid": 5})


def test_that_other_fields_have_other_widgets(form: ParamsForm) -> None:
    grid = form.editors["grid"]
    assert form.show_fields((replace(FIELDS[0], default=6), *FIELDS[1:]))
    assert form.editors["grid"] is not grid
    assert form.values() == {**DEFAULTS, "grid": 6}
    assert form.show_fields(())
    assert form.values() == {}


def test_that_a_form_explains_every_field_where_it_is_to(qtbot: QtBot) -> None:
    form = ParamsForm(explained=True)
    qtbot.addWidget(form)
    form.show_fields(FIELDS)
    form.more.click()
    form.show()
    labels = {label.text() for label in form.findChildren(QLabel) if label.isVisible()}
    assert {field.sentence for field in FIELDS} <= labels


def test_that_choices_that_are_not_offered_go_and_greyed_ones_return(
    form: ParamsForm,
) -> None:
    findings = form.editors["findings"]
    assert isinstance(findings, SomeOf)
    form.set_values(OTHERS)
    form.show_lacking("findings", {"Edema": "No image has it."})
    assert findings.count() == 3
    form.show_fields(FIELDS)
    words = [findings.item(row).text() for row in range(findings.count())]
    assert words == ["Edema", "Fracture"]
    assert findings.item(0).flags() & Qt.ItemFlag.ItemIsEnabled
    assert findings.item(0).toolTip() == ""


def test_that_a_choice_that_drops_down_shows_every_word_in_full(
    form: ParamsForm, qtbot: QtBot
) -> None:
    long = "in the order in which the images were taken"
    form.show_fields((replace(FIELDS[2], words=("sorted", long)),))
    order = form.editors["order"]
    assert isinstance(order, OneOf)
    qtbot.waitExposed(form)
    order.setFixedWidth(80)
    order.showPopup()
    words = order.fontMetrics().horizontalAdvance(long)
    assert order.view().width() >= words
    order.hidePopup()
