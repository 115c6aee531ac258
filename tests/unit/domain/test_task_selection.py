"""Files of tasks that a radiologist selected."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from viewer.domain.errors import UnreadableInputError
from viewer.domain.task_selection import (
    FORMAT,
    TAGS,
    Category,
    Origin,
    SelectedTask,
    Source,
    changed_words,
    selection_as_json,
    selection_of_json,
    task_as_json,
)

WRITTEN = SelectedTask("s1", "t1", "Describe the pleura.", Category.BROAD)
SELECTED = replace(
    WRITTEN,
    id="t2",
    candidate=WRITTEN.task,
    source=Source.FINDINGS,
    rescored=17,
    tags=dict.fromkeys(TAGS, ("None",)),
    temporal=True,
)
EDITED = replace(SELECTED, id="t3", candidate="Describe the left pleura.")
TASKS = (WRITTEN, SELECTED, EDITED)


@pytest.mark.statement("E001-05")
def test_that_a_selection_comes_back_from_its_file() -> None:
    text = selection_as_json(TASKS).decode()
    assert selection_of_json(text, "tasks.json") == TASKS
    origins = [task["origin"] for task in json.loads(text)["tasks"]]
    assert origins == [Origin.WRITTEN, Origin.SELECTED, Origin.EDITED]


@pytest.mark.statement("E001-05")
def test_that_an_edited_task_says_what_was_changed_word_by_word() -> None:
    assert (WRITTEN.diff, SELECTED.diff) == ((), ())
    assert EDITED.diff == ("- left",)
    assert changed_words("one old word", "one new word") == ("- old", "+ new")


def file(*tasks: object, **more: object) -> str:
    return json.dumps({"format": FORMAT, "tasks": list(tasks), **more})


def task(**changes: object) -> dict[str, Any]:
    return {**task_as_json(EDITED), **changes}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("{", "is not JSON"),
        ("[]", "has no format"),
        (file(format="other"), "has no format"),
        (json.dumps({"format": FORMAT, "tasks": {}}), "has no list of tasks"),
        (file(task(), task()), "has the task 't3' of 's1' twice"),
    ],
)
def test_that_a_file_of_another_kind_is_refused(text: str, wrong: str) -> None:
    with pytest.raises(UnreadableInputError, match=r"'tasks\.json'") as raised:
        selection_of_json(text, "tasks.json")
    assert wrong in raised.value.what


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"task": " "}, "without task"),
        ({"id": ""}, "without id"),
        ({"rescored": 3}, "outside 4 to 20"),
        ({"rescored": 21}, "outside 4 to 20"),
        ({"tags": {TAGS[0]: []}}, "without all eight tags"),
        ({"diff": ["- right"]}, "with the changes noted"),
        ({"category": "none"}, "task 2 of 'tasks.json'"),
        ({"task": 3}, "task 2 of 'tasks.json'"),
    ],
)
def test_that_a_task_that_cannot_be_right_is_named(
    changes: Mapping[str, object], wrong: str
) -> None:
    text = file(task_as_json(WRITTEN), task(**changes))
    with pytest.raises(UnreadableInputError) as raised:
        selection_of_json(text, "tasks.json")
    assert wrong in raised.value.what
    assert "2" in raised.value.what
    assert raised.value.how
