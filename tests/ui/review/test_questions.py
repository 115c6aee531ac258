"""Each type of question on the screen, answered by keys."""

from dataclasses import replace

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from tests.helpers.reading_forms import (
    CHECKING,
    CURATION,
    DIFFERENTIAL,
    EVERY_FORM,
    GRADING,
)
from viewer.domain.answer import BoxesAnswer, CellAnswer, MaskAnswer, PointAnswer
from viewer.domain.case import ImageRef
from viewer.domain.form import Form, Option, PlaceKind, PlaceQuestion, TextQuestion
from viewer.domain.form_catalog import (
    ERROR_REVIEW,
    READER_TASK,
)
from viewer.domain.form_values import Canvas, Flagged, Values
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.grid import Cell
from viewer.domain.reading import Task, TaskState
from viewer.domain.reference import Mask
from viewer.ui.panels.review.choice import ChecklistBox, ChoiceBox, LikertBox
from viewer.ui.panels.review.draft import DraftBox
from viewer.ui.panels.review.form import FlagBox, ReviewForm, TextBox
from viewer.ui.panels.review.image import ReviewImage
from viewer.ui.panels.review.place import PlaceBox
from viewer.ui.panels.review.ranking import RankingBox
from viewer.ui.panels.review.side import values_words

ALT = Qt.KeyboardModifier.AltModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def a_task(canvas: Canvas, **known: object) -> Task:
    """Return a case that waits."""
    fields: dict[str, object] = {
        "position": 0,
        "image": ImageRef(__file__),  # type: ignore[arg-type]
        "finding": "Edema",
        "view": "frontal",
        "canvas": canvas,
        "state": TaskState.WAITING,
    }
    return Task(**fields | known)  # type: ignore[arg-type]


def shown(qtbot: QtBot, image: ReviewImage, form: Form, **known: object) -> ReviewForm:
    """Return a form's questions about a case, on the screen."""
    made = ReviewForm(image)
    qtbot.addWidget(made)
    made.show_form(form)
    assert image.canvas is not None
    made.show_task(a_task(image.canvas, **known))
    made.show()
    return made


def type_keys(form: ReviewForm, *keys: Qt.Key) -> None:
    """Press keys where the form gets what nothing else takes."""
    for key in keys:
        widget = _Relay(form)
        QTest.keyClick(widget, key)
        widget.deleteLater()


class _Relay(QPushButton):
    """Hands a key to the form, as the page around it does."""

    def __init__(self, form: ReviewForm) -> None:
        super().__init__()
        self._form = form

    def keyPressEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """Hand it on."""
        self._form.take_key(event)  # type: ignore[arg-type]


def test_that_every_form_that_ships_is_drawn_without_a_screen_of_its_own(
    qtbot: QtBot, image: ReviewImage
) -> None:
    kinds = set()
    for form in EVERY_FORM:
        made = shown(qtbot, image, form)
        assert set(made.boxes) == {question.id for question in form.questions}
        kinds |= {type(box) for box in made.boxes.values()}
    assert kinds == {
        *(ChoiceBox, ChecklistBox, LikertBox, RankingBox),
        *(FlagBox, PlaceBox, TextBox, DraftBox),
    }


def test_that_a_draft_begins_as_the_option_chosen_and_shows_what_was_changed(
    qtbot: QtBot, image: ReviewImage
) -> None:
    form = shown(qtbot, image, CURATION)
    box = form.boxes["text"]
    assert isinstance(box, DraftBox)
    type_keys(form, Qt.Key.Key_1)
    assert box.line.toPlainText() == "Is there one?"
    assert form.values == {"chosen": "1"}
    assert form.comment()
    QTest.keyClicks(box.line, " Where?")
    assert form.values["text"] == "Is there one? Where?"
    assert box.changes.text() == "+ Where?"
    for _ in " Where?":
        QTest.keyClick(box.line, Qt.Key.Key_Backspace)
    assert form.values == {"chosen": "1"}
    QTest.keyClicks(box.line, " Where?")
    type_keys(form, Qt.Key.Key_2)
    assert (box.line.toPlainText(), dict(form.values)) == (
        "Are there two?",
        {"chosen": "2"},
    )
    type_keys(form, Qt.Key.Key_W)
    assert box.line.toPlainText() == ""
    QTest.keyClicks(box.line, "Own words ")
    assert form.values == {"chosen": "W", "text": "Own words"}
    assert box.line.toPlainText() == "Own words "
    assert box.changes.text() == ""


def test_that_a_saved_draft_is_shown_again(qtbot: QtBot, image: ReviewImage) -> None:
    for values, words in (
        ({"chosen": "2"}, "Are there two?"),
        ({"chosen": "2", "text": "Are there three?"}, "Are there three?"),
        ({}, ""),
    ):
        form = shown(qtbot, image, CURATION, values=values)
        box = form.boxes["text"]
        assert isinstance(box, DraftBox)
        assert (box.line.toPlainText(), dict(form.values)) == (words, values)


def test_that_a_checklist_takes_any_number_of_options(
    qtbot: QtBot, image: ReviewImage
) -> None:
    form = shown(qtbot, image, CHECKING)
    type_keys(form, Qt.Key.Key_B)
    type_keys(form, Qt.Key.Key_1)
    assert form.values == {"wrong": ("a", "b")}
    box = form.boxes["wrong"]
    assert isinstance(box, ChecklistBox)
    box.options.buttons["b"].click()
    assert form.values == {"wrong": ("a",)}
    assert [b.isChecked() for b in box.options.buttons.values()] == [True, False, False]


def test_that_a_number_chooses_a_verdict(qtbot: QtBot, image: ReviewImage) -> None:
    form = shown(qtbot, image, ERROR_REVIEW)
    told: list[object] = []
    form.value_changed.connect(told.append)
    for key, value in ((Qt.Key.Key_2, "2"), (Qt.Key.Key_3, "3")):
        type_keys(form, key)
        assert form.values == {"verdict": value}
    assert len(told) == 2
    type_keys(form, Qt.Key.Key_7)
    assert form.values == {"verdict": "3"}


def test_that_a_click_chooses_and_a_second_click_leaves_it(
    qtbot: QtBot, image: ReviewImage
) -> None:
    form = shown(qtbot, image, ERROR_REVIEW)
    box = form.boxes["verdict"]
    assert isinstance(box, ChoiceBox)
    for _ in range(2):
        box.options.buttons["1"].click()
        assert form.values == {"verdict": "1"}
        assert box.options.buttons["1"].isChecked()


def test_that_keys_answer_one_question_after_the_other(
    qtbot: QtBot, image: ReviewImage
) -> None:
    form = shown(qtbot, image, GRADING)
    type_keys(form, Qt.Key.Key_4, Qt.Key.Key_5, Qt.Key.Key_1)
    assert form.values == {"process": 4, "execution": 5, "synthesis": 1}
    type_keys(form, Qt.Key.Key_Up)
    assert form.asked is form.boxes["synthesis"]


def test_that_the_comment_after_a_score_is_on_what_was_scored(
    qtbot: QtBot, image: ReviewImage
) -> None:
    comments = tuple(
        question
        for score in GRADING.questions
        for question in (score, TextQuestion(f"why_{score.id}", "Why?", required=False))
    )
    form = shown(qtbot, image, replace(GRADING, questions=comments))
    lines = {name: box for name, box in form.boxes.items() if isinstance(box, TextBox)}
    type_keys(form, Qt.Key.Key_4)
    assert form.asked is form.boxes["execution"]
    assert form.comment()
    assert [n for n, box in lines.items() if box.line.isVisible()] == ["why_process"]
    type_keys(form, Qt.Key.Key_Down)
    assert form.comment()
    assert lines["why_synthesis"].line.isVisible()
    assert not lines["why_execution"].line.isVisible()


def test_that_ranked_lines_move_up_and_down(qtbot: QtBot, image: ReviewImage) -> None:
    form = shown(qtbot, image, DIFFERENTIAL)
    box = form.boxes["differential"]
    assert isinstance(box, RankingBox)
    QTest.keyClicks(box.lines[0], "edema")
    QTest.keyClicks(box.lines[1], "pneumonia")
    assert form.values["differential"] == ("edema", "pneumonia")
    QTest.keyClick(box.lines[1], Qt.Key.Key_Up, ALT)
    assert form.values["differential"] == ("pneumonia", "edema")
    QTest.keyClick(box.lines[0], Qt.Key.Key_Up, ALT)
    assert form.values["differential"] == ("pneumonia", "edema")
    box.move_line(0, 1)
    assert form.values["differential"] == ("edema", "pneumonia")


def test_that_a_locked_ranking_has_no_empty_line(
    qtbot: QtBot, image: ReviewImage
) -> None:
    form = shown(qtbot, image, DIFFERENTIAL)
    box = form.boxes["differential"]
    assert isinstance(box, RankingBox)
    QTest.keyClicks(box.lines[0], "edema")
    QTest.keyClicks(box.lines[1], "pneumonia")
    assert [line.isVisible() for line in box.lines[:4]] == [True, True, True, False]
    values: Values = {"differential": ("edema", "pneumonia")}
    assert image.canvas is not None
    state = TaskState.STAGE_LOCKED
    form.show_task(a_task(image.canvas, values=values, stage=1, state=state))
    assert [line.isVisible() for line in box.lines[:4]] == [True, True, False, False]


def test_that_options_are_not_there_before_the_lock_and_then_the_cases_own(
    qtbot: QtBot, image: ReviewImage
) -> None:
    form = shown(qtbot, image, DIFFERENTIAL)
    choice = form.boxes["choice"]
    assert isinstance(choice, ChoiceBox)
    assert not choice.isVisible()
    assert choice.options.buttons == {}
    assert image.canvas is not None
    values: Values = {"differential": ("edema",), "differential_confidence": 3}
    options = {"choice": (Option("A", "Edema"), Option("B", "Pneumonia"))}
    form.show_task(
        a_task(
            image.canvas,
            state=TaskState.STAGE_LOCKED,
            stage=1,
            values=values,
            options=options,
        )
    )
    assert choice.isVisible()
    assert not form.boxes["differential"].isEnabled()
    type_keys(form, Qt.Key.Key_B)
    assert form.values == {**values, "choice": "B"}


def test_that_what_is_locked_can_be_read_and_not_changed(
    qtbot: QtBot, image: ReviewImage
) -> None:
    values: Values = {"verdict": "2"}
    form = shown(
        qtbot, image, ERROR_REVIEW, state=TaskState.LOCKED, stage=1, values=values
    )
    type_keys(form, Qt.Key.Key_3)
    assert form.values == values
    assert not form.boxes["verdict"].isEnabled()


def test_that_what_is_placed_can_be_removed_until_it_is_locked(
    qtbot: QtBot, image: ReviewImage
) -> None:
    values: Values = {"place": CellAnswer(Cell(1, 2), "reader"), "confidence": 3}
    form = shown(qtbot, image, READER_TASK, values=values)
    box = form.boxes["place"]
    assert isinstance(box, PlaceBox)
    assert box.remove.isVisible()
    assert image.canvas is not None
    form.show_task(a_task(image.canvas, state=TaskState.LOCKED, stage=1, values=values))
    assert box.answer_words.text() == "Cell B3"
    assert not box.remove.isVisible()


def test_that_masks_of_other_questions_stay_in_sight_in_colours_of_their_own(
    qtbot: QtBot, image: ReviewImage
) -> None:
    names = ("Heart", "Aorta", "Trachea")
    kinds = (PlaceKind.MASK,)
    asked = [PlaceQuestion(name, name, kinds, required=False) for name in names]
    assert image.canvas is not None
    size = image.canvas.size
    pixels = np.zeros((size.rows, size.columns), bool)
    pixels[2:4, 2:4] = True
    mask = MaskAnswer(Mask.of_array(pixels))
    values: Values = {"Heart": mask, "Aorta": mask}
    form = shown(qtbot, image, Form("o", "1", "O", tuple(asked)), values=values)
    first, second, third = (form.boxes[name] for name in names)
    assert form.asked is first
    for asked_box, others in ((first, 1), (second, 1), (third, 2)):
        form.ask(asked_box)
        assert [one for one, _ in image.beside] == [mask] * others
        assert len({color for _, color in image.beside}) == others
        assert asked_box.heading.styleSheet() == ""
    assert "background" in first.heading.styleSheet()
    third.set_value(mask)
    first.set_value(None)
    assert len(image.beside) == (2 if form.asked is first else 1)
    image.forget()
    assert image.beside == ()


def test_that_a_flag_takes_a_comment(qtbot: QtBot, image: ReviewImage) -> None:
    form = shown(qtbot, image, READER_TASK)
    box = form.boxes["problem"]
    assert isinstance(box, FlagBox)
    assert not box.comment.isVisible()
    box.flag.click()
    QTest.keyClicks(box.comment, "rotated")
    assert form.values["problem"] == Flagged("rotated")
    box.flag.click()
    assert "problem" not in form.values


def test_that_a_place_takes_what_is_drawn_in_the_kind_that_is_chosen(
    qtbot: QtBot, image: ReviewImage
) -> None:
    form = shown(qtbot, image, READER_TASK)
    box = form.boxes["place"]
    assert isinstance(box, PlaceBox)
    assert image.placing == "cell"
    image.placed.emit(CellAnswer(Cell(1, 2), "reader"))
    assert box.answer_words.text() == "Cell B3"
    assert form.asked is form.boxes["confidence"]
    type_keys(form, Qt.Key.Key_Up, Qt.Key.Key_2)
    assert image.placing == "point"
    assert "place" not in form.values
    image.placed.emit(PointAnswer(PointPx(10, 200)))
    assert form.values["place"] == PointAnswer(PointPx(10, 200))
    type_keys(form, Qt.Key.Key_Delete)
    assert "place" not in form.values


def test_that_a_box_becomes_a_mask_and_a_mask_the_box_around_it(
    qtbot: QtBot, image: ReviewImage
) -> None:
    asked = PlaceQuestion("Heart", "Heart", (PlaceKind.MASK, PlaceKind.BOXES))
    form = shown(qtbot, image, Form("o", "1", "O", (asked,)))
    box = form.boxes["Heart"]
    assert isinstance(box, PlaceBox)
    box.kinds[PlaceKind.BOXES].click()
    boxes = (BoxPx(120, 40, 150, 80), BoxPx(200, 60, 210, 90))
    image.placed.emit(BoxesAnswer(boxes))
    box.kinds[PlaceKind.MASK].click()
    mask = box.value
    assert isinstance(mask, MaskAnswer)
    covered = np.zeros((600, 400), bool)
    covered[40:80, 120:150] = covered[60:90, 200:210] = True
    assert (mask.mask.array() == covered).all()
    assert image.placing is PlaceKind.MASK
    box.kinds[PlaceKind.BOXES].click()
    assert box.value == BoxesAnswer((BoxPx(120, 40, 210, 90),))
    assert image.answer == box.value


def test_that_a_click_beside_its_buttons_turns_to_a_question(
    qtbot: QtBot, image: ReviewImage
) -> None:
    form = shown(qtbot, image, READER_TASK)
    form.ask(form.boxes["confidence"])
    QTest.mouseClick(form.boxes["place"].heading, Qt.MouseButton.LeftButton)
    assert form.asked is form.boxes["place"]
    assert image.placing == "cell"


def test_that_another_form_has_nothing_to_place_before_its_first_case(
    qtbot: QtBot, image: ReviewImage
) -> None:
    form = shown(qtbot, image, READER_TASK)
    form.show_form(GRADING)
    form.place()
    form.step(1)
    assert not form.comment()
    assert form.asked is None
    assert form.values == {}


def test_that_a_place_moves_with_shift_and_the_arrows(
    qtbot: QtBot, image: ReviewImage
) -> None:
    form = shown(qtbot, image, READER_TASK)
    relay = _Relay(form)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Up):
        QTest.keyClick(relay, key, SHIFT)
    assert form.values["place"] == CellAnswer(Cell(3, 5), "reader")


def test_that_an_answer_is_said_in_words() -> None:
    assert values_words(ERROR_REVIEW, {"verdict": "3"}) == "Anatomy error"
    assert values_words(READER_TASK, {"confidence": 5}) == "certain"
    assert values_words(READER_TASK, {}) == "nothing"
