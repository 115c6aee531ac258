import json
from pathlib import Path

import pytest

from viewer.domain.answer import Unparsed
from viewer.readers.datasets.catalog import read_dataset
from viewer.studies.pathology_mcq.building import (
    Built,
    description_prompt,
    questions_prompt,
    read_questions,
    table_rows,
)

Entry = dict[str, object]


def entry(**changed: object) -> Entry:
    return {
        "question": "What is seen?",
        "options": ["Necrosis", "Fibrosis (old)", "Mucin", "Fat"],
        "answer": "b",
        "explanations": ["no", "yes, for its bands", "no", "no"],
        **changed,
    }


def reply(*entries: object) -> str:
    return f"Here they are:\n```json\n{json.dumps(list(entries))}\n```"


@pytest.mark.statement("E003-15")
def test_that_the_prompts_hold_the_caption_and_the_description() -> None:
    assert "Caption: Glands {of} the colon\n" in description_prompt(
        "Glands {of} the colon"
    )
    asked = questions_prompt("Crowded glands.")
    assert "Description: Crowded glands.\n" in asked
    assert "three" in asked
    assert '{"question": "..."' in asked


@pytest.mark.statement("E003-15")
def test_that_three_questions_are_read_with_their_explanations() -> None:
    built = read_questions(reply(entry(), entry(answer="A"), entry(answer="D")))
    assert not isinstance(built, Unparsed)
    assert [one.correct for one in built] == [1, 0, 3]
    assert built[0] == Built(
        "What is seen?",
        ("Necrosis", "Fibrosis (old)", "Mucin", "Fat"),
        1,
        ("no", "yes, for its bands", "no", "no"),
    )


@pytest.mark.statement("E003-15")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I cannot.", "no_json_list"),
        ('{"question": "x"}', "no_json_list"),
        (reply(entry()), "not_three_questions"),
        (reply(entry(), entry(), 1), "no_question"),
        (reply(entry(), entry(), entry(question=" ")), "no_question"),
        (
            reply(entry(), entry(), entry(options=["a", "A", "b", "c"])),
            "not_four_options",
        ),
        (reply(entry(), entry(), entry(options="abcd")), "not_four_options"),
        (reply(entry(), entry(), entry(explanations=["no"])), "options_not_explained"),
        (reply(entry(), entry(), entry(answer="E")), "answer_outside_options"),
        (reply(entry(), entry(), entry(answer=None)), "answer_outside_options"),
    ],
)
def test_that_a_reply_of_another_shape_is_no_question(text: str, reason: str) -> None:
    found = read_questions(text)
    assert isinstance(found, Unparsed)
    assert found.reason == reason


@pytest.mark.statement("E003-15")
def test_that_what_was_built_can_be_imported(tmp_path: Path) -> None:
    built = read_questions(reply(entry(), entry(answer="A"), entry(answer="D")))
    assert not isinstance(built, Unparsed)
    rows = list(table_rows("a.png", built, 5))
    (tmp_path / "data.json").write_text(json.dumps({"PubMed": {"train": rows}}))
    items = read_dataset("pathmmu", tmp_path, "built").items
    assert [item.key for item in items] == [
        f"PubMed-train-built-{n}" for n in (5, 6, 7)
    ]
    assert [item.reference["option"] for item in items] == [1, 0, 3]
    assert items[0].reference["explanation"] == "yes, for its bands"
    assert items[0].reference["explanations"] == [
        "no",
        "yes, for its bands",
        "no",
        "no",
    ]
