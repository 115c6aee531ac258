"""How far several models agree, in words and in the signs of the models."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from viewer.domain.answer import Status
from viewer.domain.case import ImageRef
from viewer.domain.geometry import BoxPx
from viewer.domain.grid import Grid
from viewer.domain.result import Outcome, Score
from viewer.services.inspecting.answers import StoredAnswer
from viewer.ui.panels.asking.agreement import Agreement, agreement_words, same_places
from viewer.ui.panels.asking.answers_panel import AnswersPanel, details


def an_answer(
    model: str,
    label: str,
    *,
    finding: str = "Edema",
    trial: int = 1,
    reply: int | None = None,
) -> StoredAnswer:
    hit = label == "D4"
    outcome = Outcome.FULL if hit else Outcome.MISS
    status = Status.SCORED_CORRECT if hit else Status.SCORED_WRONG
    score = Score(status, "", label, None, outcome)
    if not label:
        score = Score(Status.REFUSED, "text")
    return StoredAnswer(
        trial=trial,
        run=1,
        ref=ImageRef(Path("a.png")),
        finding=finding,
        view="frontal",
        model=model,
        adapter="scripted",
        grid=Grid(8, 8),
        field=BoxPx(0, 0, 10, 10),
        score=score,
        reference_cells=("D4",),
        reply_text="",
        note="",
        latency_ms=1,
        cost_microusd=None,
        model_returned="",
        prompt_sha256="a",
        request_sha256="b",
        parameters={},
        asked_at="2026-01-01T00:00:00Z",
        reply=reply,
    )


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (("D4",), ""),
        (("D4", "D4"), "2 of 2 models in D4"),
        (("D4", "E5", "D4"), "2 of 3 models in D4 · 1 elsewhere"),
        (("D4", "E5", "C1"), "3 models in 3 places"),
        (("D4", "D4", ""), "2 of 3 models in D4 · 1 without a cell"),
        (("D4", "E5", ""), "2 models in 2 places · 1 without a cell"),
        (("", ""), "2 models, none with a cell"),
        (("D4", ""), "1 of 2 models in D4 · 1 without a cell"),
    ],
)
def test_that_agreement_is_said_in_a_sentence(
    labels: tuple[str, ...], words: str
) -> None:
    answers = [an_answer(f"m{i}", label) for i, label in enumerate(labels)]
    assert agreement_words(same_places(answers)) == words


@pytest.mark.parametrize(
    ("replies", "words"),
    [
        ((7, 7, 8), "2 models in 2 places · 1 reused reply not counted"),
        ((7, 7, 7), "3 models show one stored reply"),
        ((7, 9, 8), "2 of 3 models in D4 · 1 elsewhere"),
    ],
)
def test_that_a_reply_that_two_models_show_counts_once(
    replies: tuple[int, ...], words: str
) -> None:
    labels = ("D4", "D4", "E5" if len({*replies}) > 1 else "D4")
    answers = [
        an_answer(f"m{i}", label, reply=reply)
        for i, (label, reply) in enumerate(zip(labels, replies, strict=True))
    ]
    assert agreement_words(same_places(answers)) == words


def test_that_only_answers_to_one_question_are_compared_each_model_once() -> None:
    answers = [
        an_answer("a", "D4"),
        an_answer("a", "E5"),
        an_answer("b", "D4", finding="Fracture"),
        an_answer("c", "E5"),
    ]
    places = same_places(answers)
    assert [(p.label, p.models) for p in places] == [("D4", "a"), ("E5", "c")]


def test_that_the_place_most_models_name_stands_first_and_none_last() -> None:
    answers = [
        an_answer(model, label)
        for model, label in (("a", "E5"), ("b", ""), ("c", "D4"), ("d", "D4"))
    ]
    assert [p.label for p in same_places(answers)] == ["D4", "E5", ""]


def test_that_the_panel_compares_what_is_drawn(qtbot: QtBot) -> None:
    panel = AnswersPanel()
    qtbot.addWidget(panel)
    panel.blinding.answers.setChecked(True)
    panel.show()
    answers = [
        an_answer("a", "D4", trial=1),
        an_answer("b", "D4", trial=2),
        an_answer("c", "E5", trial=3),
    ]
    panel.set_answers(answers, frozenset({1, 2, 3}))
    agreement = panel.findChild(Agreement)
    assert isinstance(agreement, Agreement)
    assert agreement.words.text() == "2 of 3 models in D4 · 1 elsewhere"
    assert agreement.isVisible()
    shown = [label.text() for label in agreement.findChildren(QLabel)]
    assert "D4" in shown
    assert "E5" not in shown  # it stands in the list of answers
    panel.set_answers(answers, frozenset({1}))
    assert not agreement.isVisible()


def test_that_a_panel_without_answers_has_no_second_ask_button(qtbot: QtBot) -> None:
    panel = AnswersPanel()
    qtbot.addWidget(panel)
    panel.show()
    panel.set_image(image_open=True)
    buttons = [b.text() for b in panel.findChildren(QPushButton) if b.isVisible()]
    assert not any(text.startswith("Ask") for text in buttons)


def test_that_hashes_stand_last_among_the_details_of_an_answer() -> None:
    lines = details(an_answer("a", "D4")).splitlines()
    hashes = [line for line in lines if "SHA-256" in line]
    assert hashes
    assert lines[-len(hashes) :] == hashes
