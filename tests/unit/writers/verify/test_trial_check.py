"""What is wrong with one trial is told, and what cannot be told is taken."""

from typing import Any

import pytest

from tests.helpers.bundled_run import alarms, record
from viewer.domain.answer import (
    AnyAnswer,
    ChoiceAnswer,
    LabelsAnswer,
    RankedAnswer,
    ReportAnswer,
    Status,
    Unparsed,
    YesNoAnswer,
)

OPTIONS = {"options": ["gout", "flu", "mumps"], "order": [1, 2, 0], "right": 2}
LABELS = {"labels": ["Edema"], "none": "No finding"}
KNOWN = ("Edema", "Nodule")
JUDGED = {"diagnosis": "Gout", "covered_from": 4, "levels": [5, 4, 3, 2, 0]}
RIGHT: dict[str, Any] = {"status": "scored_correct"}
WRONG: dict[str, Any] = {"status": "scored_wrong"}
GOUT = RankedAnswer(("Gout", "flu"))
SCORE_4 = "Score: 4\nRationale: Close."

Case = tuple[str, AnyAnswer | Unparsed, dict[str, Any], dict[str, Any]]

SOUND: tuple[Case, ...] = (
    ("B", ChoiceAnswer(2), OPTIONS, {**RIGHT, "answer": "B. mumps"}),
    ("It is flu.", ChoiceAnswer(1), OPTIONS, {**WRONG, "answer": "A. flu"}),
    ("", ChoiceAnswer(1, "next_sentence"), OPTIONS, {**WRONG, "answer": "A"}),
    ("C", ChoiceAnswer(2), {}, {**RIGHT, "answer": "whatever"}),
    ('{"answer": "b"}', ChoiceAnswer(2), OPTIONS, {**RIGHT, "answer": "B"}),
    ("Z", Unparsed(Status.OUT_OF_RANGE, "out_of_range"), OPTIONS, {}),
    ("Yes", YesNoAnswer(yes=True), {"yes": True}, {**RIGHT, "answer": "Yes"}),
    ("There is one.", YesNoAnswer(yes=True), {"yes": False},
     {**WRONG, "answer": "Yes"}),
    ("Yes", YesNoAnswer(yes=True), {}, {**RIGHT, "answer": "Yes"}),
    ("Edema", LabelsAnswer(("Edema",)), LABELS, {**RIGHT, "answer": "Edema"}),
    ("No finding.", LabelsAnswer(()), LABELS, {**WRONG, "answer": "No finding"}),
    ("A wet lung.", LabelsAnswer(("Edema",)), LABELS, {**RIGHT, "answer": "Edema"}),
    ("Edema", LabelsAnswer(("Edema",)), {}, RIGHT),
    ("1. Gout\n2. flu", GOUT, JUDGED, {**RIGHT, "judge": SCORE_4}),
    ("Gout, flu", GOUT, {}, RIGHT),
    ("A text.", ReportAnswer("A text.", ()), {"by": "readers"},
     {"status": "excluded", "reason": "ungraded"}),
    ("A text.", ReportAnswer("A text.", ()), {}, {"status": "excluded", "reason": "x"}),
    ("No", YesNoAnswer(yes=False), {"yes": False},
     {"status": "excluded", "reason": "not_true_positive", "answer": "No"}),
    ("???", Unparsed(Status.UNPARSED, "no_option"), OPTIONS,
     {"status": "excluded", "reason": "not_true_positive"}),
)  # fmt: skip
COUNTED = {"numbers": [["judge", 4.0], ["first_match", 1.0]], "answer": "Gout; flu"}


@pytest.mark.parametrize(("text", "parsed", "gold", "more"), SOUND)
def test_that_nothing_is_wrong_with_a_sound_trial(
    text: str, parsed: AnyAnswer | Unparsed, gold: dict[str, Any], more: dict[str, Any]
) -> None:
    if "judge" in more:
        more = {**more, **COUNTED}
    assert alarms(record(text, parsed, gold, **more), KNOWN) == []


@pytest.mark.parametrize(
    ("case", "told"),
    [
        (("A", ChoiceAnswer(2), OPTIONS, {**RIGHT, "answer": "B"}),
         "the reply says A, but B"),
        (("Surely mumps.", ChoiceAnswer(1), OPTIONS, {**WRONG, "answer": "A"}),
         "the stored answer is A, which the reply does not name"),
        (("B", ChoiceAnswer(2), OPTIONS, {**RIGHT, "answer": "C"}),
         "the answer is C, but B"),
        (("No", YesNoAnswer(yes=True), {"yes": True}, {**RIGHT, "answer": "Yes"}),
         "the reply says No, but Yes"),
        (("Yes", YesNoAnswer(yes=True), {"yes": True}, {**RIGHT, "answer": "No"}),
         "the answer is No, but Yes"),
        (("Nodule", LabelsAnswer(("Edema",)), LABELS, {**RIGHT, "answer": "Edema"}),
         "the reply says Nodule, but the stored answer is different"),
        (("No finding", LabelsAnswer(("Edema",)), LABELS, {**RIGHT, "answer": "Edema"}),
         "the reply says No finding, but the stored answer is different"),
        (("Edema", LabelsAnswer(("Edema",)), LABELS, {**RIGHT, "answer": "Nodule"}),
         "the answer is Nodule, but Edema"),
        (("Edema", LabelsAnswer(("Edema",)), LABELS,
          {**RIGHT, "answer": "Edema", "numbers": [["tp", 0.0]]}), "tp is 0, but 1"),
        (("flu", GOUT, JUDGED, {**RIGHT, "judge": SCORE_4, **COUNTED}),
         "no reply contains the text of 'Gout'"),
        (("Gout, flu", GOUT, JUDGED, {**RIGHT, "judge": SCORE_4, **COUNTED,
          "answer": "flu"}), "the answer is flu, but Gout; flu"),
        (("Gout, flu", GOUT, JUDGED, {**WRONG, "judge": SCORE_4, **COUNTED}),
         "it is scored_wrong, but scored_correct"),
        (("Gout, flu", GOUT, JUDGED, {**RIGHT, "judge": SCORE_4, **COUNTED,
          "numbers": [["judge", 5.0]]}), "judge is 5, but 4"),
        (("Gout, flu", GOUT, JUDGED, {**RIGHT, "judge": SCORE_4, **COUNTED,
          "numbers": []}), "it has no judge's score"),
        (("Gout, flu", GOUT, JUDGED, {"status": "unparsed", "judge": SCORE_4,
          **COUNTED, "reason": "judge_unparsed", "numbers": []}),
         "the judge's score can be read"),
        (("Gout, flu", GOUT, {**JUDGED, "diagnosis": "Mumps"}, {**RIGHT,
          "judge": SCORE_4, **COUNTED}), "though no entry is the diagnosis"),
        (("Gout, flu", GOUT, JUDGED, {**RIGHT, "judge": SCORE_4, **COUNTED,
          "numbers": [["judge", 4.0], ["first_match", 2.0]]}),
         "first_match is 2, but 1"),
        (("Other words.", ReportAnswer("A text.", ()), {"by": "readers"},
          {"status": "excluded", "reason": "ungraded"}),
         "no reply contains the text of the stored output"),
        (("A text.", ReportAnswer("A text.", pictures=2), {"by": "readers"},
          {"status": "excluded", "reason": "ungraded"}),
         "its reply has 0 pictures, but 2"),
        (("Yes", Unparsed(Status.UNPARSED, "no_answer"), {"yes": True}, {}),
         "the reply says Yes, but the stored answer is empty"),
        (("B", ChoiceAnswer(2), OPTIONS, {**RIGHT, "answer": "B",
          "request_sha256": "0"}), "its request belongs to no step"),
        (("B", ChoiceAnswer(2), OPTIONS, {"status": "splendid", "answer": "B"}),
         "'splendid' is not a status"),
        (("B", ChoiceAnswer(2), OPTIONS, {**RIGHT, "answer": "B", "steps": []}),
         "it has a verdict without a reply"),
    ],
)  # fmt: skip
def test_that_what_does_not_hold_is_told(case: Case, told: str) -> None:
    text, parsed, gold, more = case
    wrong = alarms(record(text, parsed, gold, **more), KNOWN)
    assert any(told in one for one in wrong), wrong


def test_that_a_judge_who_keeps_to_no_form_is_taken_at_its_number() -> None:
    more = {**RIGHT, **COUNTED, "judge": "I would say **4** of 5."}
    assert alarms(record("Gout, flu", GOUT, JUDGED, **more)) == []
    unread = {"status": "unparsed", "reason": "judge_unparsed", "answer": "Gout; flu"}
    kept = record("Gout, flu", GOUT, JUDGED, judge="Well.", **unread)
    assert alarms(kept) == []


def test_that_a_refusal_is_not_held_against_its_words() -> None:
    parsed = Unparsed(Status.REFUSED, "refusal_field")
    kept = record("B", parsed, OPTIONS)
    kept["bodies"] = ['{"note": "", "refusal": "I will not.", "text": "B"}']
    wrong = alarms(kept)
    assert wrong == [
        "trials.jsonl, x, plain, m: the reply of the step answer differs from its hash."
    ]


def test_that_lists_that_nobody_judges_are_left_out() -> None:
    gold = {**JUDGED, "covered_from": None}
    more = {"status": "excluded", "reason": "not_judged", "answer": "Gout; flu"}
    assert alarms(record("Gout, flu", GOUT, gold, **more)) == []
    wrong = alarms(record("Gout, flu", GOUT, gold, **{**more, **RIGHT, "reason": ""}))
    assert any("but excluded not_judged" in one for one in wrong)


def test_that_a_score_beyond_the_rubric_is_told_apart() -> None:
    more: dict[str, Any] = {**COUNTED, "numbers": [["judge", 1.0]], **WRONG}
    judge = "Score: 1\nRationale: Hardly."
    more = {**more, "reason": "off_rubric"}
    assert alarms(record("Gout, flu", GOUT, JUDGED, judge=judge, **more)) == []


def test_that_a_reply_that_could_not_be_read_has_no_verdict() -> None:
    kept = record("B", ChoiceAnswer(2), OPTIONS, **RIGHT)
    kept["trial"]["parsed"] = "{}"
    assert "it is scored_correct, but provider_error" in alarms(kept)[0]
