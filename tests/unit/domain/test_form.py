import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.helpers.reading_forms import CHECKING, DIFFERENTIAL, EVERY_FORM, GRADING
from viewer.domain.answer import BoxesAnswer, CellAnswer, MaskAnswer, PointAnswer
from viewer.domain.errors import WrongUseError
from viewer.domain.form import (
    ChecklistQuestion,
    ChoiceQuestion,
    DraftQuestion,
    FlagQuestion,
    Form,
    LikertQuestion,
    Option,
    Part,
    PlaceKind,
    PlaceQuestion,
    Question,
    RankedTextQuestion,
    RevealedChoiceQuestion,
    TextQuestion,
)
from viewer.domain.form_catalog import (
    ERROR_REVIEW,
    READER_TASK,
    UNSURE,
    VERDICT,
)
from viewer.domain.form_json import form_as_json, form_of_json
from viewer.domain.form_values import (
    Absent,
    Canvas,
    Flagged,
    Value,
    check_values,
    problem_with,
    values_as_json,
    values_of_json,
)
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.grid import Cell, Grid
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask

CANVAS = Canvas(ImageGeometry(SizePx(40, 50)), Grid(8, 8), BoxPx(5, 0, 45, 40))
MASK = Mask.of_array(np.eye(40, 50, dtype=bool))
EMPTY = Mask.of_array(np.zeros((40, 50), dtype=bool))
SMALL = Mask.of_array(np.ones((4, 5), dtype=bool))
ANYWHERE = PlaceQuestion("place", "Where?", tuple(PlaceKind), can_be_absent=True)
SCALE = LikertQuestion("sure", "Sure?", ("no", "so so", "yes"))
PAIR = (Option("a", "A"), Option("b", "B"))
RANKS = RankedTextQuestion("ranks", "Which?", 1, 3)


@pytest.mark.parametrize("form", EVERY_FORM, ids=lambda form: form.name)
def test_that_a_form_comes_back_from_its_json_as_it_was(form: Form) -> None:
    text = json.dumps(form_as_json(form))
    assert form_of_json(json.loads(text)) == form


def test_that_the_forms_together_ask_every_type_of_question() -> None:
    asked = {type(q) for form in EVERY_FORM for q in form.questions}
    assert asked == {
        ChecklistQuestion,
        TextQuestion,
        DraftQuestion,
        ChoiceQuestion,
        LikertQuestion,
        RankedTextQuestion,
        PlaceQuestion,
        RevealedChoiceQuestion,
        FlagQuestion,
    }


@pytest.mark.statement("E000-26")
def test_that_error_review_hides_model_and_reference_and_has_keys_1_to_4() -> None:
    (question,) = ERROR_REVIEW.questions
    assert isinstance(question, ChoiceQuestion)
    assert [option.key for option in question.options] == ["1", "2", "3", "4"]
    assert ERROR_REVIEW.shown == {Part.ANSWER}
    assert Part.MODEL not in ERROR_REVIEW.shown | ERROR_REVIEW.revealed
    assert Part.REFERENCE in ERROR_REVIEW.revealed
    assert ERROR_REVIEW.unsure == {(VERDICT, UNSURE)}


def test_that_a_reader_sees_nothing_of_model_and_reference() -> None:
    assert READER_TASK.shown | READER_TASK.revealed == frozenset()
    assert READER_TASK.with_feedback().revealed == {Part.REFERENCE}


def test_that_a_case_asks_only_some_questions_of_its_form() -> None:
    assert [q.id for q in CHECKING.narrowed(("why",)).questions] == ["why"]
    assert CHECKING.narrowed(()) is CHECKING


def test_that_a_form_of_its_first_stages_asks_nothing_of_the_others() -> None:
    form = Form(
        "f",
        "1",
        "F",
        (
            TextQuestion("a", "A"),
            RevealedChoiceQuestion("b", "B"),
            TextQuestion("c", "C"),
            RevealedChoiceQuestion("d", "D"),
        ),
    )
    asked = [[q.id for q in form.first_stages(n).questions] for n in (1, 2, 3, 4)]
    assert asked == [["a"], ["a", "b", "c"], [*"abcd"], [*"abcd"]]


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("wrong", None, ""),
        ("wrong", (), ""),
        ("wrong", ("a", "c"), ""),
        ("wrong", ("a", "a"), "Tick any of a, b, c, each once."),
        ("wrong", ("d",), "Tick any of a, b, c, each once."),
        ("wrong", "a", "Tick any of a, b, c, each once."),
        ("why", None, "Answer this question first."),
        ("why", "  ", "Write a line."),
        ("why", 3, "Write a line."),
        ("why", "too dark", ""),
    ],
)
def test_that_ticks_and_lines_of_text_are_checked(
    name: str, value: Value | None, problem: str
) -> None:
    question = next(q for q in CHECKING.questions if q.id == name)
    assert problem_with(question, value, CANVAS) == problem


def test_that_a_line_that_is_not_required_may_stay_empty() -> None:
    assert problem_with(TextQuestion("note", "Note"), "", CANVAS) == ""
    draft = DraftQuestion("text", "Text", "chosen")
    assert problem_with(draft, None, CANVAS) == ""


def test_that_options_revealed_after_a_lock_begin_a_stage_of_their_own() -> None:
    first, second = DIFFERENTIAL.stages
    assert [q.id for q in first] == ["differential", "differential_confidence"]
    assert [q.id for q in second] == ["choice", "problem"]
    assert len(GRADING.stages) == len(ERROR_REVIEW.stages) == 1


@pytest.mark.parametrize(
    ("question", "value"),
    [
        (ChoiceQuestion("c", "Which?", PAIR), "a"),
        (SCALE, 1),
        (SCALE, 3),
        (RANKS, ("effusion",)),
        (RANKS, ("effusion", "edema", "fibrosis")),
        (FlagQuestion("f", "Wrong?"), Flagged("no side marker")),
        (FlagQuestion("f", "Wrong?"), None),
        (FlagQuestion("f", "Wrong?", comment_required=False), Flagged()),
        (ANYWHERE, CellAnswer(Cell(7, 0))),
        (ANYWHERE, PointAnswer(PointPx(0, 39.9))),
        (ANYWHERE, BoxesAnswer((BoxPx(0, 0, 50, 40), BoxPx(1, 1, 2, 2)))),
        (ANYWHERE, MaskAnswer(MASK)),
        (ANYWHERE, Absent()),
        (replace(ANYWHERE, required=False), None),
    ],
)
def test_that_an_answer_to_its_question_is_taken(
    question: Question, value: Value | None
) -> None:
    assert problem_with(question, value, CANVAS) == ""


@pytest.mark.parametrize(
    ("question", "value", "sentence"),
    [
        (ChoiceQuestion("c", "Which?", PAIR), "z", "Choose among a, b."),
        (ChoiceQuestion("c", "Which?", PAIR), None, "Answer this question first."),
        (SCALE, 0, "Choose a level from 1 to 3."),
        (SCALE, 4, "Choose a level from 1 to 3."),
        (SCALE, True, "Choose a level from 1 to 3."),
        (SCALE, "2", "Choose a level from 1 to 3."),
        (RANKS, (), "Write 1 to 3 lines."),
        (RANKS, ("a", "b", "c", "d"), "Write 1 to 3 lines."),
        (RANKS, ("a", " "), "Fill the empty line, or remove it."),
        (RANKS, ("Edema", "edema "), "The same line appears at two ranks; keep one."),
        (RANKS, "edema", "Write one line for each rank."),
        (RANKS, None, "Answer this question first."),
        (
            FlagQuestion("f", "Wrong?"),
            Flagged(" "),
            "Say in the comment what the flag is for.",
        ),
        (FlagQuestion("f", "Wrong?"), "yes", "Set the flag to true or false."),
        (ANYWHERE, CellAnswer(Cell(8, 0)), "Click a cell of the grid."),
        (ANYWHERE, PointAnswer(PointPx(50, 1)), "Click on the image."),
        (ANYWHERE, BoxesAnswer(()), "Draw at least one box."),
        (
            ANYWHERE,
            BoxesAnswer((BoxPx(3, 3, 3, 9),)),
            "Draw every box inside the image, with some width and height.",
        ),
        (
            ANYWHERE,
            MaskAnswer(SMALL),
            "The mask is not the size of the image; draw it again.",
        ),
        (ANYWHERE, MaskAnswer(EMPTY), "Draw at least one pixel."),
        (ANYWHERE, "D4", "Mark the place as cell or point or boxes or mask."),
        (
            PlaceQuestion("p", "Where?", (PlaceKind.POINT,)),
            CellAnswer(Cell(0, 0)),
            "Mark the place as point.",
        ),
        (
            PlaceQuestion("p", "Where?", (PlaceKind.POINT,)),
            Absent(),
            "Mark the place where it is.",
        ),
    ],
)
def test_that_what_answers_no_question_is_told_in_a_sentence(
    question: Question, value: Value | None, sentence: str
) -> None:
    assert problem_with(question, value, CANVAS) == sentence


def test_that_a_case_brings_the_options_of_its_choice() -> None:
    question = DIFFERENTIAL.stages[1][0]
    assert problem_with(question, "b", CANVAS, PAIR) == ""
    assert problem_with(question, "c", CANVAS, PAIR) == "Choose among a, b."


def test_that_values_are_checked_question_by_question() -> None:
    questions = (RANKS, SCALE)
    check_values(questions, {"ranks": ("edema",), "sure": 2}, CANVAS)
    with pytest.raises(WrongUseError, match="'Sure\\?' is not answered"):
        check_values(questions, {"ranks": ("edema",)}, CANVAS)
    with pytest.raises(WrongUseError, match="'other' is not one of the questions"):
        check_values(questions, {"ranks": ("a",), "sure": 1, "other": 1}, CANVAS)


def test_that_values_of_every_type_come_back_from_json_as_they_were() -> None:
    values: dict[str, Value] = {
        "choice": "a",
        "level": 3,
        "ranks": ("edema", "Œdème"),
        "flag": Flagged("why"),
        "absent": Absent(),
        "cell": CellAnswer(Cell(3, 4)),
        "point": PointAnswer(PointPx(1.5, 2.25)),
        "boxes": BoxesAnswer((BoxPx(0, 1, 2, 3),)),
        "mask": MaskAnswer(MASK),
    }
    assert values_of_json(values_as_json(values)) == values


@pytest.mark.parametrize(
    "change",
    [
        {"questions": []},
        {"questions": [{"type": "essay", "id": "e", "text": "Write."}]},
        {"questions": [{"type": "likert", "id": "l", "text": "?", "anchors": ["x"]}]},
        {"shown": ["everything"]},
        {"questions": ["which?"]},
        {"questions": 5},
        {"questions": [{"type": "choice", "id": "c", "text": "?", "options": "ab"}]},
        {"questions": form_as_json(GRADING)["questions"], "name": None, "title": 1},
    ],
)
def test_that_a_table_that_is_no_form_is_told_in_a_sentence(
    change: dict[str, object],
) -> None:
    table = form_as_json(GRADING) | change
    if change.get("name", "") is None:
        del table["name"]
    with pytest.raises(WrongUseError, match="form"):
        form_of_json(table)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: LikertQuestion("l", "?", ("one",)), "fewer than two levels"),
        (lambda: RankedTextQuestion("r", "?", 3, 2), "an impossible number"),
        (lambda: RankedTextQuestion("r", "?", 0, 0), "an impossible number"),
        (lambda: PlaceQuestion("p", "?", ()), "each kind once"),
        (
            lambda: PlaceQuestion("p", "?", (PlaceKind.CELL, PlaceKind.CELL)),
            "each kind once",
        ),
        (lambda: ChoiceQuestion("c", "?", PAIR[:1]), "at least two options"),
        (lambda: RevealedChoiceQuestion("c", "?", PAIR * 2), "at least two options"),
        (lambda: replace(GRADING, questions=()), "asks nothing"),
    ],
)
def test_that_a_question_that_cannot_be_answered_is_none(
    make: Callable[[], object], sentence: str
) -> None:
    with pytest.raises(WrongUseError, match=sentence):
        make()


def test_that_a_scale_names_every_level_with_its_anchor() -> None:
    assert SCALE.levels == ((1, "no"), (2, "so so"), (3, "yes"))
    assert replace(SCALE, lowest=0).levels[0] == (0, "no")


def test_that_a_place_that_says_why_there_is_none_is_no_value() -> None:
    with pytest.raises(TypeError):
        values_of_json('{"place": {"place": {"reason": "", "status": "unparsed"}}}')


def test_that_a_form_asks_no_two_questions_of_one_name() -> None:
    with pytest.raises(WrongUseError, match="two questions of the same name"):
        replace(GRADING, questions=(SCALE, SCALE))
